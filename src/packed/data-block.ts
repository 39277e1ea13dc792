// A block of the data section. Values of the same shape, such as records with the same fields, are rows of a matrix
// that is stored by columns: equal and similar bytes then follow one another, which compresses better. README.md has
// the layout.
import { DataType } from '../mmdb/format.ts'
import { DATA_BLOCK_BYTES } from './format.ts'
import { NumberReader, writeNumber } from './number-stream.ts'

/** Texts of up to this many bytes have their size in the control byte. */
const MAX_SHORT_TEXT = 28
/** The bits of a control byte that have the size. */
const SIZE_BITS = 0x1f
/** What is added to a size that is stored in 0, 1, 2 or 3 extra bytes. */
const SIZE_BASES = [0, 29, 285, 65_821]

/** A part of the data section that is stored as one block. */
export interface DataPart {
  readonly end: number
  readonly rows: readonly Row[]
}

interface Row {
  readonly start: number
  /** Bytes of its fixed parts. A short text follows each but the last. */
  readonly widths: readonly number[]
  /** Equal for rows whose columns are alike. */
  readonly shape: string
}

/**
 * Finds the end of the next block of a data section, and its rows: the values that are not inside other values. Bytes
 * that are not a value, or one that is larger than a block, are rows of raw bytes.
 */
export function nextPart(section: Uint8Array, start: number): DataPart {
  const rows: Row[] = []
  let at = start
  while (at < section.length && at - start < DATA_BLOCK_BYTES) {
    const value = readRow(section, at)
    if (value === null) {
      const size = Math.min(DATA_BLOCK_BYTES, section.length - at)
      rows.push({ start: at, widths: [size], shape: `raw ${size}` })
      at += size
    } else {
      rows.push(value.row)
      at = value.end
    }
  }
  return { end: at, rows }
}

/** Encodes a part of the data section. */
export function encodeData(section: Uint8Array, { rows }: DataPart): Uint8Array {
  const groups = new Map<string, { readonly number: number; readonly rows: Row[] }>()
  for (const row of rows) {
    const group = groups.get(row.shape)
    if (group === undefined) groups.set(row.shape, { number: groups.size, rows: [row] })
    else group.rows.push(row)
  }
  const bytes: number[] = []
  writeNumber(bytes, groups.size)
  for (const { rows } of groups.values()) {
    const widths = rows[0]?.widths ?? []
    writeNumber(bytes, widths.length)
    for (const width of widths) writeNumber(bytes, width)
  }
  writeNumber(bytes, rows.length)
  for (const { shape } of rows) writeNumber(bytes, groups.get(shape)?.number ?? 0)
  for (const group of groups.values()) writeColumns(bytes, section, group.rows)
  return Uint8Array.from(bytes)
}

function writeColumns(bytes: number[], section: Uint8Array, rows: readonly Row[]): void {
  const fixed: number[][] = []
  const texts: number[] = []
  for (const { start, widths } of rows) {
    const row: number[] = []
    let at = start
    for (const [i, width] of widths.entries()) {
      for (const end = at + width; at < end; at++) row.push(section[at] ?? 0)
      if (i === widths.length - 1) break
      for (const end = at + sizeOfText(row.at(-1)); at < end; at++) texts.push(section[at] ?? 0)
    }
    fixed.push(row)
  }
  const width = fixed[0]?.length ?? 0
  for (let column = 0; column < width; column++) for (const row of fixed) bytes.push(row[column] ?? 0)
  for (const byte of texts) bytes.push(byte)
}

/** @param control the control byte of a short text */
function sizeOfText(control = 0): number {
  return control & SIZE_BITS
}

