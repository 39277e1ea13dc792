// Values of Parquet columns as JSON and as CSV.
import { isUtf8 } from 'node:buffer'
import type { SchemaElement, SchemaTree } from 'hyparquet'
import { DEFAULT_PARSERS, parseDecimal, parseFloat16 } from 'hyparquet/src/convert.js'
import { ByteSink } from '../../../bytes/byte-sink.ts'
import { QUOTE } from '../../../enrich/ascii.ts'
import type { ColumnTexts } from '../../../enrich/column-stream.ts'
import { JsonText, jsonRoom } from '../../../enrich/writing/json-text.ts'
import { CellText, cellRoom, type TableForm, valueText } from '../../../enrich/writing/separated-values.ts'
import { ParquetFault } from './footer.ts'
import type { ColumnReader, Page } from './pages.ts'

const NANOS_PER_SECOND = 1_000_000_000n
const MS_PER_DAY = 86_400_000
/** The Julian day that began on 1 January 1970. */
const JULIAN_1970 = 2_440_588n
/** The instants that a `Date` holds. Milliseconds. */
const MAX_DATE_MS = 8.64e15
/** The most values that become cells at once. */
const MOST_CELLS = 1024

/** Types whose values JSON, or hyparquet, would round or lose. */
const LOSSY = ['DECIMAL', 'BSON', 'INTERVAL', 'VARIANT', 'GEOMETRY', 'GEOGRAPHY']

/** What JSON would lose of a column: `the column "price" is DECIMAL`; `null` if nothing. */
export function lossIn({ element, children, path }: SchemaTree): string | null {
  const found = lossOf(element)
  if (found !== undefined)
    return `the column ${JSON.stringify(path.join('.'))} is ${found}, which JSON would change`
  return children.map(lossIn).find((loss) => loss !== null) ?? null
}

function lossOf({ type, converted_type, logical_type }: SchemaElement): string | undefined {
  const isBytes = type === 'FIXED_LEN_BYTE_ARRAY' && !['UUID', 'FLOAT16'].includes(logical_type?.type ?? '')
  const lossy = [converted_type, logical_type?.type].find(
    (name) => name !== undefined && LOSSY.includes(name),
  )
  return lossy ?? (type === 'INT96' || isBytes ? type : undefined)
}

/**
 * How values are written. `sample` is JSON. `text` has texts as they are stored, and other values as `sample` has them. Both have
 * numbers and times that JSON would change as near as it can have them, and no others that it would change.
 */
export type CellForm = 'json' | 'sample' | 'text' | TableForm

/** The form of a table; `null` for another form. */
export function tableOf(form: CellForm): TableForm | null {
  return form === 'csv' || form === 'tsv' ? form : null
}

/**
 * Writes the values of a column. Numbers keep all digits, and times have all that the file has. Missing values are `null` in
 * JSON, and empty elsewhere.
 */
class CellWriter {
  readonly missing: string
  readonly isText: boolean
  /** Whether the cell of a text is its bytes. */
  readonly copiesTexts: boolean
  readonly #form: CellForm
  readonly #path: string
  readonly #isJson: boolean
  readonly #isRounded: boolean
  readonly #jsonOf: (value: unknown) => string
  readonly #json = new JsonText()
  readonly #table: TableForm | null
  readonly #cell: CellText

  constructor({ element, path }: SchemaTree, form: CellForm) {
    this.#table = tableOf(form)
    this.#cell = new CellText(this.#table ?? 'csv')
    this.missing = this.#table !== null || form === 'text' ? '' : 'null'
    const rounded = roundedWriter(element)
    this.isText = element.type === 'BYTE_ARRAY'
    this.copiesTexts = form === 'text' && rounded === null
    this.#form = form
    this.#path = path.join('.')
    this.#isJson = element.converted_type === 'JSON'
    this.#isRounded = rounded !== null
    this.#jsonOf = rounded ?? jsonWriter(element)
  }

