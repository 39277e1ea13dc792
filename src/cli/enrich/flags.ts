// The options of `geofix enrich`: what each is called, what it does, how its value is read, and which formats have it.
// command-line.ts says what they ask for together.
import type { FormatOption } from '../../enrich/formats/format-definition.ts'
import { definitionOf, FORMATS } from '../../enrich/formats/formats.ts'
import { QUOTING } from '../../enrich/formats/row-options.ts'
import { ANNOTATION } from '../../enrich/formats/text/annotation.ts'
import { MOST_ADDRESSES } from '../../enrich/formats/text/text.ts'
import {
  ALL_FIELDS,
  LOCATION_FIELDS,
  type LocationField,
  ON_BAD_LINE,
  OUTPUT_FORMS,
  TIME_KINDS,
} from '../../enrich/options.ts'
import type { OptionError } from '../../option-names.ts'
import {
  ASN,
  DB,
  type FlagsOf,
  LOCALE,
  type OptionDefinition,
  oneOf,
  readInstant,
  readList,
  wholeNumber,
} from '../options.ts'
import { UsageError } from '../terminal.ts'
import type { TableForm } from './rows/separated-values.ts'
import { SUMMARY_FORMS, type SummaryTarget } from './summary-outputs.ts'

/** A larger number is probably a typing error. */
const MAX_THREADS = 256

/** The form of the output that is not text. */
export const PARQUET = 'parquet'
export const TABLES = ['csv', 'tsv'] as const satisfies readonly TableForm[]
/** The forms of the output. Only the command has the others than the first. */
export const FORMS = [...OUTPUT_FORMS, 'json', ...TABLES, PARQUET] as const

const STATISTICS = ['text', 'json', 'none'] as const

const FIELDS = {
  flags: '--fields <list>',
  text: `what is added of a location, separated by commas: columns, or in JSON the members of the location (default: all columns, or the whole record): ${LOCATION_FIELDS.map((field) => `\`${field}\``).join(', ')}, and with \`--asn\` \`asn_number\`, \`asn_organization\``,
  read: readFields,
} as const satisfies OptionDefinition

/** The options of `geofix engine columns`. */
export const COLUMNS_OPTIONS = [
  {
    flags: '--times <kind>',
    text: `what requests have of the time of a row: ${TIME_KINDS.join(', ')}`,
    read: oneOf(TIME_KINDS),
    isRequired: true,
  },
  {
    ...FIELDS,
    text: 'the columns of a location, separated by commas, as for `geofix enrich`',
    isRequired: true,
  },
  {
    flags: '--at <time>',
    text: 'the instant for the time-zone offset of rows without a time; without it their offset is unknown',
    read: readInstant,
  },
  ...LOCALE,
  DB,
  ...ASN,
] as const satisfies readonly OptionDefinition[]