/** @returns `null` when the bytes are not a value, or one that is larger than a block */
function readRow(section: Uint8Array, start: number): { readonly row: Row; readonly end: number } | null {
  const widths: number[] = []
  let shape = ''
  let fixedStart = start
  let at = start
  for (let pending = 1; pending > 0; pending--) {
    const control = section[at++] ?? 0
    let type = control >>> 5
    if (type === DataType.pointer) {
      const bytes = ((control >>> 3) & 3) + 1
      shape += `p${bytes}`
      at += bytes
    } else {
      if (type === 0) type = 7 + (section[at++] ?? 0)
      let size = control & SIZE_BITS
      if (type === DataType.utf8String && size <= MAX_SHORT_TEXT) {
        widths.push(at - fixedStart)
        shape += 't'
        at += size
        fixedStart = at
      } else {
        if (size > MAX_SHORT_TEXT) {
          const extra = size - MAX_SHORT_TEXT
          size = 0
          for (let i = 0; i < extra; i++) size = size * 256 + (section[at++] ?? 0)
          size += SIZE_BASES[extra] ?? 0
        }
        shape += `${type}.${size},`
        if (type === DataType.map) pending += 2 * size
        else if (type === DataType.array) pending += size
        else if (type !== DataType.boolean) at += size
      }
    }
    if (at > section.length || at - start + pending - 1 > DATA_BLOCK_BYTES) return null
  }
  widths.push(at - fixedStart)
  return { row: { start, widths, shape: `${shape}${widths}` }, end: at }
}

/**
 * A block in memory, still by columns. Only rows that are read are put together, because lookups read few rows
 * of a block.
 */
export class DataColumns {
  readonly #stream: Uint8Array
  readonly #groups: readonly RowGroup[]
  /** By row, the number of its group. */
  readonly #groupOf: Uint32Array
  /** {@link ROW} numbers for each row, and the start of one more. */
  readonly #rows: Uint32Array
  /** What the block takes in memory. */
  readonly byteLength: number

  /**
   * The loops are in functions of their own, because V8 compiles functions with loops first. Together they are so large that
   * compiling them takes longer than what a process with a thousand lookups runs of them.
   *
   * @param length of the part in bytes
   * @throws Error when the stream does not give exactly that many bytes
   */
  constructor(stream: Uint8Array, length: number) {
    const reader = new NumberReader(stream)
    const shapes = readShapes(reader)
    const groupOf = reader.numbers(reader.count())
    const { length: count } = groupOf
    const groups = readGroups(reader, shapes, groupOf)
    if (!reader.isAtEnd) throw damaged()
    const rows = new Uint32Array(ROW * count + 1)
    placeRows(stream, groups, groupOf, rows)
    if (rows[ROW * count] !== length) throw damaged()
    this.#stream = stream
    this.#groups = groups
    this.#groupOf = groupOf
    this.#rows = rows
    this.byteLength = stream.length + 16 * count
  }

  /** The row that holds a byte of the part. */
  rowAt(offset: number): number {
    let low = 0
    for (let high = this.#groupOf.length; high - low > 1; ) {
      const middle = (low + high) >>> 1
      if (this.startOf(middle) <= offset) low = middle
      else high = middle
    }
    return low
  }

  /** Where a row starts in the part; for the number of rows, where the last one ends. */
  startOf(row: number): number {
    return this.#rows[ROW * row] ?? 0
  }

  /** The whole part. */
  bytes(): Uint8Array {
    const rows = this.#groupOf.length
    const bytes = new Uint8Array(this.startOf(rows))
    for (let row = 0; row < rows; row++) this.write(row, bytes, this.startOf(row))
    return bytes
  }

  /** Writes the bytes of a row. */
  write(row: number, output: Uint8Array, start: number): void {
    const stream = this.#stream
    const group = this.#groups[this.#groupOf[row] ?? 0]
    if (group === undefined) return
    const { widths, count } = group
    let from = this.#rows[ROW * row + FIXED] ?? 0
    let textAt = this.#rows[ROW * row + TEXTS] ?? 0
    let at = start
    for (let i = 0; i < widths.length; i++) {
      for (const end = at + (widths[i] ?? 0); at < end; at++) {
        output[at] = stream[from] ?? 0
        from += count
      }
      if (i === widths.length - 1) break
      for (const end = at + sizeOfText(output[at - 1]); at < end; at++) output[at] = stream[textAt++] ?? 0
    }
  }
}

