// The options of the commands. One definition each serves the parser, its types, the help, and the tables in the guides.
// Commands with many options define them in their own folders. What is also an option of the library comes from there.

import { CITY_NAMES } from '../location/locale.ts'
import {
  flagOf,
  INSTANT,
  LIST,
  LOCALE_TAG,
  type OptionDefinition,
  type OptionDefinitions,
  type OptionKind,
  oneOf,
  SWITCH,
  TEXT,
  wholeNumber,
} from '../option-kinds.ts'
import { OptionError } from '../option-names.ts'
import { databasePath } from './database-path.ts'
import { UsageError } from './terminal.ts'

/** The values that the parser gives for options, by the names of their definitions. */
export type FlagsOf<Options extends OptionDefinitions> = {
  readonly [Name in keyof Options as Options[Name] extends Required ? Name : never]: ValueOf<Options[Name]>
} & {
  readonly [Name in keyof Options as Options[Name] extends Required ? never : Name]?:
    | ValueOf<Options[Name]>
    | undefined
}

type Required = { readonly isRequired: true }

type ValueOf<Option> = Option extends { readonly kind: OptionKind<infer Value> }
  ? Option extends { readonly isRepeatable: true }
    ? readonly Value[]
    : Value
  : never

/** A kind whose values only a command reads. @param read throws a UsageError with a sentence that says what to write */
export function readBy<Value>(read: (text: string) => Value): OptionKind<Value> {
  return { what: '', read }
}

export const DATABASE = readBy(databasePath)
export const FILE: OptionKind<string> = {
  what: 'the name of a file, or - for standard output',
  read: (text) => (text === '' ? undefined : text),
}

export const DB = {
  db: {
    flags: '--db <file>',
    kind: DATABASE,
    group: 'Location',
    text: 'use this database (`.mmdb`, `.gz` or `.tar.gz`) instead of the embedded one',
    more: 'You can repeat it; the first database that has a location answers, with all its fields. A database without locations, such as an ASN database, is an error',
    isRepeatable: true,
  },
} as const satisfies OptionDefinitions

export const ASN = {
  asn: {
    flags: '--asn',
    kind: SWITCH,
    group: 'Location',
    text: 'add `asn`, the number and the name of the autonomous system of the network',
    more: 'It is the system that operates the network, from the embedded database',
  },
  asnDb: {
    flags: '--asn-db <file>',
    kind: DATABASE,
    group: 'Location',
    text: 'add `asn` from this database, such as GeoLite2-ASN.mmdb. You can repeat it',
    isRepeatable: true,
  },
} as const satisfies OptionDefinitions

/** What the option `asn` of `Resolver.open` is for these flags. */
export function asnOf({ asn = false, asnDb }: FlagsOf<typeof ASN>): boolean | readonly string[] {
  return asnDb ?? asn
}

/** Vendors publish databases once a month or more often. */
export const DEFAULT_STALE_AFTER = 45

/** A century: a larger number is probably a typing error. */
const MAX_STALE_AFTER = 36_500

export const STALE_AFTER = {
  staleAfter: {
    flags: '--stale-after <days>',
    kind: wholeNumber(1, MAX_STALE_AFTER),
    text: `call a database stale that was built more days ago (default: ${DEFAULT_STALE_AFTER})`,
  },
} as const satisfies OptionDefinitions

export const LOCALE = {
  locale: {
    flags: '--locale <tag>',
    kind: LOCALE_TAG,
    group: 'Location',
    text: 'the language of the names of countries and regions',
  },
  cityNames: {
    flags: '--city-names <language>',
    kind: oneOf(CITY_NAMES),
    group: 'Location',
    text: 'the language of cities: `locale` is that of `--locale` (default: `en`)',
    more: 'It is used if the database has the name',
  },
} as const satisfies OptionDefinitions

export const TRUST = {
  trustedProxies: {
    flags: '--trust <list>',
    kind: LIST,
    group: 'Clients',
    text: 'trusted proxies: addresses, networks and names, separated by commas',
  },
  forwardedHeader: {
    flags: '--forwarded-header <name>',
    kind: TEXT,
    group: 'Clients',
    needs: ['trustedProxies'],
    text: 'the header that the proxies write (default: `x-forwarded-for`)',
  },
} as const satisfies OptionDefinitions

export const LOOKUP_OPTIONS = {
  ...DB,
  ...ASN,
  ...LOCALE,
  at: {
    flags: '--at <time>',
    kind: INSTANT,
    text: 'the instant of the time-zone offset: `2026-07-01`, or `2026-07-01T12:00:00Z` with `Z` or an offset (default: now)',
  },
  pretty: { flags: '--pretty', kind: SWITCH, text: 'indent the JSON' },
} as const satisfies OptionDefinitions

export const INFO_OPTIONS = {
  db: {
    ...DB.db,
    text: 'describe this database (`.mmdb`, `.gz` or `.tar.gz`) instead of the embedded one. You can repeat it',
    more: '',
  },
  ...STALE_AFTER,
  json: { flags: '--json', kind: SWITCH, text: 'print one JSON object a line' },
} as const satisfies OptionDefinitions

export const PACK_OPTIONS = {
  output: { flags: '-o, --output <file>', kind: TEXT, text: 'write to this file', isRequired: true },
} as const satisfies OptionDefinitions

const EDITED = {
  output: {
    ...PACK_OPTIONS.output,
    text: 'write to this file: `.mmdb`, or `.gz`, or `.packed` for a packed database',
  },
} as const satisfies OptionDefinitions