/** The options of `geofix enrich`. A test compares the table in src/cli/enrich/README.md with them. */
export const ENRICH_OPTIONS = [
  {
    flags: '-o, --output <file>',
    text: 'write to this file instead of standard output. It has a temporary name, which ends in `.partial`, until it is complete, so that a killed run leaves no incomplete file under its own. The next run for the same output removes what a killed one left, and says so. `.gz` and `.zst` are compressed. `/dev/stdout`, `/dev/fd/3` and the like are written directly',
    read: readFile,
  },
  {
    flags: '--format <name>',
    text: `the format of the input: ${FORMATS.map((format) => `\`${format}\``).join(', ')} (default: detected)`,
    read: oneOf(FORMATS),
  },
  {
    flags: '--field <name>',
    text: 'the field with the address (default: detected, and printed): `client.ip` or `/client/ip` in NDJSON, the name or number of a column in tables; in access logs `1` or `2`, the first or the second word, or `x_forwarded_for`, if the format has it as another quoted field after the user agent. `--field src_ip=source --field dest_ip=target` locates several addresses of NDJSON, JSON and tables, each under a name as of `--into`. A name of a field with `=` needs `=` at its end',
    read: readName,
    isRepeatable: true,
    ...formatsWith('field'),
  },
  {
    flags: '--trust <list>',
    text: 'the field is an `X-Forwarded-For` list, written by these trusted proxies; the rules of [`detect`](../../client/README.md#how-the-client-is-found) apply',
    read: readList,
  },
  { flags: '--no-header', text: 'the first line of the table is not a header', ...formatsWith('header') },
  {
    flags: '--into <name>',
    text: 'the name of the member that is added (default: `location`). In tables, how the names of the added columns begin: `src` for `src_country_code`',
    read: readName,
  },
  FIELDS,
  {
    flags: '--append',
    text: 'keep the line as it is, and add a tab and the location as JSON after it, or the columns of `--fields`, each after a tab',
    ...formatsWith('append'),
  },
  {
    flags: '--annotate <form>',
    text: `how an address is written with its place (default: \`${ANNOTATION}\`). \`{ip}\` is the address as it stands in the line, with its port; the others are the columns of \`--fields\``,
    ...formatsWith('annotate'),
  },
  {
    flags: '--nth <n>',
    text: "locate only the address with this number in each line, from 1, public or not (default: all public addresses; where only one is located, the first public one that can be the client's)",
    read: wholeNumber(1, MOST_ADDRESSES),
    ...formatsWith('nth'),
  },
  {
    flags: '--to <form>',
    text: 'the form of the output, for every format: `ndjson`, one object a line; `json`, an array of these objects, while one JSON document keeps its own form; `csv` or `tsv`, a table whose columns are the fields of the log and of the location, see [Tables](../../enrich/README.md#tables-of-every-log); or `parquet`. Default: by the name of the output (`.ndjson`, `.jsonl`, `.json`, `.csv`, `.tsv`, `.parquet`), otherwise that of the format. A name with another ending is an error, except `.log`, `.txt`, `.out` and the ending of an input',
    read: oneOf(FORMS),
  },
  {
    flags: '--bom',
    text: 'begin a table with a byte order mark, without which Excel does not read it as UTF-8',
  },
  {
    flags: '--log-format <directive>',
    text: "how the server writes a line, as its configuration says it: nginx's `log_format`, such as `'$remote_addr - $remote_user [$time_local] \"$request\" $status'`, or Apache's `LogFormat`, such as `'%h %l %u %t \"%r\" %>s %b'`. Quote it for the shell",
    read: readName,
    ...formatsWith('logFormat'),
  },
  {
    flags: '--overwrite',
    text: 'replace a member or columns of the same name, which are an error otherwise',
    ...formatsWith('overwrite'),
  },
  {
    flags: '--force',
    text: 'continue if none of the first 1,000 records has an address, which is an error otherwise',
  },
  {
    flags: '--time-field <name>',
    text: 'the field with the time of the event, for the time-zone offset (default: detected, and printed): ISO 8601 with an offset, or seconds, milliseconds, microseconds or nanoseconds since 1970. Access logs have their own',
    read: readName,
    ...formatsWith('timeField'),
  },
  {
    flags: '--at <time>',
    text: 'the instant for the time-zone offset of lines without a time; without it their offset is `null`',
    read: readInstant,
  },
  ...LOCALE,
  ...ASN,
  DB,
  {
    flags: '--on-bad-line <action>',
    text: 'what to do with lines that cannot be read: `raw` (default: `{"raw":"…","location":null}` where the output is NDJSON made from another format, otherwise as `keep`), `keep` (unchanged), `drop` or `fail`',
    read: oneOf(ON_BAD_LINE),
  },
  {
    flags: '--mask <bits>',
    text: 'keep only the first bits of each address in the output, of IPv4 and of IPv6 as in `24,48`: the address of the line, all others in it, and that of the location, see [Logs to hand on](../../enrich/README.md#logs-to-hand-on)',
    read: readMask,
  },
  { flags: '--drop-address', text: 'write `-` in place of each address in the output' },
  {
    flags: '--pseudonym <keyfile>',
    text: 'write a name such as `ip-4a7e…` in place of each address in the output, always the same for the same address: its HMAC-SHA-256 with the key in this file, 64 hexadecimal digits',
    read: readFile,
  },
  { flags: '--new-key', text: 'with `--pseudonym`: make the file, with a new key. It must not exist' },
  { flags: '--only-failed', text: 'write only lines without a location, including unreadable lines' },
  { flags: '--drop-unresolved', text: 'leave out lines without a location' },
  {
    flags: '--only-country <list>',
    text: 'only lines in these countries, such as `DE,FR`. Lines without a location are left out too. `EU` is its 27 member states, without territories that have a code of their own, such as `RE`',
    read: readList,
  },
  {
    flags: '--not-country <list>',
    text: 'no lines in these countries, written as in `--only-country`. Lines without a location stay',
    read: readList,
  },
  {
    flags: '--max-line-bytes <n>',
    text: 'longer lines are bad lines, and are never held in memory (default: 1048576)',
    read: wholeNumber(1, 2 ** 28),
  },
  {
    flags: '--max-record-lines <n>',
    text: 'the most lines of a record with line ends in quotes: beyond, its first line is a bad line, and the next one begins a record (default: 1000)',
    read: wholeNumber(1, 2 ** 20),
    ...formatsWith('maxRecordLines'),
  },
  {
    flags: '--threads <n>',
    text: 'the number of threads (default: 1, because two are not faster on two cores). The output is the same',
    read: wholeNumber(1, MAX_THREADS),
  },
  {
    flags: '--stats <form>',
    text: 'print the statistics on standard error as `text`, `json` or `none` (default: `text`)',
    read: oneOf(STATISTICS),
  },
  {
    flags: '--summary <form=path>',
    text: 'write a report: `html=FILE`, a web page that loads nothing from the network; `json=FILE`, all figures as data; or `geojson=FILE`, the cities as points. You can repeat it. It has totals, a timeline, a map, countries, regions, cities, addresses, networks, their owners, and, of logs of requests, statuses and pages',
    read: readSummary,
    isRepeatable: true,
  },
  {
    flags: '--title <text>',
    text: 'the title of the report (default: the names of the inputs)',
  },
  {
    flags: '--no-addresses',
    text: 'name no address and no network in the report. Addresses are then only counted. This is so too where the output has none: `--mask`, `--pseudonym`, `--drop-address`',
  },
  {
    flags: '--explain',
    text: 'read the start of each input, print what is recognised and why, and the first three located lines as they would be written, and stop. `geofix formats` prints all formats',
  },
  { flags: '--quiet', text: 'print only errors, and `--stats` if given' },
  {
    flags: '--rows',
    text: 'give one row for each row of standard input, and guess nothing: see [Rows for other programs](../../engines/README.md#rows)',
  },
  {
    flags: '--quoting <kind>',
    text: 'with `--rows`, for CSV and TSV: `double` if fields can be quoted (RFC 4180), `none` if quotes are text and a backslash escapes',
    read: oneOf(QUOTING),
  },
  {
    flags: '--chunk-header',
    text: 'with `--rows`: each block of rows begins with a line that counts them, as `send_chunk_header` of ClickHouse writes it',
  },
  {
    flags: '--write-chunk-header',
    text: 'with `--rows`: write these lines too, as tables of `ExecutablePool` read them',
  },
] as const satisfies readonly OptionDefinition[]

