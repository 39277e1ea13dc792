import { resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { embedded } from '../../embedded.ts'
import { checkedCountPlan } from '../../enrich/count.ts'
import {
  COUNT_KEYS,
  countsOnlyCountries,
  countsSystems,
  DEFAULT_MAX_GROUPS,
  MOST_GROUPS,
} from '../../enrich/count-plan.ts'
import { asUsage } from '../enrich/command-errors.ts'
import { keyOf } from '../enrich/command-line.ts'
import { ENRICH_OPTIONS, formatsWith } from '../enrich/flags.ts'
import { formOfName } from '../enrich/output-forms.ts'
import {
  ASN,
  DB,
  type FlagsOf,
  LOCALE,
  type OptionDefinition,
  oneOf,
  readList,
  wholeNumber,
} from '../options.ts'
import { UsageError } from '../terminal.ts'

/** The forms of the output. */
export const COUNT_FORMS = ['table', 'csv', 'tsv', 'json', 'ndjson', 'md', 'parquet'] as const
export type CountForm = (typeof COUNT_FORMS)[number]

/** The option of `geofix enrich` with these flags: both commands read lines in the same way. */
function ofEnrich<Flags extends (typeof ENRICH_OPTIONS)[number]['flags']>(flags: Flags) {
  type Named = Extract<(typeof ENRICH_OPTIONS)[number], { readonly flags: Flags }>
  const isNamed = (option: (typeof ENRICH_OPTIONS)[number]): option is Named => option.flags === flags
  const found = ENRICH_OPTIONS.find(isNamed)
  if (found === undefined) throw new RangeError(`geofix enrich has no option ${flags}`)
  return found
}

/** The options of `geofix count`. A test compares the table in src/cli/count/README.md with them. */
export const COUNT_OPTIONS = [
  {
    flags: '--by <keys>',
    text: `count the lines with the same values of these keys, separated by commas (default: \`country\`): ${COUNT_KEYS.map((key) => `\`${key}\``).join(', ')}, or fields of the log, such as \`status\` or \`/user/plan\``,
    read: readList,
  },
  { flags: '--unique', text: 'count the distinct addresses of each row too' },
  {
    flags: '--top <n>',
    text: 'print only the largest rows. Where times and other keys are counted, only the largest values of the others, with all of their times',
    read: wholeNumber(1, 1_000_000_000),
  },
  ofEnrich('--only-country <list>'),
  ofEnrich('--not-country <list>'),
  {
    flags: '-o, --output <file>',
    text: 'write to this file instead of standard output. `.gz` and `.zst` are compressed',
    read: readFile,
  },
  {
    flags: '--to <form>',
    text: 'the form of the output: `table`, `csv`, `tsv`, `json` for an array of objects, `ndjson` for one object a line, `md` for a table in Markdown, or `parquet` (default: what the name of the output says: `.csv`, `.tsv`, `.json`, `.ndjson`, `.jsonl`, `.md`, `.parquet`; otherwise `table`). A name with another ending is an error, except `.txt`, `.log` and `.out`',
    read: oneOf(COUNT_FORMS),
  },
  {
    ...ofEnrich('--bom'),
    text: 'begin CSV or TSV with a byte order mark, without which Excel does not read it as UTF-8',
  },
  { flags: '--plain', text: 'no bars in the table, as in a file or a pipe' },
  {
    flags: '--time-zone <zone>',
    text: 'the time zone of `hour`, `day`, `weekday` and `month`, such as `Europe/Berlin` (default: UTC)',
  },
  {
    flags: '--max-groups <n>',
    text: `the most rows that are counted, which bounds memory. Lines of later groups are counted together, and a note says so (default: ${DEFAULT_MAX_GROUPS})`,
    read: wholeNumber(1, MOST_GROUPS),
  },
  {
    ...ofEnrich('--mask <bits>'),
    text: 'keep only the first bits of the addresses that are counted, of IPv4 and of IPv6 as in `24,48`: in `ip`, `network` and fields of the log. Addresses that are the same then have one row',
  },
  { ...ofEnrich('--drop-address'), text: 'write `-` in place of each address that is counted' },
  {
    ...ofEnrich('--pseudonym <keyfile>'),
    text: 'write a name such as `ip-4a7e…` in place of each address that is counted, as [`geofix enrich`](../enrich/README.md) does with the same key',
  },
  ofEnrich('--new-key'),
  ofEnrich('--format <name>'),
  {
    flags: '--field <name>',
    text: 'the field with the address, as of [`geofix enrich`](../enrich/README.md) (default: detected, and printed)',
    ...formatsWith('field'),
  },
  ofEnrich('--trust <list>'),
  ofEnrich('--no-header'),
  {
    flags: '--nth <n>',
    text: "count the address with this number in each line, from 1, public or not (default: the first public one that can be the client's)",
    read: ofEnrich('--nth <n>').read,
    ...formatsWith('nth'),
  },
  ofEnrich('--log-format <directive>'),
  ofEnrich('--force'),
  {
    ...ofEnrich('--time-field <name>'),
    text: 'the field with the time (default: detected, and printed): ISO 8601 with an offset, or seconds, milliseconds, microseconds or nanoseconds since 1970. Access logs have their own',
  },
  {
    ...ofEnrich('--at <time>'),
    text: 'when the lines were written at the latest, for times without a year (default: when the file was last written)',
  },
  ...LOCALE,
  DB,
  {
    ...ASN[1],
    text: 'count `asn` by this database, such as GeoLite2-ASN.mmdb, instead of the embedded one. You can repeat it',
  },
  ofEnrich('--max-line-bytes <n>'),
  ofEnrich('--max-record-lines <n>'),
  {
    ...ofEnrich('--threads <n>'),
    text: 'the number of threads (default: 1, because two are not faster on two cores). The counts are the same',
  },
  { flags: '--quiet', text: 'print only errors and the result' },
] as const satisfies readonly OptionDefinition[]

