// The options of `geofix enrich`, and its help. What the library has too comes from its definitions. command-line.ts says what
// the options ask for together.
import { FORMATS, formatsWith } from '../../enrich/formats/formats.ts'
import { ADDRESS, FILTERS, INPUT, LOCATION, OPTIONS, OUTPUT, PRIVACY } from '../../enrich/line-options.ts'
import { OUTPUT_FORMS, TIME_KINDS } from '../../enrich/options.ts'
import type { TableForm } from '../../enrich/writing/separated-values.ts'
import {
  LOCALE,
  type OptionDefinitions,
  type OptionGroups,
  oneOf,
  SWITCH,
  TEXT,
  wholeNumber,
} from '../../option-kinds.ts'
import type { HelpTexts } from '../flags.ts'
import { ASN, DB, FILE, type FlagsOf, readBy } from '../options.ts'
import { UsageError } from '../terminal.ts'

/** A larger number is probably a typing error. */
const MAX_THREADS = 256

/** The form of the output that is not text. */
export const PARQUET = 'parquet'
export const TABLES = ['csv', 'tsv'] as const satisfies readonly TableForm[]
/** The forms of the output. Only the command has the others than the first. */
export const FORMS = [...OUTPUT_FORMS, 'json', ...TABLES, PARQUET] as const

const SUMMARY_FORMS = ['html', 'json', 'geojson'] as const

/** A summary to write. */
export interface SummaryTarget {
  readonly form: (typeof SUMMARY_FORMS)[number]
  readonly path: string
}

/** The options of `geofix engine columns`. */
export const COLUMNS_OPTIONS = {
  Options: {
    times: {
      flags: '--times <kind>',
      kind: oneOf(TIME_KINDS),
      text: `what requests have of the time of a row: ${TIME_KINDS.join(', ')}`,
      isRequired: true,
    },
    fields: {
      ...LOCATION.fields,
      text: 'the columns of a location, separated by commas, as for `geofix enrich`',
      isRequired: true,
    },
    at: {
      ...ADDRESS.at,
      text: 'the instant for the time-zone offset of rows without a time; without it their offset is unknown',
    },
    ...LOCALE,
    ...DB,
    ...ASN,
  },
} as const satisfies OptionGroups

/** The options that both commands have which read lines, and the library does not. */
export const READING = {
  output: {
    flags: '-o, --output <file>',
    kind: FILE,
    text: 'write to this file instead of standard output. It cannot be a file that the run reads. `.gz` and `.zst` are compressed',
    calls: ['enrich', 'count'],
  },
  format: {
    ...INPUT.format,
    kind: oneOf(FORMATS),
    text: `${INPUT.format.text}. The formats are ${FORMATS.map((format) => `\`${format}\``).join(', ')}`,
  },
  bom: {
    flags: '--bom',
    kind: SWITCH,
    text: 'begin a table with a byte order mark, without which Excel does not read it as UTF-8',
    calls: ['enrich', 'count'],
  },
  newKey: {
    flags: '--new-key',
    kind: SWITCH,
    needs: ['pseudonymKey'],
    text: 'with `--pseudonym`: make the file, with a new key. It must not exist',
  },
  threads: {
    flags: '--threads <n>',
    kind: wholeNumber(1, MAX_THREADS),
    text: 'the number of threads (default: 1, because two are not faster on two cores). The result is the same',
    calls: ['enrich', 'count'],
  },
} as const satisfies OptionDefinitions

const WRITES_NOTHING = 'exclude each other, because --explain writes no lines'

/** The options of `geofix enrich`. A test compares the tables in src/cli/enrich/README.md with them. */
export const ENRICH_OPTIONS = {
  Input: {
    ...INPUT,
    format: READING.format,
    // Rows have no header, and a command can say so.
    header: { ...INPUT.header, calls: ['enrich', 'rows'] },
    threads: READING.threads,
  },
  Output: {
    output: {
      ...READING.output,
      text: `${READING.output.text}. It has a temporary name, which ends in \`.partial\`, until it is complete, so that a killed run leaves no incomplete file under its own. The next run for the same output removes what a killed one left, and says so. \`/dev/stdout\`, \`/dev/fd/3\` and the like are written directly`,
    },
    ...OUTPUT,
    to: { ...OUTPUT.to, kind: oneOf(FORMS) },
    bom: READING.bom,
  },
  'Address and time': ADDRESS,
  Location: { ...LOCATION, asnDb: ASN.asnDb, ...DB },
  Privacy: { ...PRIVACY, newKey: READING.newKey },
  Filters: FILTERS,
  Statistics: {
    stats: {
      flags: '--stats <form>',
      kind: oneOf(['text', 'json', 'none']),
      text: 'print the statistics on standard error as `text`, `json` or `none` (default: `text`)',
      calls: ['enrich'],
    },
    summary: {
      flags: '--summary <form=path>',
      kind: readBy(readSummary),
      text: 'write a report: `html=FILE`, `json=FILE` or `geojson=FILE`. You can repeat it. `html` is a web page that loads nothing from the network; `json`, all figures as data; `geojson`, the cities as points. It has totals, a timeline, a map, countries, regions, cities, addresses, networks, their owners, and, of logs of requests, statuses, pages, referrers and browsers',
      isRepeatable: true,
      calls: ['enrich'],
    },
    title: {
      flags: '--title <text>',
      kind: TEXT,
      needs: ['summary'],
      text: 'the title of the report (default: the names of the inputs)',
      calls: ['enrich'],
    },
    addresses: {
      flags: '--no-addresses',
      kind: SWITCH,
      default: true,
      needs: ['summary'],
      text: 'name no address and no network in the report. Addresses are then only counted. This is so too where the output has none: `--mask`, `--pseudonym`, `--drop-address`',
      calls: ['enrich'],
    },
    explain: {
      flags: '--explain',
      kind: SWITCH,
      excludes: { output: WRITES_NOTHING, summary: WRITES_NOTHING, stats: WRITES_NOTHING },
      text: 'print what is recognised in each input and why, and the first located lines, and stop. Only the start of each input is read, and three lines are printed as they would be written. `geofix formats` prints all formats',
      calls: ['enrich'],
    },
    quiet: { flags: '--quiet', kind: SWITCH, text: 'print only errors, and `--stats` if given' },
  },
  'Other programs': {
    rows: {
      flags: '--rows',
      kind: SWITCH,
      text: 'give one row for each row of standard input, and guess nothing. See [Rows for other programs](../../engines/README.md#rows)',
    },
    quoting: { ...OPTIONS.quoting, needs: ['rows'] },
    chunkHeader: {
      flags: '--chunk-header',
      kind: SWITCH,
      needs: ['rows'],
      text: 'with `--rows`: each block of rows begins with a line that counts them. ClickHouse writes it with `send_chunk_header`',
    },
    writeChunkHeader: {
      flags: '--write-chunk-header',
      kind: SWITCH,
      needs: ['rows', 'chunkHeader'],
      text: 'with `--rows`: write these lines too, as tables of `ExecutablePool` read them',
    },
  },
} as const satisfies OptionGroups

