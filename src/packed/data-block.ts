// A block of the data section. Values of the same shape, such as records with the same fields, are rows of a matrix
// that is stored by columns: equal and similar bytes then follow one another, which compresses better. README.md has
// the layout.
import { DataType } from '../mmdb/format.ts'
import { DATA_BLOCK_BYTES } from './format.ts'
import { NumberReader, writeNumber } from './number-stream.ts'

/** A text of up to this size has it in its control byte. */
const MAX_SHORT_TEXT = 28
/** The bits of a control byte that have the size. */
const SIZE_BITS = 0x1f
/** Added to a size that is stored in 1, 2 or 3 extra bytes. */
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
 * Decodes a block.
 *
 * @param length of the part in bytes
 * @throws Error when the stream does not give exactly that many bytes
 */
export function decodeData(stream: Uint8Array, length: number): Uint8Array {
  const reader = new NumberReader(stream)
  const shapes: number[][] = []
  for (let left = reader.count(); left > 0; left--) {
    const widths: number[] = []
    for (let parts = reader.count(); parts > 0; parts--) widths.push(reader.number())
    shapes.push(widths)
  }
  const sequence = new Uint32Array(reader.count())
  const counts = new Uint32Array(shapes.length)
  for (let i = 0; i < sequence.length; i++) {
    const shape = reader.number()
    if (shape >= shapes.length) throw damaged()
    sequence[i] = shape
    counts[shape] = (counts[shape] ?? 0) + 1
  }
  const columns = shapes.map((widths, shape) => new Columns(reader, widths, counts[shape] ?? 0))
  if (!reader.isAtEnd) throw damaged()
  const output = new Uint8Array(length)
  let at = 0
  for (const shape of sequence) at = columns[shape]?.write(output, at) ?? length + 1
  if (at !== length) throw damaged()
  return output
}

/** The rows of one shape. */
class Columns {
  readonly #stream: Uint8Array
  readonly #widths: readonly number[]
  readonly #start: number
  readonly #count: number
  #row = 0
  #textAt: number

  constructor(reader: NumberReader, widths: readonly number[], count: number) {
    this.#stream = reader.stream
    this.#widths = widths
    this.#count = count
    const width = widths.reduce((sum, each) => sum + each, 0)
    if (widths.length === 0 || widths.slice(0, -1).includes(0)) throw damaged()
    this.#start = reader.skip(width * count)
    this.#textAt = reader.at
    let column = 0
    for (const each of widths.slice(0, -1)) {
      column += each
      const sizes = this.#start + (column - 1) * count
      for (let i = sizes; i < sizes + count; i++) reader.skip(sizeOfText(this.#stream[i]))
    }
  }

  /** Writes the next row. @returns where it ends, or more than the output's length when it does not fit */
  write(output: Uint8Array, start: number): number {
    const stream = this.#stream
    let at = start
    let from = this.#start + this.#row++
    for (const [i, width] of this.#widths.entries()) {
      for (const to = at + width; at < to; at++) {
        output[at] = stream[from] ?? 0
        from += this.#count
      }
      if (i === this.#widths.length - 1) break
      const size = sizeOfText(output[at - 1])
      for (let k = 0; k < size; k++) output[at++] = stream[this.#textAt++] ?? 0
    }
    return at
  }
}

function damaged(): Error {
  return new Error('the columns of a data block do not fit together')
}
