import { DataSection } from '../mmdb/data-section.ts'
import type { PackedContents } from './contents.ts'
import { DATA_SHIFT } from './format.ts'

/** The data section of a packed file. Offsets are those of the original file. */
export class PackedData extends DataSection {
  readonly #contents: PackedContents
  readonly #isFilled: Uint8Array
  readonly #firstBlock: number

  constructor(contents: PackedContents, base: number, end: number, path?: string) {
    super(contents.data, base, end, path)
    this.from = base
    this.#contents = contents
    this.#isFilled = contents.isFilled
    this.#firstBlock = contents.firstData
  }

  protected override reach(offset: number, length: number): void {
    const first = (offset - this.base) >>> DATA_SHIFT
    const last = (offset + length - 1 - this.base) >>> DATA_SHIFT
    if (first === last && this.#isFilled[this.#firstBlock + first] === 1) return
    this.#fill(offset, length)
  }

  /** A copy of some bytes of the section. */
  slice(offset: number, length: number): Uint8Array {
    this.reach(offset, length)
    return this.bytes.slice(offset - this.from, offset - this.from + length)
  }

  /** @param length may extend beyond the section, and be zero */
  #fill(offset: number, length: number): void {
    const end = Math.min(offset + length, this.end)
    if (end <= offset) return
    const first = (offset - this.base) >>> DATA_SHIFT
    this.#contents.fill(this.#firstBlock + first, this.#firstBlock + ((end - 1 - this.base) >>> DATA_SHIFT))
    const { data } = this.#contents
    this.bytes = data
    this.view = new DataView(data.buffer, data.byteOffset, data.byteLength)
  }
}