export type EnrichFlags = FlagsOf<typeof ENRICH_OPTIONS>

export const ENRICH_HELP: HelpTexts = {
  mostUsed: ['output', 'to', 'append', 'field', 'fields', 'asn'],
  formatsOf: formatsWith,
  about: `FILE is NDJSON, CSV, TSV, an access log (common or combined format), a W3C Extended log (IIS, CloudFront), a log of
Zeek, a table separated by spaces (VPC flow logs), a list of addresses, any other text with addresses in it, or Parquet. It can
be compressed with gzip, or with Zstandard if this version of Node supports it. - is standard input. Several files
give one output; CSV then has one header. An output cannot be one of them. Lines without a location get null or
empty columns; text stays as it is. src/enrich/README.md of the package is the guide.`,
  examples: [
    'geofix enrich access.log -o places.ndjson',
    'geofix enrich access.log --append --fields country_code,city -o places.log',
    'geofix enrich visits.csv --field remote_addr --fields country_code,city -o visits-with-places.csv',
    'geofix enrich events.ndjson --field client.ip --time-field ts --into place > out.ndjson',
    'geofix enrich access.log -o access.csv --bom --fields country_code,city',
    'geofix enrich auth.log --asn',
    'geofix enrich --append access.log.*.gz -o access-with-places.log.gz',
    'geofix enrich cloudtrail.json.gz -o located.json',
    "geofix enrich auth.log --annotate '{ip} ({city}, {country_name})'",
    'geofix enrich auth.log -o logins.ndjson',
    'geofix enrich access.log --mask 24,48 -o public.ndjson',
    'geofix enrich events.parquet -o located.parquet',
    'geofix enrich proxy.ndjson --field x_forwarded_for --trust 10.0.0.0/8 -o out.ndjson.gz',
    'geofix enrich access.log -o places.ndjson --summary html=report.html --quiet --stats json 2> stats.json',
    'tail -F access.log | geofix enrich --format access-log',
    'geofix enrich --rows --format tsv --quoting none --field 1 --at 2026-07-01 < rows.tsv',
  ],
  statuses: `Exit status: 0 done, also if some lines have no location or the reader of a pipe stops early; 1 the lines or a
database are not usable, or a bad line with --on-bad-line fail; 2 wrong usage; 3 an output cannot be written; 4 an
input cannot be read or is damaged; 129, 130, 143 ended by SIGHUP, SIGINT, SIGTERM.
A run with another status than 0 leaves no output file. A file that existed before is unchanged.`,
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