export type EnrichFlags = FlagsOf<typeof ENRICH_OPTIONS>

/** The flag of an option by its name in {@link EnrichFlags}: `--time-field` for `timeField`. */
export function optionOf(name: string): string {
  return `--${name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`
}

/** The flags of options whose names in the library are others. */
const OTHER_FLAGS: Readonly<Record<string, string | undefined>> = {
  trustedProxies: '--trust',
  onlyCountries: '--only-country',
  notCountries: '--not-country',
}

/** The message of an error about options of the library, with the names that the command has for them. */
export function inFlags(
  error: OptionError,
  definitions: readonly OptionDefinition[] = ENRICH_OPTIONS,
): string {
  const flagOf = (name: string): string | undefined => {
    const option = OTHER_FLAGS[name] ?? optionOf(name)
    return definitions.some(({ flags }) => flags.split(/,? /).includes(option)) ? option : undefined
  }
  return error.inFlags(flagOf)
}

/** An option that only some formats have. */
export function formatsWith(option: FormatOption): Pick<OptionDefinition, 'option' | 'formats'> {
  return { option, formats: FORMATS.filter((format) => definitionOf(format).options.includes(option)) }
}

/** What `geofix enrich --help` prints after the options. */
export const ENRICH_HELP = `
FILE is NDJSON, CSV, TSV, an access log (common or combined format), a W3C Extended log (IIS, CloudFront), a log of
Zeek, a table separated by spaces (VPC flow logs), a list of addresses, any other text with addresses in it, or Parquet. It can
be compressed with gzip, or with Zstandard if this version of Node supports it. - is standard input. Several files
give one output; CSV then has one header. The output can be one of the inputs. Lines without a location get null or
empty columns; text stays as it is.

Examples:
  geofix enrich access.log -o places.ndjson
  geofix enrich --append access.log.*.gz -o access-with-places.log.gz
  geofix enrich access.log --append --fields country_code,city -o places.log
  geofix enrich cloudtrail.json.gz -o located.json
  geofix enrich events.ndjson --field client.ip --time-field ts --into place > out.ndjson
  geofix enrich visits.csv --field remote_addr --fields country_code,city -o visits-with-places.csv
  geofix enrich auth.log --annotate '{ip} ({city}, {country_name})'
  geofix enrich auth.log -o logins.ndjson
  geofix enrich access.log -o access.csv --bom --fields country_code,city
  geofix enrich auth.log --asn
  geofix enrich access.log --mask 24,48 -o public.ndjson
  geofix enrich events.parquet -o located.parquet
  geofix enrich proxy.ndjson --field x_forwarded_for --trust 10.0.0.0/8 -o out.ndjson.gz
  geofix enrich access.log -o places.ndjson --summary html=report.html --quiet --stats json 2> stats.json
  tail -F access.log | geofix enrich --format access-log
  geofix enrich --rows --format tsv --quoting none --field 1 --at 2026-07-01 < rows.tsv

Exit status: 0 done, also if some lines have no location or the reader of a pipe stops early; 1 the lines or a
database are not usable, or a bad line with --on-bad-line fail; 2 wrong usage; 3 an output cannot be written; 4 an
input cannot be read or is damaged; 129, 130, 143 ended by SIGHUP, SIGINT, SIGTERM.
A run with another status than 0 leaves no output file. A file that existed before is unchanged.`

