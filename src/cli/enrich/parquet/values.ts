// Values of Parquet columns as JSON.
import type { ParquetParsers, SchemaElement, SchemaTree } from 'hyparquet'
import { DEFAULT_PARSERS } from 'hyparquet/src/convert.js'
import { ParquetFault } from './footer.ts'

/** A time, until its column says whether it is in UTC. */
class Instant {
  /** The time as JSON. hyparquet has one object for all rows with a value of a dictionary. */
  json = ''
  constructor(readonly nanoseconds: bigint) {}
}

class Day {
  constructor(readonly days: number) {}
}

/** A text that is JSON already. Parsing it could change numbers. */
class JsonValue {
  constructor(readonly text: string) {}
}

const NANOS_PER_SECOND = 1_000_000_000n
const MS_PER_DAY = 86_400_000
/** The instants that a `Date` holds. Milliseconds. */
const MAX_DATE_MS = 8.64e15

/** Bytes that are not UTF-8, in a column that can have text. */
class NotText {}

const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

function textOf(bytes: Uint8Array): string | NotText {
  try {
    return decoder.decode(bytes)
  } catch {
    return new NotText()
  }
}

/** Makes the values that {@link jsonText} writes. */
export const PARSERS: ParquetParsers = {
  ...DEFAULT_PARSERS,
  timestampFromMilliseconds: (value) => new Instant(value * 1_000_000n),
  timestampFromMicroseconds: (value) => new Instant(value * 1000n),
  timestampFromNanoseconds: (value) => new Instant(value),
  dateFromDays: (days) => new Day(days),
  stringFromBytes: textOf,
  jsonFromBytes: (bytes) => {
    const text = textOf(bytes)
    return typeof text === 'string' ? new JsonValue(text) : text
  },
}

/** Types whose values JSON, or hyparquet, would round or lose. */
const LOSSY = ['DECIMAL', 'BSON', 'INTERVAL', 'VARIANT', 'GEOMETRY', 'GEOGRAPHY']

/** What JSON would lose of a column: `the column "price" is DECIMAL`; `null` if nothing. */
export function lossIn({ element, children, path }: SchemaTree): string | null {
  const { type, converted_type, logical_type } = element
  const isBytes = type === 'FIXED_LEN_BYTE_ARRAY' && !['UUID', 'FLOAT16'].includes(logical_type?.type ?? '')
  const lossy = [converted_type, logical_type?.type].find(
    (name) => name !== undefined && LOSSY.includes(name),
  )
  const found = lossy ?? (type === 'INT96' || isBytes ? type : undefined)
  if (found !== undefined)
    return `the column ${JSON.stringify(path.join('.'))} is ${found}, which JSON would change`
  return children.map(lossIn).find((loss) => loss !== null) ?? null
}

/**
 * A value of a column as JSON, `null` if it is missing. Numbers keep all digits, and times have all that the file has.
 *
 * @throws Error when JSON would change the value
 */
export function jsonText(value: unknown, column: SchemaTree): string {
  if (typeof value === 'string') return JSON.stringify(value)
  if (value === null || value === undefined) return 'null'
  if (value instanceof Instant) {
    if (value.json === '') value.json = `"${instantText(value.nanoseconds, isUtc(column.element))}"`
    return value.json
  }
  if (value instanceof Day) return JSON.stringify(dayText(value.days * MS_PER_DAY))
  if (value instanceof JsonValue) return oneLine(value.text)
  if (value instanceof NotText)
    throw new ParquetFault(
      `the column ${JSON.stringify(column.path.join('.'))} has bytes, which JSON would change`,
    )
  const { element, children } = column
  const unit = timeUnit(element)
  if (unit !== null && (typeof value === 'number' || typeof value === 'bigint'))
    return JSON.stringify(clockText(BigInt(value) * unit))
  if (typeof value === 'bigint') return String(value)
  if (typeof value !== 'object') return JSON.stringify(value)
  if (Array.isArray(value) || ArrayBuffer.isView(value)) {
    const item = itemOf(column)
    const items = Array.from(value as ArrayLike<unknown>) // both are
    return `[${items.map((each) => jsonText(each, item)).join(',')}]`
  }
  if (children.length === 0) return JSON.stringify(value)
  const members = Object.entries(value).map(
    ([name, each]) => `${JSON.stringify(name)}:${jsonText(each, columnOf(column, name))}`,
  )
  return `{${members.join(',')}}`
}

/** The elements of a list: a group around a group around them, or only around them. */
function itemOf(column: SchemaTree): SchemaTree {
  const [inner = column] = column.children
  return inner.children[0] ?? inner
}

/** The column of the values that {@link memberOf} finds. */
export function columnOf(column: SchemaTree, name: string): SchemaTree {
  const { children, element } = column
  // A map has one group, of keys and values.
  const isMap = element.converted_type === 'MAP' || element.logical_type?.type === 'MAP'
  const child = isMap ? children[0]?.children[1] : children.find((each) => each.element.name === name)
  return child ?? itemOf(column)
}

/** A member of a value, or an element of a list by its number; `undefined` if there is none. A text of JSON has them too. */
export function memberOf(value: unknown, name: string): unknown {
  const own: unknown = value instanceof JsonValue ? JSON.parse(oneLine(value.text)) : value
  return typeof own === 'object' && own !== null && Object.hasOwn(own, name)
    ? Reflect.get(own, name)
    : undefined
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

/** The JSON of a value, or `null` where JSON would change the value. */
export function jsonOrNull(value: unknown, column: SchemaTree): string {
  try {
    return jsonText(value, column)
  } catch {
    return 'null'
  }
}

/** Whether the times of a column are instants. Others are local times of an unknown place. INT96 does not say it. */
function isUtc({ type, logical_type: logical }: SchemaElement): boolean {
  return type !== 'INT96' && (logical?.type !== 'TIMESTAMP' || logical.isAdjustedToUTC)
}

/** Nanoseconds of the unit of a time of the day; `null` for other columns. */
function timeUnit({ converted_type, logical_type: logical }: SchemaElement): bigint | null {
  if (logical?.type === 'TIME')
    return logical.unit === 'NANOS' ? 1n : logical.unit === 'MICROS' ? 1000n : 1_000_000n
  return converted_type === 'TIME_MILLIS' ? 1_000_000n : converted_type === 'TIME_MICROS' ? 1000n : null
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

/** Whether the values of a column are texts as they are stored, one for each row. @param path begins with the root */
export function isStoredText([, ...path]: readonly SchemaTree[]): boolean {
  const isPlain = ({ element: { converted_type, logical_type, repetition_type } }: SchemaTree): boolean =>
    [undefined, 'UTF8', 'ENUM'].includes(converted_type) &&
    [undefined, 'STRING', 'ENUM'].includes(logical_type?.type) &&
    repetition_type !== 'REPEATED'
  return path.at(-1)?.element.type === 'BYTE_ARRAY' && path.every(isPlain)
}
