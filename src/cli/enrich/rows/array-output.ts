import type { Output } from '../output.ts'
import { RowOutput } from './row-output.ts'

/**
 * Makes one JSON array of the objects that a run writes, one a line. Objects keep their bytes. A line that is not an object becomes
 * one, with its text in `raw`.
 */
export class ArrayOutput extends RowOutput {
  /** The member that a raw line lacks, and the end of its object. */
  readonly #tail: Buffer
  #isBegun = false

  /** @param into the name of the member with the location */
  constructor(target: Output, into: string) {
    super(target)
    this.#tail = Buffer.from(`,${JSON.stringify(into)}:null}`)
  }

  protected row(isRaw: boolean): void {
    const { bytes, start, end } = this.members
    this.out.writeAscii(this.#isBegun ? ',\n' : '[\n')
    this.out.write(bytes, start, isRaw ? end - 1 : end)
    if (isRaw) this.out.write(this.#tail)
    this.#isBegun = true
  }

  protected end(): void {
    this.out.writeAscii(this.#isBegun ? '\n]\n' : '[]\n')
  }
}
