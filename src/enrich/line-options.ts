// The options of lines, rows and counts. One definition each serves the library and the commands.
import {
  ASN_SWITCH,
  INSTANT,
  LIST,
  type LineCall,
  LOCALE,
  NAME,
  type OptionDefinitions,
  type OptionKind,
  oneOf,
  SWITCH,
  TEXT,
  wholeNumber,
} from '../option-kinds.ts'
import { isUint8Array } from '../realm.ts'
import { COUNT_KEYS, DEFAULT_MAX_GROUPS, MOST_GROUPS } from './count-plan.ts'
import {
  ALL_FIELDS,
  ASN_FIELDS,
  DEFAULT_LINE_BYTES,
  DEFAULT_RECORD_LINES,
  INTO,
  LOCATION_FIELDS,
  type LocationField,
  MAX_LINE_BYTES,
  ON_BAD_LINE,
  OUTPUT_FORMS,
  QUOTING,
} from './options.ts'

const MAX_RECORD_LINES = 2 ** 20
/** The largest number of an address in a line of text. */
const MOST_ADDRESSES = 10_000
/** Shorter keys of pseudonyms can be guessed. */
const MIN_KEY_BYTES = 16
/** How text shows an address and its place. */
export const ANNOTATION = '{ip} [{country_code} {city}]'

const FIELDS: OptionKind<readonly LocationField[]> = {
  what: `some of ${ALL_FIELDS.join(', ')}, each once`,
  accepts: (value) => Array.isArray(value) && fieldsOf(value) !== undefined,
  read: (text) => fieldsOf(text.split(',').map((name) => name.trim())),
}

function fieldsOf(names: readonly unknown[]): LocationField[] | undefined {
  const fields = ALL_FIELDS.filter((field) => names.includes(field))
  return fields.length === names.length && names.length > 0
    ? fields.sort((one, other) => names.indexOf(one) - names.indexOf(other))
    : undefined
}

const MASK: OptionKind<readonly [ipv4: number, ipv6: number]> = {
  what: 'the bits to keep of IPv4 addresses, 0 to 31, and of IPv6 addresses, 0 to 127, such as 24 and 48',
  write: 'the bits to keep of IPv4, 0 to 31, and of IPv6, 0 to 127, as in 24,48',
  accepts: (value) => Array.isArray(value) && bitsOf(value) !== undefined,
  read: (text) => bitsOf(text.split(',').map((bits) => (/^\d{1,3}$/.test(bits) ? Number(bits) : undefined))),
}

function bitsOf([ipv4, ipv6, ...others]: readonly unknown[]): readonly [number, number] | undefined {
  const isBits = (bits: unknown, most: number): bits is number =>
    typeof bits === 'number' && Number.isInteger(bits) && bits >= 0 && bits < most
  return isBits(ipv4, 32) && isBits(ipv6, 128) && others.length === 0 ? [ipv4, ipv6] : undefined
}

const KEY: OptionKind<string> = {
  what: `a Uint8Array of ${MIN_KEY_BYTES} bytes or more`,
  write: 'the name of a file',
  accepts: (value) => isUint8Array(value) && value.length >= MIN_KEY_BYTES,
  read: (text) => (text === '' ? undefined : text),
}

const WRITTEN = ['enrich', 'rows'] as const
const READ = ['enrich', 'count'] as const
const EACH_OTHER = 'exclude each other'

export const INPUT = {
  format: {
    flags: '--format <name>',
    // The formats check the name, because they are in a higher layer than this file.
    kind: TEXT,
    text: 'the format of the input (default: detected)',
  },
  logFormat: {
    flags: '--log-format <directive>',
    kind: NAME,
    text: `how the server writes a line: nginx's \`log_format\` or Apache's \`LogFormat\`, in quotes. It is the directive as it stands in the configuration, such as \`'$remote_addr - $remote_user [$time_local] "$request" $status'\` or \`'%h %l %u %t "%r" %>s %b'\`. Quote it for the shell`,
  },
  header: {
    flags: '--no-header',
    kind: SWITCH,
    default: true,
    text: 'the first line of the table is not a header',
    calls: READ,
  },
  onBadLine: {
    flags: '--on-bad-line <action>',
    kind: oneOf(ON_BAD_LINE),
    text: 'what to do with lines that cannot be read: `raw`, `keep`, `drop` or `fail` (default: `raw`). `raw` writes `{"raw":"…","location":null}` where the output is NDJSON made from another format, and otherwise does as `keep`, which leaves the line unchanged',
    calls: WRITTEN,
  },
  maxLineBytes: {
    flags: '--max-line-bytes <n>',
    kind: wholeNumber(1, MAX_LINE_BYTES),
    text: `longer lines are bad lines, and are never held in memory (default: ${DEFAULT_LINE_BYTES})`,
  },
  maxRecordLines: {
    flags: '--max-record-lines <n>',
    kind: wholeNumber(1, MAX_RECORD_LINES),
    default: DEFAULT_RECORD_LINES,
    text: `the most lines of a record with line ends in quotes (default: ${DEFAULT_RECORD_LINES}). Beyond, its first line is a bad line, and the next one begins a record`,
    calls: READ,
  },
} as const satisfies OptionDefinitions