// What is known of a row: where it starts in the part, and where its first fixed byte and its texts are in the stream.
const ROW = 3
const FIXED = 1
const TEXTS = 2

/** The rows of one shape in a stream. */
interface RowGroup {
  readonly widths: Uint32Array
  /** Bytes of the fixed parts of a row. */
  readonly width: number
  /** Where the columns with the sizes of texts start in the stream. */
  readonly sizeColumns: readonly number[]
  readonly count: number
  /** Where its columns and its texts start in the stream. */
  readonly start: number
  readonly texts: number
}

function readShapes(reader: NumberReader): Uint32Array[] {
  const shapes: Uint32Array[] = []
  for (let left = reader.count(); left > 0; left--) {
    const widths = reader.numbers(reader.count())
    // A text follows each part but the last, and its size is in the part.
    const isDamaged = widths.length === 0 || widths.subarray(0, -1).includes(0)
    if (isDamaged) throw damaged()
    shapes.push(widths)
  }
  return shapes
}

function readGroups(reader: NumberReader, shapes: readonly Uint32Array[], groupOf: Uint32Array): RowGroup[] {
  const counts = new Uint32Array(shapes.length)
  countRows(groupOf, counts)
  return shapes.map((widths, i) => readGroup(reader, widths, counts[i] ?? 0))
}

function countRows(groupOf: Uint32Array, counts: Uint32Array): void {
  for (let row = 0; row < groupOf.length; row++) {
    const group = groupOf[row] ?? 0
    if (group >= counts.length) throw damaged()
    counts[group] = (counts[group] ?? 0) + 1
  }
}

function readGroup(reader: NumberReader, widths: Uint32Array, count: number): RowGroup {
  const sizeColumns: number[] = []
  let width = widths[0] ?? 0
  for (let i = 1; i < widths.length; i++) {
    sizeColumns.push(reader.at + (width - 1) * count)
    width += widths[i] ?? 0
  }
  const start = reader.skip(width * count)
  const texts = reader.at
  for (const column of sizeColumns) reader.skip(sumOfSizes(reader.stream, column, column + count))
  return { widths, width, sizeColumns, count, start, texts }
}

function sumOfSizes(stream: Uint8Array, start: number, end: number): number {
  let sum = 0
  for (let at = start; at < end; at++) sum += sizeOfText(stream[at])
  return sum
}

/** Finds where each row and its bytes are. */
function placeRows(
  stream: Uint8Array,
  groups: readonly RowGroup[],
  groupOf: Uint32Array,
  rows: Uint32Array,
): void {
  const places = new Uint32Array(groups.length)
  const textAt = Uint32Array.from(groups, ({ texts }) => texts)
  for (let row = 0; row < groupOf.length; row++) {
    const number = groupOf[row] ?? 0
    const group = groups[number]
    if (group === undefined) throw damaged()
    const place = places[number] ?? 0
    const text = textAt[number] ?? 0
    const size = sizeOfTexts(stream, group.sizeColumns, place)
    places[number] = place + 1
    textAt[number] = text + size
    rows[ROW * row + FIXED] = group.start + place
    rows[ROW * row + TEXTS] = text
    rows[ROW * row + ROW] = (rows[ROW * row] ?? 0) + group.width + size
  }
}

function sizeOfTexts(stream: Uint8Array, sizeColumns: readonly number[], place: number): number {
  let size = 0
  for (let i = 0; i < sizeColumns.length; i++) size += sizeOfText(stream[(sizeColumns[i] ?? 0) + place])
  return size
}

function damaged(): Error {
  return new Error('the columns of a data block do not fit together')
}
