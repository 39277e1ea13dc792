// The options of the commands. One definition each serves the parser, its types, the help, and the tables in the guides.
// Commands with many options define them in their own folders. What is also an option of the library comes from there.

import { fileURLToPath } from 'node:url'
import {
  ASN_SWITCH,
  flagOf,
  INSTANT,
  LIST,
  LOCALE,
  type OptionDefinitions,
  type OptionGroups,
  type OptionKind,
  SWITCH,
  TEXT,
  wholeNumber,
} from '../option-kinds.ts'
import { OptionError } from '../option-names.ts'
import { messageOf } from '../realm.ts'
import { UsageError } from './terminal.ts'

/** The values that the parser gives for the options of all groups, by the names of their definitions. */
export type FlagsOf<Groups extends OptionGroups> = {
  readonly [Name in NameIn<Groups> as Definition<Groups, Name> extends Required ? Name : never]: ValueOf<
    Definition<Groups, Name>
  >
} & {
  readonly [Name in NameIn<Groups> as Definition<Groups, Name> extends Required ? never : Name]?:
    | ValueOf<Definition<Groups, Name>>
    | undefined
}

type NameIn<Groups> = { [Heading in keyof Groups]: keyof Groups[Heading] }[keyof Groups]

type Definition<Groups, Name> = {
  [Heading in keyof Groups]: Name extends keyof Groups[Heading] ? Groups[Heading][Name] : never
}[keyof Groups]

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
export const FILE = { ...TEXT, what: 'the name of a file, or - for standard output' }

export const DB = {
  db: {
    flags: '--db <file>',
    kind: DATABASE,
    text: 'use this database (`.mmdb`, `.gz`, `.tar.gz` or packed) instead of the embedded one. You can repeat it; the first database that has a location answers, with all its fields. A database without locations, such as an ASN database, is an error',
    isRepeatable: true,
  },
} as const satisfies OptionDefinitions

export const ASN = {
  asn: ASN_SWITCH,
  asnDb: {
    flags: '--asn-db <file>',
    kind: DATABASE,
    text: 'add `asn` from this database, such as GeoLite2-ASN.mmdb. You can repeat it',
    isRepeatable: true,
  },
} as const satisfies OptionDefinitions

/** What the option `asn` of `Resolver.open` is for these flags. */
export function asnOf({
  asn = false,
  asnDb,
}: FlagsOf<{ Location: typeof ASN }>): boolean | readonly string[] {
  return asnDb ?? asn
}

/** The files of the databases that a command reads, besides the embedded ones. */
export function databaseFiles({
  databases = [],
  asn,
}: {
  readonly databases?: readonly string[] | undefined
  readonly asn: boolean | readonly string[]
}): readonly string[] {
  return typeof asn === 'boolean' ? databases : [...databases, ...asn]
}

/** Vendors publish databases once a month or more often. */
export const DEFAULT_STALE_AFTER = 45

/** A century: a larger number is probably a typing error. */
const MAX_STALE_AFTER = 36_500

export const STALE_AFTER = {
  staleAfter: {
    flags: '--stale-after <days>',
    kind: wholeNumber(1, MAX_STALE_AFTER),
    text: `a database that was built more days ago is stale (default: ${DEFAULT_STALE_AFTER})`,
  },
} as const satisfies OptionDefinitions

export const TRUST = {
  trustedProxies: {
    flags: '--trust <list>',
    kind: LIST,
    text: 'trusted proxies: addresses, networks and names, separated by commas',
  },
  forwardedHeader: {
    flags: '--forwarded-header <name>',
    kind: TEXT,
    text: 'the header that the proxies write (default: `x-forwarded-for`)',
  },
} as const satisfies OptionDefinitions

export const LOOKUP_OPTIONS = {
  Options: {
    ...DB,
    ...ASN,
    ...LOCALE,
    at: {
      flags: '--at <time>',
      kind: INSTANT,
      text: 'the instant of the time-zone offset, such as `2026-07-01` (default: now). A time of the day needs `Z` or an offset: `2026-07-01T12:00:00Z`',
    },
    json: {
      flags: '--json',
      kind: SWITCH,
      text: 'print JSON on a terminal too, where a card is printed otherwise',
    },
    pretty: { flags: '--pretty', kind: SWITCH, text: 'indent the JSON' },
  },
} as const satisfies OptionGroups

export const INFO_OPTIONS = {
  Options: {
    db: {
      ...DB.db,
      text: 'describe this database (`.mmdb`, `.gz`, `.tar.gz` or packed) instead of the embedded one. You can repeat it',
    },
    ...STALE_AFTER,
    json: { flags: '--json', kind: SWITCH, text: 'print one JSON object a line' },
  },
} as const satisfies OptionGroups

export const PACK_OPTIONS = {
  Options: {
    output: { flags: '-o, --output <file>', kind: TEXT, text: 'write to this file', isRequired: true },
  },
} as const satisfies OptionGroups

const EDITED = {
  output: {
    ...PACK_OPTIONS.Options.output,
    text: 'write to this file: `.mmdb`, or `.gz`, or `.packed` for a packed database',
  },
} as const satisfies OptionDefinitions

export const SLIM_OPTIONS = {
  Options: {
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
      text: 'keep the networks in these countries, such as `DE,FR` (default: all). `EU` is its 27 member states, without territories that have a code of their own, such as `RE`',
    },
    ipv4Only: { flags: '--ipv4-only', kind: SWITCH, text: 'leave out IPv6 networks' },
    ...EDITED,
  },
} as const satisfies OptionGroups

export const OVERLAY_OPTIONS = {
  Options: {
    csv: {
      flags: '--csv <file>',
      kind: TEXT,
      text: 'the networks: CSV with a header and a column `network`',
      isRequired: true,
    },
    ...EDITED,
  },
} as const satisfies OptionGroups

export const ENGINE_OPTIONS = {
  Options: {
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
  },
} as const satisfies OptionGroups

export const DETECT_OPTIONS = {
  Options: {
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
  },
} as const satisfies OptionGroups

/**
 * Runs code that checks options.
 *
 * @param groups the options of the command
 * @param end what ends the message
 * @throws UsageError when an option is wrong; its message has flags
 */
export function inFlags<Result>(check: () => Result, groups: OptionGroups, end = ''): Result {
  try {
    return check()
  } catch (error) {
    if (!(error instanceof TypeError)) throw error
    const message =
      error instanceof OptionError ? error.inFlags((name) => flagOf(groups, name)) : error.message
    throw new UsageError(`${message}${end}`)
  }
}

function readHeader(line: string): readonly [name: string, value: string] {
  const colon = line.indexOf(':')
  if (colon < 1) throw new UsageError("Write it as 'X-Forwarded-For: 81.2.69.142'.")
  return [line.slice(0, colon), line.slice(colon + 1).trim()]
}

/**
 * Reads a path or a `file:` URL of a database.
 *
 * @throws UsageError for other URLs: geofix downloads nothing
 */
export function databasePath(text: string): string {
  // `C:\city.mmdb` is a path, not a URL.
  const [, scheme] = /^([a-z][a-z0-9+.-]+:)\/\//i.exec(text) ?? []
  if (text === '') throw new UsageError('Write the name of a file.')
  if (scheme === undefined) return text
  if (scheme.toLowerCase() !== 'file:') {
    throw new UsageError(`${scheme} URLs are not supported: download the file, then give its path.`)
  }
  try {
    return fileURLToPath(text)
  } catch (error) {
    throw new UsageError(`This is not a valid file URL: ${messageOf(error)}.`)
  }
}
