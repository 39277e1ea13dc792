import { DataSection, MAX_HEAD_BYTES } from '../mmdb/data-section.ts'
import { DataType } from '../mmdb/format.ts'
import { DataColumns } from './data-block.ts'

/** Finds the block with an offset of the original file. */
export type BlockAt = (offset: number) => DataBlock

/** After this many reads of rows, a block is put together as a whole. */
const MAX_SINGLE_ROWS = 16

/** How many buffers of rows are kept. Reading a record jumps to the rows of its keys and names, and back. */
const KEPT_ROWS = 16

/** The size of a buffer, unless its rows have more. Most rows have fewer than a hundred. */
const USUAL_BYTES = 512

/** A buffer with rows that follow one another. */
interface Rows {
  bytes: Uint8Array
  view: DataView
  /** Where they start and end in the file. */
  from: number
  to: number
}

/**
 * A block of the data section. Few lookups read few rows of a block, so it stays by columns at first. But each byte of a row is then
 * in another place of memory, so for many rows it takes less time to put the whole block together, once.
 */
export class DataBlock {
  content: DataColumns | Rows
  #reads = 0
  /** What it takes in memory at most. */
  readonly byteLength: number

  /** @param start where the block starts in the original file */
  constructor(
    columns: DataColumns,
    readonly start: number,
  ) {
    this.content = columns
    this.byteLength = columns.byteLength
  }

  countRead(): void {
    if (!(this.content instanceof DataColumns) || ++this.#reads <= MAX_SINGLE_ROWS) return
    const bytes = this.content.bytes()
    const { start } = this
    this.content = { bytes, view: new DataView(bytes.buffer), from: start, to: start + bytes.length }
  }
}

/**
 * The data section of a packed file. Puts rows together in buffers from the columns of their block. Offsets are those of
 * the original file.
 */
export class PackedData extends DataSection {
  readonly #blockAt: BlockAt
  readonly #kept: Rows[] = []
  #next = 0
  /** Where the rows in `bytes` end in the file. */
  #to = 0

  constructor(blockAt: BlockAt, base: number, end: number, path?: string) {
    super(new Uint8Array(0), base, end, path)
    this.#blockAt = blockAt
  }

  protected override reach(offset: number, length: number): void {
    const end = offset + length > this.end ? this.end : offset + length
    if (offset < this.from || end > this.#to) this.#use(this.#rows(offset, end))
  }

  /** Most heads end in the row that they start in. The next row can be in a damaged block. */
  protected override reachHead(offset: number): void {
    if (offset >= this.from && offset + MAX_HEAD_BYTES <= this.#to) return
    this.reach(offset, 1)
    if (offset + MAX_HEAD_BYTES > this.#to) this.reach(offset, this.#headBytes(offset))
  }

  /** The least number of bytes that the field at an offset has: its control byte, its size, and its pointer or number. */
  #headBytes(offset: number): number {
    const control = this.bytes[offset - this.from] ?? 0
    const type = control >>> 5
    if (type === DataType.pointer) return 2 + ((control >>> 3) & 3)
    const size = control & 0x1f
    if (type !== 0) return size > 28 ? size - 27 : 1 + size
    this.reach(offset, 2)
    if ((this.bytes[offset + 1 - this.from] ?? 0) === DataType.boolean - 7) return 2
    return size > 28 ? size - 26 : 2 + size
  }

  /** A copy of some bytes of the section. */
  slice(offset: number, length: number): Uint8Array {
    this.reach(offset, length)
    return this.bytes.slice(offset - this.from, offset - this.from + length)
  }

  #use({ bytes, view, from, to }: Rows): void {
    this.bytes = bytes
    this.view = view
    this.from = from
    this.#to = to
  }

  /** The rows that have the bytes from `offset` to `end`. */
  #rows(offset: number, end: number): Rows {
    for (let i = 0; i < this.#kept.length; i++) {
      const rows = this.#kept[i]
      if (rows !== undefined && rows.from <= offset && rows.to >= end) return rows
    }
    const block = this.#blockAt(offset)
    block.countRead()
    if (!(block.content instanceof DataColumns) && block.content.to >= end) return block.content
    const number = this.#next++ % KEPT_ROWS
    let rows = this.#kept[number]
    if (rows === undefined || rows.bytes.length > USUAL_BYTES) {
      const bytes = new Uint8Array(USUAL_BYTES)
      rows = { bytes, view: new DataView(bytes.buffer), from: 0, to: 0 }
      this.#kept[number] = rows
    }
    this.#read(rows, offset, end)
    return rows
  }

  #read(rows: Rows, offset: number, end: number): void {
    // A damaged block throws below: the buffer, which can be the one in use, must then be empty.
    rows.from = 0
    rows.to = 0
    this.#to = 0
    let start = -1
    let to = offset
    while (start < 0 || to < end) {
      const { content, start: blockStart } = this.#blockAt(to)
      const isByColumns = content instanceof DataColumns
      const row = isByColumns ? content.rowAt(to - blockStart) : 0
      const rowStart = isByColumns ? blockStart + content.startOf(row) : to
      to = isByColumns ? blockStart + content.startOf(row + 1) : Math.min(content.to, end)
      if (start < 0) start = rowStart
      makeRoom(rows, to - start)
      if (isByColumns) content.write(row, rows.bytes, rowStart - start)
      else rows.bytes.set(content.bytes.subarray(rowStart - blockStart, to - blockStart), rowStart - start)
    }
    rows.from = start
    rows.to = to
  }
}

function makeRoom(rows: Rows, length: number): void {
  if (length <= rows.bytes.length) return
  const grown = new Uint8Array(2 * length)
  grown.set(rows.bytes)
  rows.bytes = grown
  rows.view = new DataView(grown.buffer)
}