export const OUTPUT = {
  to: {
    flags: '--to <form>',
    kind: oneOf(OUTPUT_FORMS),
    text: 'the form of the output: `ndjson`, `json`, `csv`, `tsv` or `parquet` (default: by its name). `ndjson` is one object a line. `json` is an array of these objects, but one JSON document keeps its own form. `csv` and `tsv` are tables of the fields of the log and of the location, see [Tables](../../enrich/README.md#tables-of-every-log). The name of the output says which (`.ndjson`, `.jsonl`, `.json`, `.csv`, `.tsv`, `.parquet`), otherwise the format does. A name with another ending is an error, except `.log`, `.txt`, `.out` and the ending of an input',
    calls: WRITTEN,
  },
  append: {
    flags: '--append',
    kind: SWITCH,
    text: 'keep each line as it is, and add a tab and the location as JSON after it. With `--fields`, the columns are added, each after a tab',
    calls: WRITTEN,
  },
  annotate: {
    flags: '--annotate <form>',
    kind: TEXT,
    text: `how an address is written with its place (default: \`${ANNOTATION}\`). \`{ip}\` is the address as it stands in the line, with its port; the others are the columns of \`--fields\``,
    calls: WRITTEN,
  },
  overwrite: {
    flags: '--overwrite',
    kind: SWITCH,
    text: 'replace a member or columns that have the name of what is added. Otherwise they are an error',
    calls: WRITTEN,
  },
} as const satisfies OptionDefinitions

export const ADDRESS = {
  field: {
    flags: '--field <name>',
    kind: NAME,
    isRepeatable: true,
    text: 'the field with the address, such as `client.ip` or `3` (default: detected, and printed). In NDJSON it is `client.ip` or `/client/ip`; in tables, the name or number of a column; in access logs `1` or `2`, the first or the second word, or `x_forwarded_for`, if the format has it as another quoted field after the user agent. To locate several addresses of a line, give each a name, as of `--into`: `--field src_ip=source --field dest_ip=target`. If the name of a field has a `=`, write another `=` after it',
  },
  trustedProxies: {
    flags: '--trust <list>',
    kind: LIST,
    text: 'the field is an `X-Forwarded-For` list, written by these trusted proxies. The rules of [`detect`](../../client/README.md#how-the-client-is-found) apply',
  },
  nth: {
    flags: '--nth <n>',
    kind: wholeNumber(1, MOST_ADDRESSES),
    text: "locate only the Nth address of each line, from 1, public or not. Default: all public addresses; where only one is located, the first public one that can be the client's",
  },
  timeField: {
    flags: '--time-field <name>',
    kind: NAME,
    text: 'the field with the time of the event, for the time-zone offset and for counts (default: detected). The choice is printed. The time is ISO 8601 with an offset, or seconds, milliseconds, microseconds or nanoseconds since 1970. Access logs have their own',
  },
  at: {
    flags: '--at <time>',
    kind: INSTANT,
    text: 'the instant for the time-zone offset of lines without a time (default: none). Without it, their offset is `null`',
  },
  force: {
    flags: '--force',
    kind: SWITCH,
    text: 'go on if none of the first 1,000 records has an address. Otherwise that is an error',
    calls: READ,
  },
} as const satisfies OptionDefinitions

export const LOCATION = {
  fields: {
    flags: '--fields <list>',
    kind: FIELDS,
    text: `what is added of a location, such as \`country_code,city\` (default: everything). The names are those of columns, or in JSON of the members of the location (default: all columns, or the whole record): ${LOCATION_FIELDS.map((field) => `\`${field}\``).join(', ')}, and with \`--asn\` ${ASN_FIELDS.map((field) => `\`${field}\``).join(', ')}`,
    calls: WRITTEN,
  },
  into: {
    flags: '--into <name>',
    kind: { ...NAME, accepts: (value: unknown) => typeof value === 'string' && value !== '' },
    text: `the name of the member that is added (default: \`${INTO}\`). In tables, how the names of the added columns begin: \`src\` for \`src_country_code\``,
    calls: WRITTEN,
  },
  ...LOCALE,
  asn: { ...ASN_SWITCH, calls: WRITTEN },
} as const satisfies OptionDefinitions

