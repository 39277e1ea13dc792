// The options of the commands. One definition each serves the parser, --help, and the table in the command's guide.
import type { FormatOption } from '../enrich/formats/format-definition.ts'
import { localeOf } from '../location/locale.ts'
import { databasePath } from './databases.ts'
import { UsageError } from './terminal.ts'

export interface OptionDefinition {
  /** As --help shows it: `-o, --output <file>`. */
  readonly flags: string
  /** What it does, in Markdown. See {@link helpOf} and {@link guideRow}. */
  readonly text: string
  /** Parses the value; the default keeps the text. @throws UsageError with a sentence that says what to write */
  readonly read?: (text: string) => unknown
  /** Collects the values of all uses into an array. Other options with a value can be given only once. */
  readonly isRepeatable?: boolean
  readonly isRequired?: boolean
  /** The option of `enrich` that it sets, if only some formats have it. */
  readonly option?: FormatOption
  /** The formats that have it; the default is all. */
  readonly formats?: readonly string[]
}

export const DB: OptionDefinition = {
  flags: '--db <file>',
  text: 'use this database (`.mmdb`, `.gz` or `.tar.gz`) instead of the embedded one. You can repeat it; the first database that has a location answers, with all its fields. A database without locations, such as an ASN database, is an error',
  read: databasePath,
  isRepeatable: true,
}

export const LOCALE: OptionDefinition = {
  flags: '--locale <tag>',
  text: 'the language of the names of countries and regions',
  read: readLocale,
}

export const LOOKUP_OPTIONS: readonly OptionDefinition[] = [
  DB,
  LOCALE,
  {
    flags: '--at <time>',
    text: 'the instant of the time-zone offset: `2026-07-01`, or `2026-07-01T12:00:00Z` with `Z` or an offset (default: now)',
    read: readInstant,
  },
  { flags: '--pretty', text: 'indent the JSON' },
]

export const INFO_OPTIONS: readonly OptionDefinition[] = [
  {
    flags: '--db <file>',
    text: 'describe this database (`.mmdb`, `.gz` or `.tar.gz`) instead of the embedded one. You can repeat it',
    read: databasePath,
    isRepeatable: true,
  },
  { flags: '--json', text: 'print one JSON object a line' },
]

export const PACK_OPTIONS: readonly OptionDefinition[] = [
  { flags: '-o, --output <file>', text: 'write to this file', isRequired: true },
]

export const DETECT_OPTIONS: readonly OptionDefinition[] = [
  {
    flags: '--peer <address>',
    text: "the address of the socket's peer, or `unix:` for a Unix socket",
    isRequired: true,
  },
  {
    flags: '--header <line>',
    text: "a header of the request, as `'Name: value'`. You can repeat it",
    read: readHeader,
    isRepeatable: true,
  },
  {
    flags: '--trust <list>',
    text: 'trusted proxies: addresses, networks and names, separated by commas',
    read: readList,
  },
  {
    flags: '--forwarded-header <name>',
    text: 'the header that the proxies write (default: `x-forwarded-for`)',
  },
]

/** The description for --help: the text without Markdown, after the formats that have the option. */
export function helpOf({ text, formats }: OptionDefinition): string {
  const plain = text.replaceAll('`', '').replace(/\[([^\]]*)\]\([^)]*\)/g, '$1')
  return formats === undefined ? plain : `${formats.join(', ')}: ${plain}`
}

/** The option's row in the guide's table. */
export function guideRow({ flags, text, formats }: OptionDefinition): string {
  const names = flags
    .replace(/<(.*=)?(.*)>/, (_, prefix = '', value: string) => `${prefix}${value.toUpperCase()}`)
    .split(', ')
    .map((name) => `\`${name}\``)
  const start = formats === undefined ? '' : `${formats.map((format) => `\`${format}\``).join(', ')}: `
  return `| ${names.join(', ')} | ${start}${text.replaceAll('|', '\\|')} |`
}

/** Reads a list separated by commas. */
export function readList(text: string): string[] {
  return text.split(',')
}

/** An ISO 8601 time with its offset, or a date, which means 00:00 UTC. */
const INSTANT = /^\d{4}-\d{2}-\d{2}(T\d{2}:\d{2}(:\d{2}(\.\d+)?)?(Z|[+-]\d{2}:\d{2}))?$/

/** @throws UsageError when the text is not an instant */
export function readInstant(text: string): Date {
  const instant = new Date(text)
  if (INSTANT.test(text) && !Number.isNaN(instant.getTime()) && isDayOfMonth(text)) return instant
  throw new UsageError('Write it as 2026-07-01 or 2026-07-01T12:00:00Z, with Z or an offset.')
}

/** Some JavaScript engines read 31 February as 3 March. */
function isDayOfMonth(text: string): boolean {
  const day = text.slice(0, 10)
  return new Date(`${day}T00:00:00Z`).toISOString().startsWith(day)
}

function readLocale(text: string): string {
  try {
    localeOf(text)
    return text
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : String(error))
  }
}

function readHeader(line: string): readonly [name: string, value: string] {
  const colon = line.indexOf(':')
  if (colon < 1) throw new UsageError("Write it as 'X-Forwarded-For: 81.2.69.142'.")
  return [line.slice(0, colon), line.slice(colon + 1).trim()]
}
