import { timeOf } from '../../realm.ts'
import { isPlainObject, kindOf } from './kind.ts'
import type { RecordSize } from './search-tree.ts'

export type MmdbWriterOptions = {
  /** Names the schema of the records, such as `My-Test-City`. MaxMind reserves names that start with `GeoIP`. */
  readonly databaseType: string
  /** 6 (the default) holds IPv4 and IPv6; 4 holds IPv4 only. */
  readonly ipVersion?: 4 | 6
  /** Bits of a record in the search tree: 24, 28 or 32. Default: the smallest that fits. */
  readonly recordSize?: RecordSize
  /** Locales that records hold names in. Default: none. */
  readonly languages?: readonly string[]
  /** Text about the database by language code. Default: none. */
  readonly description?: Readonly<Record<string, string>>
  /**
   * When the data was made, to the second. Default: 2000-01-01T00:00:00Z. The writer never reads the clock, so
   * that the same input always gives the same bytes; for the current time give `new Date()`.
   */
  readonly buildDate?: Date
  /**
   * Whether `::ffff:0:0/96` leads to the IPv4 networks as well, for readers that do not unwrap IPv4-mapped
   * addresses. Default: true. Without effect in a database for IPv4 only.
   */
  readonly aliases?: boolean
}

/** Options that were checked, with the defaults filled in. */
export type CheckedOptions = Required<Omit<MmdbWriterOptions, 'recordSize'>> & {
  readonly recordSize: RecordSize | undefined
}

const DEFAULT_BUILD_DATE = '2000-01-01T00:00:00Z'

/**
 * A copy of the options, which the caller cannot change afterwards.
 *
 * @throws TypeError when an option is of the wrong kind; RangeError when the build date cannot be written.
 * Both name the option.
 */
export function checkOptions(options: MmdbWriterOptions): CheckedOptions {
  if (typeof options !== 'object' || options === null) {
    throw new TypeError(`the options must be an object, not ${kindOf(options)}`)
  }
  const {
    databaseType,
    ipVersion = 6,
    recordSize,
    languages = [],
    description = {},
    buildDate = new Date(DEFAULT_BUILD_DATE),
    aliases = true,
  } = options
  if (typeof databaseType !== 'string' || databaseType === '') {
    throw new TypeError('databaseType must be a text that names the schema of the records')
  }
  if (ipVersion !== 4 && ipVersion !== 6) throw wrong('ipVersion', '4 or 6', ipVersion)
  if (recordSize !== undefined && recordSize !== 24 && recordSize !== 28 && recordSize !== 32) {
    throw wrong('recordSize', '24, 28 or 32', recordSize)
  }
  if (typeof aliases !== 'boolean') throw wrong('aliases', 'true or false', aliases)
  return {
    databaseType,
    ipVersion,
    recordSize,
    languages: textList('languages', languages),
    description: textMap('description', description),
    buildDate: writableDate('buildDate', buildDate),
    aliases,
  }
}

function textList(name: string, value: unknown): string[] {
  if (!Array.isArray(value)) throw wrong(name, 'an array of texts', value)
  // Array.from makes undefined of the holes of a sparse array, which every() would step over.
  return Array.from(value, (item: unknown, index) => text(`${name}[${index}]`, item))
}

function textMap(name: string, value: unknown): Record<string, string> {
  if (!isPlainObject(value)) throw wrong(name, 'a plain object of texts', value)
  return Object.fromEntries(
    Object.entries(value).map(([key, item]: [string, unknown]) => [key, text(`${name}.${key}`, item)]),
  )
}

function text(name: string, value: unknown): string {
  if (typeof value !== 'string') throw wrong(name, 'a text', value)
  return value
}

function writableDate(name: string, value: unknown): Date {
  const instant = timeOf(value)
  if (instant === undefined) throw wrong(name, 'a Date', value)
  if (Number.isNaN(instant)) throw new TypeError(`${name} must be a valid Date`)
  // libmaxminddb takes a build epoch of 0 for a missing one, and refuses the file.
  if (instant < 1000) throw new RangeError(`${name} must be after 1970-01-01T00:00:00Z`)
  return new Date(instant)
}

function wrong(name: string, wanted: string, value: unknown): TypeError {
  return new TypeError(`${name} must be ${wanted}, not ${typeof value === 'number' ? value : kindOf(value)}`)
}