export const SLIM_OPTIONS = {
  fields: {
    flags: '--fields <list>',
    kind: LIST,
    text: 'keep these fields: `country`, `region`, `city`, `postal_code`, `coordinates`, `timezone`, separated by commas (default: all)',
  },
  locales: {
    flags: '--locales <list>',
    kind: LIST,
    text: 'keep the names that lookups in these languages use, such as `en,de` (default: all)',
  },
  countries: {
    flags: '--countries <list>',
    kind: LIST,
    text: 'keep the networks in these countries, such as `DE,FR` (default: all)',
    more: '`EU` is its 27 member states, without territories that have a code of their own, such as `RE`',
  },
  ipv4Only: { flags: '--ipv4-only', kind: SWITCH, text: 'leave out IPv6 networks' },
  ...EDITED,
} as const satisfies OptionDefinitions

export const OVERLAY_OPTIONS = {
  csv: {
    flags: '--csv <file>',
    kind: TEXT,
    text: 'the networks: CSV with a header and a column `network`',
    isRequired: true,
  },
  ...EDITED,
} as const satisfies OptionDefinitions

export const ENGINE_OPTIONS = {
  node: {
    flags: '--node <file>',
    kind: TEXT,
    text: 'the Node runtime of the archive: the `bin/node` of a download for Linux (default: the one that runs)',
  },
  db: {
    flags: '--db <file>',
    kind: DATABASE,
    text: 'use this database (`.mmdb`, `.gz`, `.tar.gz` or packed) instead of the embedded one',
  },
} as const satisfies OptionDefinitions

export const DETECT_OPTIONS = {
  peer: {
    flags: '--peer <address>',
    kind: TEXT,
    text: "the address of the socket's peer, or `unix:` for a Unix socket",
    isRequired: true,
  },
  header: {
    flags: '--header <line>',
    kind: readBy(readHeader),
    text: "a header of the request, as `'Name: value'`. You can repeat it",
    isRepeatable: true,
  },
  ...TRUST,
} as const satisfies OptionDefinitions

/**
 * What the help says about an option, without Markdown.
 *
 * @param isWhole as `--help` does, and not only as `-h`
 * @param formats those that have it; none for all
 */
export function helpOf(
  { text = '', more = '' }: OptionDefinition,
  isWhole: boolean,
  formats: readonly string[] = [],
): string {
  const whole = isWhole && more !== '' ? `${text}. ${more}` : text
  const plain = whole.replaceAll('`', '').replace(/\[([^\]]*)\]\([^)]*\)/g, '$1')
  return isWhole && formats.length > 0 ? `${plain}. Only for ${formats.join(', ')}` : plain
}

/** What the help of a command says besides its options. */
export interface HelpTexts {
  /** The options that come first. */
  readonly mostUsed: readonly string[]
  /** The formats that have an option; none for all. */
  readonly formatsOf?: (name: string) => readonly string[]
  /** What the arguments are, and the like; only in `--help`. */
  readonly about: string
  /** The first ones are also in `-h`. */
  readonly examples: readonly string[]
  /** The exit statuses; only in `--help`. */
  readonly statuses: string
}

/** Whether the options of a command have headings. */
export function isGrouped(definitions: OptionDefinitions): boolean {
  return Object.values(definitions).every(({ group }) => group !== undefined)
}

/** The options for a guide: a table, or one for each group. @param formatsOf the formats that have an option; none for all */
export function guideTables(
  definitions: OptionDefinitions,
  formatsOf: (name: string) => readonly string[] = () => [],
): string {
  const tables = new Map<string, string[]>()
  for (const [name, definition] of Object.entries(definitions)) {
    if (definition.flags === undefined) continue
    const heading = isGrouped(definitions) ? `**${definition.group}**\n\n` : ''
    tables.set(heading, [...(tables.get(heading) ?? []), guideRow(definition, formatsOf(name))])
  }
  return [...tables]
    .map(([heading, rows]) => `${heading}| option | |\n| --- | --- |\n${rows.join('\n')}`)
    .join('\n\n')
}

function guideRow(
  { flags = '', text = '', more = '' }: OptionDefinition,
  formats: readonly string[],
): string {
  const names = flags
    .replace(/<(.*=)?(.*)>/, (_, prefix = '', value: string) => `${prefix}${value.toUpperCase()}`)
    .split(', ')
    .map((name) => `\`${name}\``)
  const end = formats.length === 0 ? '' : `. Only for ${formats.map((format) => `\`${format}\``).join(', ')}`
  const whole = more === '' ? text : `${text}. ${more}`
  return `| ${names.join(', ')} | ${whole.replaceAll('|', '\\|')}${end} |`
}

/**
 * Runs code that checks options.
 *
 * @param definitions the options of the command
 * @param end what ends the message
 * @throws UsageError when an option is wrong; its message has flags
 */
export function inFlags<Result>(check: () => Result, definitions: OptionDefinitions, end = ''): Result {
  try {
    return check()
  } catch (error) {
    if (!(error instanceof TypeError)) throw error
    const message =
      error instanceof OptionError ? error.inFlags((name) => flagOf(definitions, name)) : error.message
    throw new UsageError(`${message}${end}`)
  }
}

function readHeader(line: string): readonly [name: string, value: string] {
  const colon = line.indexOf(':')
  if (colon < 1) throw new UsageError("Write it as 'X-Forwarded-For: 81.2.69.142'.")
  return [line.slice(0, colon), line.slice(colon + 1).trim()]
}
