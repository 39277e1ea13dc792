import { fileURLToPath } from 'node:url'
import { embedded } from '../../embedded.ts'
import { checkedCountPlan } from '../../enrich/count.ts'
import { countsOnlyCountries, countsSystems } from '../../enrich/count-plan.ts'
import { formatsWith } from '../../enrich/formats/formats.ts'
import { ADDRESS, COUNTING, FILTERS, INPUT, OUTPUT, PRIVACY } from '../../enrich/line-options.ts'
import { LOCALE, type OptionGroups, oneOf, SWITCH } from '../../option-kinds.ts'
import { keyOf, linesCommand } from '../enrich/command-line.ts'
import { formOfName } from '../enrich/file-forms.ts'
import { READING } from '../enrich/flags.ts'
import type { HelpTexts } from '../flags.ts'
import { ASN, DB, type FlagsOf, inFlags } from '../options.ts'
import { UsageError } from '../terminal.ts'

/** The forms of the output. */
export const COUNT_FORMS = ['table', 'csv', 'tsv', 'json', 'ndjson', 'md', 'parquet'] as const
export type CountForm = (typeof COUNT_FORMS)[number]

const { onBadLine: _, ...READ } = INPUT
const { onlyCountries, notCountries } = FILTERS

/** The options of `geofix count`. A test compares the tables in src/cli/count/README.md with them. */
export const COUNT_OPTIONS = {
  Counting: COUNTING,
  Input: { ...READ, format: READING.format, threads: READING.threads },
  Output: {
    output: READING.output,
    to: {
      ...OUTPUT.to,
      kind: oneOf(COUNT_FORMS),
      text: `the form of the output: ${COUNT_FORMS.map((form) => `\`${form}\``).join(', ')} (default: \`table\`, or by its name). \`json\` is an array of objects, \`ndjson\` one object a line, \`md\` a table in Markdown. The name of the output says which (\`.csv\`, \`.tsv\`, \`.json\`, \`.ndjson\`, \`.jsonl\`, \`.md\`, \`.parquet\`). A name with another ending is an error, except \`.txt\`, \`.log\` and \`.out\``,
    },
    bom: READING.bom,
    plain: { flags: '--plain', kind: SWITCH, text: 'no bars in the table, as in a file or a pipe' },
    quiet: { flags: '--quiet', kind: SWITCH, text: 'print only errors and the result' },
  },
  'Address and time': {
    ...ADDRESS,
    field: {
      ...ADDRESS.field,
      isRepeatable: false,
      text: 'the field with the address (default: detected, and printed). It is written as for [`geofix enrich`](../enrich/README.md)',
    },
    nth: {
      ...ADDRESS.nth,
      text: "count the Nth address of each line, from 1, public or not. Default: the first public one that can be the client's",
    },
    at: {
      ...ADDRESS.at,
      text: 'when the lines were written at the latest, for times without a year. Default: when the file was last written',
    },
  },
  Location: {
    ...LOCALE,
    ...DB,
    asnDb: {
      ...ASN.asnDb,
      text: 'count `asn` by this database, such as GeoLite2-ASN.mmdb, instead of the embedded one. You can repeat it',
    },
  },
  Privacy: {
    mask: {
      ...PRIVACY.mask,
      text: 'keep only the first bits of the addresses that are counted, of IPv4 and IPv6, as in `24,48`. In `ip`, `network` and fields of the log. Addresses that are the same then have one row',
    },
    dropAddress: { ...PRIVACY.dropAddress, text: 'write `-` in place of each address that is counted' },
    pseudonymKey: {
      ...PRIVACY.pseudonymKey,
      text: 'write a name such as `ip-4a7e…` in place of each address that is counted. It is the name that [`geofix enrich`](../enrich/README.md) writes with the same key',
    },
    newKey: READING.newKey,
  },
  Filters: { onlyCountries, notCountries },
} as const satisfies OptionGroups

export type CountFlags = FlagsOf<typeof COUNT_OPTIONS>

export const COUNT_HELP: HelpTexts = {
  mostUsed: ['by', 'top', 'unique', 'output', 'to', 'onlyCountries'],
  formatsOf: formatsWith,
  about: `FILE is anything that geofix enrich reads, compressed too; - is standard input. Several files are counted together.
Lines without a location are counted as well, without a value: --by reason says why. Hours are UTC, or those of
--time-zone; local_hour is the hour of the day at the place.`,
  examples: [
    'geofix count access.log',
    'geofix count --by city --top 20 access.log -o cities.csv',
    'geofix count --by country,hour --top 5 access.log.*.gz',
    'geofix count --by network --unique access.log',
    'geofix count --by ip,country,asn --top 20 auth.log',
    'geofix count --by status,country --only-country DE,FR access.log',
    'geofix count --by /user/plan,month events.ndjson --to ndjson',
    'geofix count --by weekday,local_hour access.log --to md',
  ],
  statuses: 'Exit status: as of geofix enrich, see geofix enrich --help.',
}

export type CountCommand = ReturnType<typeof countCommand>

/** What `geofix count` is to do. @throws UsageError when an option is wrong */
export function countCommand(files: readonly string[], flags: CountFlags) {
  const { others, ...lines } = linesCommand(files, flags)
  const { by = ['country'], to, plain = false, db = [], asnDb, ...reading } = others
  const { mask, dropAddress, pseudonymKey: _, newKey: __, ...options } = reading
  const plan = inFlags(() => checkedCountPlan({ ...options, by }), COUNT_OPTIONS)
  if (asnDb !== undefined && !countsSystems(plan)) throw new UsageError('--asn-db is for --by asn.')
  const form = to ?? formOfName(lines.output, COUNT_FORMS) ?? 'table'
  if (lines.hasMark && form !== 'csv' && form !== 'tsv')
    throw new UsageError(
      '--bom is for CSV and TSV: add --to csv, or write to a file whose name ends in .csv.',
    )
  // Last, because it can make the file of the key.
  const shown = { mask, dropAddress, pseudonymKey: keyOf(flags) }
  return {
    ...lines,
    /** How lines are read. */
    options: { ...options, ...shown },
    /** What is counted. */
    plan,
    top: options.top,
    form,
    isPlain: plain,
    /**
     * Files. If empty, the embedded city database is used. The embedded country database has the same countries. It takes less
     * than half of the time for a million lines with 175,000 addresses.
     */
    databases: db.length === 0 && countsOnlyCountries(plan) ? [fileURLToPath(embedded.country)] : db,
    /** Databases of autonomous systems, if these are counted. */
    asn: countsSystems(plan) ? (asnDb ?? [fileURLToPath(embedded.asn)]) : [],
  }
}
