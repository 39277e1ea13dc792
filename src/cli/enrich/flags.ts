import { availableParallelism } from 'node:os'
import { resolve } from 'node:path'
import {
  FORMATS,
  type Format,
  LOCATION_FIELDS,
  type LocationField,
  ON_BAD_LINE,
  type OnBadLine,
} from '../../enrich/options.ts'
import { UsageError } from '../terminal.ts'
import type { EnrichCommand } from './enrich-command.ts'

/** Below this, starting further threads takes longer than they save. Bytes of input. */
const SMALL = 32 * 1024 * 1024

/** More threads than any machine has are a slip. */
const MAX_THREADS = 256

const STATISTICS = ['text', 'json', 'none'] as const

/** The options of `geofix enrich`, as commander gives them. */
export interface EnrichFlags {
  readonly output?: string
  readonly format?: Format
  readonly field?: string
  readonly header: boolean
  readonly into?: string
  readonly fields?: readonly LocationField[]
  readonly append?: boolean
  readonly overwrite?: boolean
  readonly force?: boolean
  readonly timeField?: string
  readonly at?: Date
  readonly locale?: string
  readonly db?: readonly string[]
  readonly trust?: readonly string[]
  readonly onBadLine?: OnBadLine
  readonly onlyFailed?: boolean
  readonly dropUnresolved?: boolean
  readonly maxLineBytes?: number
  readonly threads?: number
  readonly stats?: EnrichCommand['statistics']
  readonly summary?: string
  readonly quiet?: boolean
}

/** An option of the command line. */
export interface EnrichFlag {
  readonly flags: string
  readonly description: string
  /** Reads a value that is not a text as it stands. @throws UsageError with the sentence that says what to write */
  readonly read?: (text: string) => unknown
}

/** Those that only this command has. */
export const ENRICH_FLAGS: readonly EnrichFlag[] = [
  {
    flags: '-o, --output <file>',
    description:
      'write to a file, which gets its name when it is whole; .gz and .zst are compressed (default: standard output)',
    read: readFile,
  },
  {
    flags: '--format <name>',
    description: `${FORMATS.join(', ')} (default: told by the content)`,
    read: oneOf(FORMATS),
  },
  {
    flags: '--field <name>',
    description:
      'where the address is: client.ip or /client/ip for NDJSON, a name or number of a column for CSV and TSV (default: guessed, and printed)',
    read: readName,
  },
  { flags: '--no-header', description: 'CSV, TSV: the first line is no header' },
  {
    flags: '--into <name>',
    description: 'name of the member that is added (default: location)',
    read: readName,
  },
  {
    flags: '--fields <list>',
    description: `CSV, TSV: the columns that are added, with commas between (default: all, ${LOCATION_FIELDS.join(', ')})`,
    read: readFields,
  },
  {
    flags: '--append',
    description: 'access logs, lists: keep the line as it is, with a tab and the location behind it',
  },
  {
    flags: '--overwrite',
    description: 'replace a member or columns that are there already, which is an error otherwise',
  },
  {
    flags: '--force',
    description: 'go on where none of the first 1,000 records has an address, which is an error otherwise',
  },
  {
    flags: '--time-field <name>',
    description:
      'where the time of the event is, as --field: ISO 8601 with an offset, or seconds to nanoseconds since 1970 (default: guessed, and printed)',
    read: readName,
  },
  {
    flags: '--on-bad-line <what>',
    description:
      'a line that cannot be read: raw, which is {"raw":…,"location":null} where lines become NDJSON, and keep otherwise; keep as it is; drop; or fail (default: raw)',
    read: oneOf(ON_BAD_LINE),
  },
  { flags: '--only-failed', description: 'write only lines without a location, unreadable ones among them' },
  { flags: '--drop-unresolved', description: 'leave out lines without a location' },
  {
    flags: '--max-line-bytes <number>',
    description: 'longer lines are bad lines (default: 1048576)',
    read: wholeNumber(1, 2 ** 28),
  },
  {
    flags: '--threads <number>',
    description: 'threads that enrich (default: all cores; one for small inputs)',
    read: wholeNumber(1, MAX_THREADS),
  },
  {
    flags: '--stats <form>',
    description: 'what was counted, on standard error: text, json or none (default: text)',
    read: oneOf(STATISTICS),
  },
  { flags: '--summary <html=file>', description: 'write a report as a web page', read: readSummary },
  { flags: '--quiet', description: 'nothing on standard error but errors, and --stats where given' },
]