function readName(text: string): string {
  if (text === '') throw new UsageError('Write a name, such as location.')
  return text
}

function readFile(text: string): string {
  if (text === '') throw new UsageError('Write the name of a file, or - for standard output.')
  return text
}

function readFields(text: string): LocationField[] {
  const fields = text.split(',').map((name) => ALL_FIELDS.find((field) => field === name.trim()))
  const known = fields.filter((field) => field !== undefined)
  if (known.length < fields.length || new Set(known).size < known.length) {
    throw new UsageError(`Write some of ${ALL_FIELDS.join(',')}, each once.`)
  }
  return known
}

function readMask(text: string): readonly [number, number] {
  const [, ipv4, ipv6] = /^(\d{1,3}),(\d{1,3})$/.exec(text) ?? []
  const bits = [Number(ipv4), Number(ipv6)] as const
  if (bits[0] < 32 && bits[1] < 128) return bits
  throw new UsageError('Write the bits to keep of IPv4, 0 to 31, and of IPv6, 0 to 127, as in 24,48.')
}

function readSummary(text: string): SummaryTarget {
  const [, name, path] = /^(\w+)=(.+)$/s.exec(text) ?? []
  const form = SUMMARY_FORMS.find((each) => each === name)
  if (form === undefined || path === undefined)
    throw new UsageError(
      'Write it as html=report.html, json=report.json or geojson=cities.geojson. geofix count writes CSV and Markdown.',
    )
  return { form, path }
}