export type CountFlags = FlagsOf<typeof COUNT_OPTIONS>

/** What `geofix count --help` prints after the options. */
export const COUNT_HELP = `
FILE is anything that geofix enrich reads, compressed too; - is standard input. Several files are counted together.
Lines without a location are counted as well, without a value: --by reason says why. Hours are UTC, or those of
--time-zone; local_hour is the hour of the day at the place.

Examples:
  geofix count access.log
  geofix count --by city --top 20 access.log -o cities.csv
  geofix count --by country,hour --top 5 access.log.*.gz
  geofix count --by network --unique access.log
  geofix count --by ip,country,asn --top 20 auth.log
  geofix count --by status,country --only-country DE,FR access.log
  geofix count --by /user/plan,month events.ndjson --to ndjson
  geofix count --by weekday,local_hour access.log --to md

Exit status: as of geofix enrich, see geofix enrich --help.`

export type CountCommand = ReturnType<typeof countCommand>

/** What `geofix count` is to do. @throws UsageError when an option is wrong */
export function countCommand(files: readonly string[], flags: CountFlags) {
  const {
    by = ['country'],
    unique,
    top,
    timeZone,
    maxGroups,
    output,
    to,
    plain = false,
    bom = false,
    ...more
  } = flags
  const { db = [], asnDb, trust, threads = 1, quiet = false, onlyCountry, notCountry, ...reading } = more
  if (files.filter((file) => file === '-').length > 1) {
    throw new UsageError('Standard input (-) can be read only once.')
  }
  if (output !== undefined && files.some((file) => resolve(file) === resolve(output))) {
    throw new UsageError('--output names an input: the counts would replace it.')
  }
  const { mask, dropAddress, pseudonym: _, newKey: __, ...lines } = reading
  const options = { ...lines, trustedProxies: trust, onlyCountries: onlyCountry, notCountries: notCountry }
  const plan = asUsage(
    () => checkedCountPlan({ ...options, by, unique, top, timeZone, maxGroups }),
    COUNT_OPTIONS,
  )
  if (asnDb !== undefined && !countsSystems(plan)) throw new UsageError('--asn-db is for --by asn.')
  const name = output === '-' ? undefined : output
  const form = to ?? formOfName(name, COUNT_FORMS) ?? 'table'
  if (bom && form !== 'csv' && form !== 'tsv')
    throw new UsageError(
      '--bom is for CSV and TSV: add --to csv, or write to a file whose name ends in .csv.',
    )
  // Last, because it can make the file of the key.
  const shown = { mask, dropAddress, pseudonymKey: keyOf(flags) }
  return {
    /** Files; `-` is standard input. At least one. */
    inputs: files.length > 0 ? files : ['-'],
    /** A file; `undefined` is standard output. */
    output: name,
    /** How lines are read. */
    options: { ...options, ...shown },
    /** What is counted. */
    plan,
    top,
    form,
    isPlain: plain,
    /** Whether a byte order mark begins CSV or TSV. */
    hasMark: bom,
    /**
     * Files. If empty, the embedded city database is used. The embedded country database has the same countries. It takes less
     * than half of the time for a million lines with 175,000 addresses.
     */
    databases: db.length === 0 && countsOnlyCountries(plan) ? [fileURLToPath(embedded.country)] : db,
    /** Databases of autonomous systems, if these are counted. */
    asnDatabases: countsSystems(plan) ? (asnDb ?? [fileURLToPath(embedded.asn)]) : [],
    threads,
    isQuiet: quiet,
  }
}

function readFile(text: string): string {
  if (text === '') throw new UsageError('Write the name of a file, or - for standard output.')
  return text
}