export const PRIVACY = {
  mask: {
    flags: '--mask <bits>',
    kind: MASK,
    excludes: { dropAddress: EACH_OTHER, pseudonymKey: EACH_OTHER },
    text: 'keep only the first bits of each address in the output, of IPv4 and of IPv6 as in `24,48`. The address of the line, all others in it, and that of the location are masked, see [Logs to hand on](../../enrich/README.md#logs-to-hand-on)',
    calls: WRITTEN,
  },
  dropAddress: {
    flags: '--drop-address',
    kind: SWITCH,
    excludes: { pseudonymKey: EACH_OTHER },
    text: 'write `-` in place of each address in the output',
    calls: WRITTEN,
  },
  pseudonymKey: {
    flags: '--pseudonym <keyfile>',
    kind: KEY,
    text: 'write a name such as `ip-4a7e…` in place of each address in the output. An address always has the same name: its HMAC-SHA-256 with the key in this file, 64 hexadecimal digits',
    calls: WRITTEN,
  },
} as const satisfies OptionDefinitions

export const FILTERS = {
  onlyFailed: {
    flags: '--only-failed',
    kind: SWITCH,
    excludes: { dropUnresolved: 'leave nothing to write' },
    text: 'write only lines without a location, including unreadable lines',
    calls: WRITTEN,
  },
  dropUnresolved: {
    flags: '--drop-unresolved',
    kind: SWITCH,
    text: 'leave out lines without a location',
    calls: WRITTEN,
  },
  onlyCountries: {
    flags: '--only-country <list>',
    kind: LIST,
    excludes: { notCountries: EACH_OTHER },
    text: 'only lines in these countries, such as `DE,FR`, or `EU` for its 27 member states. Lines without a location are left out too. `EU` has no territories with a code of their own, such as `RE`',
    calls: READ,
  },
  notCountries: {
    flags: '--not-country <list>',
    kind: LIST,
    text: 'no lines in these countries, written as in `--only-country`. Lines without a location stay',
    calls: READ,
  },
} as const satisfies OptionDefinitions

export const COUNTING = {
  by: {
    flags: '--by <keys>',
    kind: LIST,
    text: `count the lines with the same values of these keys (default: \`country\`). They are separated by commas: ${COUNT_KEYS.map((key) => `\`${key}\``).join(', ')}, or fields of the log, such as \`status\` or \`/user/plan\``,
    calls: ['count'],
  },
  top: {
    flags: '--top <n>',
    kind: wholeNumber(1, 1_000_000_000),
    text: 'print only the N largest rows. If a time is among the keys, print the N largest values of the other keys, with all of their times',
    calls: ['count'],
  },
  unique: {
    flags: '--unique',
    kind: SWITCH,
    text: 'count the distinct addresses of each row too',
    calls: ['count'],
  },
  timeZone: {
    flags: '--time-zone <zone>',
    kind: TEXT,
    text: 'the time zone of `hour`, `day`, `weekday` and `month`, such as `Europe/Berlin` (default: UTC)',
    calls: ['count'],
  },
  maxGroups: {
    flags: '--max-groups <n>',
    kind: wholeNumber(1, MOST_GROUPS),
    text: `the most rows that are counted, which bounds memory (default: ${DEFAULT_MAX_GROUPS}). Lines of later groups are counted together, and a note says so`,
    calls: ['count'],
  },
} as const satisfies OptionDefinitions

/** All options, by their names in the library. */
export const OPTIONS = {
  ...INPUT,
  ...OUTPUT,
  ...ADDRESS,
  ...LOCATION,
  ...PRIVACY,
  ...FILTERS,
  ...COUNTING,
  details: { kind: SWITCH, calls: ['enrich'] },
  quoting: {
    flags: '--quoting <kind>',
    kind: oneOf(QUOTING),
    text: 'with `--rows`, for CSV and TSV: `double` or `none`. `double` if fields can be quoted (RFC 4180), `none` if quotes are text and a backslash escapes',
    calls: ['rows'],
  },
} as const satisfies OptionDefinitions

/** The options of a call, by their names. */
export function optionsOf(call: LineCall): OptionDefinitions {
  const all: OptionDefinitions = OPTIONS
  return Object.fromEntries(Object.entries(all).filter(([, { calls }]) => calls?.includes(call) !== false))
}