export const ENRICH_EXAMPLES = `
FILE is NDJSON, CSV, TSV, an access log (common or combined) or a list of addresses, also gzip or, where Node can,
Zstandard; - is standard input. Several files are one output: CSV has one header then. An output may be one of the
inputs. Lines without a location are written with null or empty columns.

Examples:
  geofix enrich access.log -o places.ndjson
  geofix enrich --append access.log.*.gz -o access-with-places.log.gz
  geofix enrich events.ndjson --field client.ip --time-field ts --into place > out.ndjson
  geofix enrich visits.csv --field remote_addr --fields country_code,city -o visits-with-places.csv
  geofix enrich proxy.ndjson --field x_forwarded_for --trust 10.0.0.0/8 -o out.ndjson.gz
  geofix enrich access.log -o places.ndjson --summary html=report.html --quiet --stats json 2> stats.json
  tail -F access.log | geofix enrich --format access-log

Exit status: 0 done, whether or not all lines have a location (also when the reader of a pipe has had enough);
1 the lines or a database are not what they must be, or a bad line with --on-bad-line fail; 2 wrong usage; 3 an
output cannot be written; 4 an input cannot be read or is damaged; 129, 130, 143 ended by SIGHUP, SIGINT, SIGTERM.
A run that does not end with 0 leaves no output file; one that was there before stays.`

/** @throws UsageError when options do not go together */
export function enrichCommand(files: readonly string[], flags: EnrichFlags): EnrichCommand {
  const { output, summary, onlyFailed = false, dropUnresolved = false, quiet = false } = flags
  if (onlyFailed && dropUnresolved) {
    throw new UsageError('--only-failed and --drop-unresolved leave nothing to write: take one of them.')
  }
  if (files.filter((file) => file === '-').length > 1) {
    throw new UsageError('- is standard input, which can be read once.')
  }
  if (summary !== undefined && output !== undefined && resolve(summary) === resolve(output)) {
    throw new UsageError('--summary and --output name the same file.')
  }
  return {
    inputs: files.length > 0 ? files : ['-'],
    output: output === '-' ? undefined : output,
    databases: flags.db ?? [],
    options: {
      format: flags.format,
      field: flags.field,
      header: flags.header,
      into: flags.into,
      fields: flags.fields,
      append: flags.append,
      overwrite: flags.overwrite,
      force: flags.force,
      timeField: flags.timeField,
      at: flags.at,
      locale: flags.locale,
      trustedProxies: flags.trust,
      onBadLine: flags.onBadLine,
      onlyFailed,
      dropUnresolved,
      maxLineBytes: flags.maxLineBytes,
      details: summary !== undefined,
    },
    // Who says how many threads gets them.
    threads:
      flags.threads === undefined
        ? { count: availableParallelism(), from: SMALL }
        : { count: flags.threads, from: 0 },
    statistics: flags.stats ?? (quiet ? 'none' : 'text'),
    report: summary,
    isQuiet: quiet,
  }
}

function oneOf<Choice extends string>(choices: readonly Choice[]): (text: string) => Choice {
  return (text) => {
    const chosen = choices.find((choice) => choice === text)
    if (chosen === undefined) throw new UsageError(`Write one of ${choices.join(', ')}.`)
    return chosen
  }
}

function wholeNumber(least: number, most: number): (text: string) => number {
  return (text) => {
    const number = /^\d{1,10}$/.test(text) ? Number(text) : Number.NaN
    if (number >= least && number <= most) return number
    throw new UsageError(`Write a whole number from ${least} to ${most}.`)
  }
}

function readName(text: string): string {
  if (text === '') throw new UsageError('Write a name, such as location.')
  return text
}

function readFile(text: string): string {
  if (text === '') throw new UsageError('Write the name of a file, or - for standard output.')
  return text
}

function readFields(text: string): LocationField[] {
  const fields = text.split(',').map((name) => LOCATION_FIELDS.find((field) => field === name.trim()))
  const known = fields.filter((field) => field !== undefined)
  if (known.length < fields.length || new Set(known).size < known.length) {
    throw new UsageError(`Write some of ${LOCATION_FIELDS.join(',')}, each once.`)
  }
  return known
}

function readSummary(text: string): string {
  const path = /^html=(.+)$/s.exec(text)?.[1]
  if (path === undefined) throw new UsageError('Write it as html=report.html.')
  return path
}