  /** Writes the text `bytes[start, end)`. @throws Error when JSON would change the text, but in a sample */
  putText(bytes: Uint8Array, start: number, end: number, out: ByteSink): void {
    if (this.copiesTexts) out.write(bytes, start, end)
    else if (this.#isRounded) this.#put(this.#jsonOf(bytes.subarray(start, end)), out)
    else if (!isUtf8(bytes.subarray(start, end))) {
      if (this.#form !== 'sample')
        throw new ParquetFault(`the column ${JSON.stringify(this.#path)} has bytes, which JSON would change`)
      out.writeAscii(this.missing)
    } else if (this.#isJson) this.#put(oneLine(Buffer.from(bytes.subarray(start, end)).toString()), out)
    else if (this.#table !== null)
      out.length = this.#cell.put(bytes, start, end, out.room(cellRoom(end - start)), out.length)
    else {
      const into = out.room(jsonRoom(end - start) + 2)
      into[out.length] = QUOTE
      const last = this.#json.put(bytes, start, end, into, out.length + 1)
      into[last] = QUOTE
      out.length = last + 1
    }
  }

  /** Writes a value that is not a text. */
  put(value: unknown, out: ByteSink): void {
    if (value instanceof Uint8Array && this.isText) this.putText(value, 0, value.length, out)
    else this.#put(this.#jsonOf(value), out)
  }

  #put(json: string, out: ByteSink): void {
    const text = this.missing === '' ? textOf(json) : json
    out.write(Buffer.from(this.#table === null ? text : valueText(text, this.#table)))
  }
}

/** The values of a column of a row group as cells, some at a time. */
export class CellReader {
  /** The cells that were read last: that of value `i` is `bytes[starts[i], ends[i])`. */
  bytes: Uint8Array = new Uint8Array(0)
  readonly starts = new Int32Array(MOST_CELLS)
  readonly ends = new Int32Array(MOST_CELLS)
  /** The levels of these values. */
  readonly repetitions = new Int32Array(MOST_CELLS)
  readonly definitions = new Int32Array(MOST_CELLS)
  count = 0
  /** The next one of them. */
  at = 0
  readonly #column: ColumnReader
  readonly #writer: CellWriter
  readonly #pages: Iterator<Page>
  #page: Page | null = null
  /** The values of the page that have no cells yet. */
  #left = 0
  /** Makes the cells of the next values of the page that are not missing. */
  #putNext: (count: number) => void = () => {}
  /** The cells of values without a dictionary. */
  readonly #cells = new ByteSink(64)
  /** The cells of the dictionary. A value that no row has had starts at -1. */
  #entries: {
    readonly dictionary: ColumnTexts
    readonly cells: ByteSink
    readonly starts: Int32Array
    readonly ends: Int32Array
  } | null = null

  constructor(column: ColumnReader, node: SchemaTree, form: CellForm) {
    this.#column = column
    this.#writer = new CellWriter(node, form)
    this.#pages = column.pages()
  }

  /** Makes the next cells. @returns whether there are any. @throws Error when a page is damaged, or JSON would change a value */
  next(): boolean {
    this.at = this.count = 0
    while (this.#left === 0) {
      const { value: page, done } = this.#pages.next()
      if (done === true) return false
      this.#page = page
      this.#left = page.count
      this.#putNext = this.#cellsOf(page)
    }
    const count = Math.min(MOST_CELLS, this.#left)
    const { definitions, starts, ends } = this
    const { definition: most } = this.#column
    this.#page?.repetitions.read(this.repetitions.subarray(0, count))
    this.#page?.definitions.read(definitions.subarray(0, count))
    let present = 0
    for (let value = 0; value < count; value++) if (definitions[value] === most) present++
    this.#putNext(present)
    // Backwards, so that no cell is overwritten before it has moved.
    for (let value = count - 1, from = present - 1; value > from; value--) {
      const isPresent = definitions[value] === most
      starts[value] = isPresent ? (starts[from] ?? 0) : 0
      ends[value] = isPresent ? (ends[from--] ?? 0) : this.#writer.missing.length
    }
    this.#left -= count
    this.count = count
    return true
  }

  #cellsOf(page: Page): (count: number) => void {
    const column = this.#column
    const indexes = column.indexesOf(page)
    if (indexes !== null) return (count) => this.#putEntries(indexes.read(this.starts.subarray(0, count)))
    const [cells, writer] = [this.#cells, this.#writer]
    const { starts, ends } = this
    const texts =
      writer.isText && page.encoding === 'PLAIN' ? column.placesIn(page.bytes, page.present) : null
    const values = texts === null ? column.valuesOf(page) : []
    let next = 0
    if (texts !== null && writer.copiesTexts)
      return (count) => {
        starts.set(texts.starts.subarray(next, next + count))
        ends.set(texts.ends.subarray(next, next + count))
        this.bytes = texts.bytes
        next += count
      }
    return (count) => {
      cells.length = 0
      cells.writeAscii(writer.missing)
      for (let cell = 0; cell < count; cell++, next++) {
        starts[cell] = cells.length
        if (texts === null) writer.put(values[next], cells)
        else writer.putText(texts.bytes, texts.starts[next] ?? 0, texts.ends[next] ?? 0, cells)
        ends[cell] = cells.length
      }
      this.bytes = cells.bytes
    }
  }

  /** Makes cells of values of the dictionary: each value is written once. @param indexes in the memory of the starts */
  #putEntries(indexes: Int32Array): void {
    const [column, writer] = [this.#column, this.#writer]
    const { dictionary } = column
    if (this.#entries?.dictionary !== dictionary) {
      const size = column.dictionarySize
      const [starts, ends] = [new Int32Array(size).fill(-1), new Int32Array(size)]
      this.#entries = { dictionary, cells: new ByteSink(64), starts, ends }
      this.#entries.cells.writeAscii(writer.missing)
    }
    const { cells, starts, ends } = this.#entries
    for (let cell = 0; cell < indexes.length; cell++) {
      const index = indexes[cell] ?? 0
      if (starts[index] === -1) {
        starts[index] = cells.length
        if (writer.isText)
          writer.putText(dictionary.bytes, dictionary.starts[index] ?? 0, dictionary.ends[index] ?? 0, cells)
        else writer.put(column.entryAt(index), cells)
        ends[index] = cells.length
      }
      this.starts[cell] = starts[index] ?? 0
      this.ends[cell] = ends[index] ?? 0
    }
    this.bytes = cells.bytes
  }
}

/** Returns what writes a value as JSON. It is not `null`, nor a text but of JSON. */
function jsonWriter(element: SchemaElement): (value: unknown) => string {
  const { converted_type: converted, logical_type: logical } = element
  if (converted === 'DATE') return (value) => JSON.stringify(dayText(Number(value) * MS_PER_DAY))
  const clock = timeUnit(element)
  if (clock !== null) return (value) => JSON.stringify(clockText(integerOf(value) * clock))
  const instant = instantUnit(element)
  if (instant !== null) {
    const isUtc = logical?.type !== 'TIMESTAMP' || logical.isAdjustedToUTC
    return (value) => JSON.stringify(instantText(integerOf(value) * instant, isUtc))
  }
  const bytesOf = (value: unknown): Uint8Array => (value instanceof Uint8Array ? value : new Uint8Array(0))
  if (logical?.type === 'UUID')
    return (value) => JSON.stringify(DEFAULT_PARSERS.uuidFromBytes(bytesOf(value)))
  if (logical?.type === 'FLOAT16') return (value) => JSON.stringify(parseFloat16(bytesOf(value)))
  const bits = unsignedBits(element)
  if (bits !== null) return (value) => String(BigInt.asUintN(bits, integerOf(value)))
  return (value) => (typeof value === 'bigint' ? String(value) : JSON.stringify(value))
}

/** Returns what writes a value that JSON would change as near as it can have it; `null` for other columns. */
function roundedWriter(element: SchemaElement): ((value: unknown) => string) | null {
  const { type, converted_type, logical_type, scale = 0 } = element
  if (type === 'INT96') return (value) => JSON.stringify(instantText(nanosecondsIn(integerOf(value)), true))
  if (converted_type === 'DECIMAL' || logical_type?.type === 'DECIMAL') {
    return (value) =>
      JSON.stringify((value instanceof Uint8Array ? parseDecimal(value) : Number(value)) / 10 ** scale)
  }
  return lossOf(element) === undefined ? null : () => 'null'
}

/** The time since 1970 in an INT96: the Julian day, and in the lower 64 bits its nanoseconds. */
function nanosecondsIn(value: bigint): bigint {
  return ((value >> 64n) - JULIAN_1970) * BigInt(MS_PER_DAY) * 1_000_000n + BigInt.asUintN(64, value)
}

function integerOf(value: unknown): bigint {
  if (typeof value === 'bigint') return value
  return BigInt(Number(value))
}

/** The bits of unsigned integers of 32 and 64 bits; `null` for other columns. */
function unsignedBits({ converted_type, logical_type: logical }: SchemaElement): number | null {
  const bits = logical?.type === 'INTEGER' && !logical.isSigned ? logical.bitWidth : 0
  return converted_type === 'UINT_64' || bits === 64
    ? 64
    : converted_type === 'UINT_32' || bits === 32
      ? 32
      : null
}

/** A string of JSON as text, other JSON as it is; empty for `null`. */
export function textOf(json: string): string {
  return json === 'null' ? '' : json.startsWith('"') ? String(JSON.parse(json)) : json
}

/** JSON without line ends, which are white space in it. A text that is not JSON becomes a string. */
function oneLine(text: string): string {
  try {
    JSON.parse(text)
    return text.replace(/[\r\n]/g, ' ')
  } catch {
    return JSON.stringify(text)
  }
}

/** Nanoseconds of the unit of instants; `null` for other columns. */
function instantUnit({ converted_type, logical_type: logical }: SchemaElement): bigint | null {
  if (converted_type === 'TIMESTAMP_MILLIS') return 1_000_000n
  if (converted_type === 'TIMESTAMP_MICROS') return 1000n
  return logical?.type === 'TIMESTAMP' ? unitOf(logical.unit) : null
}

/** Nanoseconds of the unit of a time of the day; `null` for other columns. */
function timeUnit({ converted_type, logical_type: logical }: SchemaElement): bigint | null {
  if (logical?.type === 'TIME') return unitOf(logical.unit)
  return converted_type === 'TIME_MILLIS' ? 1_000_000n : converted_type === 'TIME_MICROS' ? 1000n : null
}

function unitOf(unit: 'MILLIS' | 'MICROS' | 'NANOS'): bigint {
  return unit === 'NANOS' ? 1n : unit === 'MICROS' ? 1000n : 1_000_000n
}

/** ISO 8601, with as many digits as are not zero; the number where a `Date` cannot hold it. */
function instantText(nanoseconds: bigint, inUtc: boolean): string {
  const fraction = ((nanoseconds % NANOS_PER_SECOND) + NANOS_PER_SECOND) % NANOS_PER_SECOND
  const milliseconds = Number((nanoseconds - fraction) / 1_000_000n)
  if (Math.abs(milliseconds) > MAX_DATE_MS) return String(nanoseconds)
  return `${new Date(milliseconds).toISOString().slice(0, -'.000Z'.length)}${fractionText(fraction)}${inUtc ? 'Z' : ''}`
}

function dayText(milliseconds: number): string {
  if (Math.abs(milliseconds) > MAX_DATE_MS) return String(milliseconds / MS_PER_DAY)
  return new Date(milliseconds).toISOString().slice(0, -'T00:00:00.000Z'.length)
}

function clockText(nanoseconds: bigint): string {
  const fraction = nanoseconds % NANOS_PER_SECOND
  const seconds = Number(nanoseconds / NANOS_PER_SECOND)
  const parts = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60, seconds % 60]
  return `${parts.map((part) => String(part).padStart(2, '0')).join(':')}${fractionText(fraction)}`
}

function fractionText(nanoseconds: bigint): string {
  const digits = String(nanoseconds).padStart(9, '0').replace(/0+$/, '')
  return digits === '' ? '' : `.${digits}`
}
