// The options of the commands. One definition each serves the parser, its types, --help, and the table in the command's
// guide. Commands with many options define them in their own folders.
import type { FormatOption } from '../enrich/formats/format-definition.ts'
import { CITY_NAMES, localeOf } from '../location/locale.ts'
import { messageOf } from '../realm.ts'
import { databasePath } from './database-path.ts'
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

/** The values that the parser gives for options: `maxLineBytes` for `--max-line-bytes <n>`. */
export type FlagsOf<Options extends readonly OptionDefinition[]> = {
  readonly [Option in Options[number] as Option extends Required
    ? NameOf<Option['flags']>
    : never]: ValueOf<Option>
} & {
  readonly [Option in Options[number] as Option extends Required
    ? never
    : NameOf<Option['flags']>]?: ValueOf<Option>
}

type Required = { readonly isRequired: true }

type NameOf<Flags extends string> = Flags extends
  | `${string}--no-${infer Name}`
  | `${string}--${infer Name} <${string}`
  ? CamelCase<Name>
  : Flags extends `${string}--${infer Name}`
    ? CamelCase<Name>
    : never

type CamelCase<Name extends string> = Name extends `${infer First}-${infer Rest}`
  ? `${First}${Capitalize<CamelCase<Rest>>}`
  : Name

type ValueOf<Option extends OptionDefinition> = Option['flags'] extends `${string}<${string}`
  ? Option extends { readonly isRepeatable: true }
    ? readonly ReadBy<Option>[]
    : ReadBy<Option>
  : boolean

type ReadBy<Option> = Option extends { readonly read: (text: string) => infer Value } ? Value : string

export const DB = {
  flags: '--db <file>',
  text: 'use this database (`.mmdb`, `.gz` or `.tar.gz`) instead of the embedded one. You can repeat it; the first database that has a location answers, with all its fields. A database without locations, such as an ASN database, is an error',
  read: databasePath,
  isRepeatable: true,
} as const satisfies OptionDefinition

export const ASN = [
  {
    flags: '--asn',
    text: 'add `asn`, the number and the name of the autonomous system that operates the network, from the embedded database',
  },
  {
    flags: '--asn-db <file>',
    text: 'the same from this database, such as GeoLite2-ASN.mmdb. You can repeat it',
    read: databasePath,
    isRepeatable: true,
  },
] as const satisfies readonly OptionDefinition[]

/** What the option `asn` of `Resolver.open` is for these flags. */
export function asnOf({ asn = false, asnDb }: FlagsOf<typeof ASN>): boolean | readonly string[] {
  return asnDb ?? asn
}

/** Vendors publish databases once a month or more often. */
export const DEFAULT_STALE_AFTER = 45

/** A century: a larger number is probably a typing error. */
const MAX_STALE_AFTER = 36_500

export const STALE_AFTER = {
  flags: '--stale-after <days>',
  text: `call a database stale that was built more days ago (default: ${DEFAULT_STALE_AFTER})`,
  read: wholeNumber(1, MAX_STALE_AFTER),
} as const satisfies OptionDefinition

export const CITIES = {
  flags: '--city-names <language>',
  text: 'the language of cities: `locale` is that of `--locale`, if the database has the name (default: `en`)',
  read: oneOf(CITY_NAMES),
} as const satisfies OptionDefinition

export const LOCALE = [
  {
    flags: '--locale <tag>',
    text: 'the language of the names of countries and regions',
    read: readLocale,
  },
  CITIES,
] as const satisfies readonly OptionDefinition[]

export const TRUST = [
  {
    flags: '--trust <list>',
    text: 'trusted proxies: addresses, networks and names, separated by commas',
    read: readList,
  },
  {
    flags: '--forwarded-header <name>',
    text: 'the header that the proxies write (default: `x-forwarded-for`)',
  },
] as const satisfies readonly OptionDefinition[]

export const LOOKUP_OPTIONS = [
  DB,
  ...ASN,
  ...LOCALE,
  {
    flags: '--at <time>',
    text: 'the instant of the time-zone offset: `2026-07-01`, or `2026-07-01T12:00:00Z` with `Z` or an offset (default: now)',
    read: readInstant,
  },
  { flags: '--pretty', text: 'indent the JSON' },
] as const satisfies readonly OptionDefinition[]

export const INFO_OPTIONS = [
  {
    ...DB,
    text: 'describe this database (`.mmdb`, `.gz` or `.tar.gz`) instead of the embedded one. You can repeat it',
  },
  STALE_AFTER,
  { flags: '--json', text: 'print one JSON object a line' },
] as const satisfies readonly OptionDefinition[]

export const PACK_OPTIONS = [
  { flags: '-o, --output <file>', text: 'write to this file', isRequired: true },
] as const satisfies readonly OptionDefinition[]

export const SLIM_OPTIONS = [
  {
    flags: '--fields <list>',
    text: 'keep these fields: `country`, `region`, `city`, `postal_code`, `coordinates`, `timezone`, separated by commas (default: all)',
    read: readList,
  },
  {
    flags: '--locales <list>',
    text: 'keep the names that lookups in these languages use, such as `en,de` (default: all)',
    read: readList,
  },
  {
    flags: '--countries <list>',
    text: 'keep the networks in these countries, such as `DE,FR` (default: all). `EU` is its 27 member states, without territories that have a code of their own, such as `RE`',
    read: readList,
  },
  { flags: '--ipv4-only', text: 'leave out IPv6 networks' },
  {
    ...PACK_OPTIONS[0],
    text: 'write to this file: `.mmdb`, or `.gz`, or `.packed` for a packed database',
  },
] as const satisfies readonly OptionDefinition[]

export const OVERLAY_OPTIONS = [
  {
    flags: '--csv <file>',
    text: 'the networks: CSV with a header and a column `network`',
    isRequired: true,
  },
  SLIM_OPTIONS[4],
] as const satisfies readonly OptionDefinition[]

export const ENGINE_OPTIONS = [
  {
    flags: '--node <file>',
    text: 'the Node runtime of the archive: the `bin/node` of a download for Linux (default: the one that runs)',
  },
  {
    flags: '--db <file>',
    text: 'use this database (`.mmdb`, `.gz`, `.tar.gz` or packed) instead of the embedded one',
    read: databasePath,
  },
] as const satisfies readonly OptionDefinition[]

export const DETECT_OPTIONS = [
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
  ...TRUST,
] as const satisfies readonly OptionDefinition[]

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

/** Makes a parser that accepts only the given words. */
export function oneOf<Choice extends string>(choices: readonly Choice[]): (text: string) => Choice {
  return (text) => {
    const chosen = choices.find((choice) => choice === text)
    if (chosen === undefined) throw new UsageError(`Write one of ${choices.join(', ')}.`)
    return chosen
  }
}

/** Makes a parser of whole numbers that are written in digits only. */
export function wholeNumber(least: number, most: number): (text: string) => number {
  return (text) => {
    const number = /^\d{1,10}$/.test(text) ? Number(text) : Number.NaN
    if (number >= least && number <= most) return number
    throw new UsageError(`Write a whole number from ${least} to ${most}.`)
  }
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
    throw new UsageError(messageOf(error))
  }
}

function readHeader(line: string): readonly [name: string, value: string] {
  const colon = line.indexOf(':')
  if (colon < 1) throw new UsageError("Write it as 'X-Forwarded-For: 81.2.69.142'.")
  return [line.slice(0, colon), line.slice(colon + 1).trim()]
}
