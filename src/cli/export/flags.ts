// The options of `geofix export`, and what they ask for together.
import { ADDRESS, FILTERS, LOCATION } from '../../enrich/line-options.ts'
import { ALL_FIELDS, checkedFields, type LocationField } from '../../enrich/options.ts'
import { networkChoice } from '../../location/located-networks.ts'
import { LOCALE, type OptionGroups, oneOf, SWITCH, TEXT } from '../../option-kinds.ts'
import { wrongOption } from '../../option-names.ts'
import { formOfName } from '../enrich/file-forms.ts'
import { PARQUET, READING } from '../enrich/flags.ts'
import type { HelpTexts } from '../flags.ts'
import { ASN, asnOf, DB, type FlagsOf, inFlags } from '../options.ts'

const FORMS = ['csv', 'ndjson', PARQUET] as const
export type ExportForm = (typeof FORMS)[number]

/** How a row says its addresses, with the names of the columns. */
export const ADDRESS_COLUMNS = {
  cidr: ['network'],
  range: ['start_ip', 'end_ip'],
  integers: ['start_integer', 'end_integer'],
} as const satisfies Readonly<Record<string, readonly string[]>>
export type AddressForm = keyof typeof ADDRESS_COLUMNS

/** The options of `geofix export`. A test compares the tables in src/cli/export/README.md with them. */
export const EXPORT_OPTIONS = {
  Output: {
    output: READING.output,
    to: {
      flags: '--to <form>',
      kind: oneOf(FORMS),
      text: 'the form of the output: `csv`, `ndjson` or `parquet` (default: by its name, or else `csv`)',
    },
    as: {
      flags: '--as <form>',
      kind: oneOf<AddressForm>(['cidr', 'range', 'integers']),
      text: 'how a row says its addresses: `cidr`, `range` or `integers` (default: `cidr`). `cidr` is the column `network`; `range`, the first and the last address as text, `start_ip` and `end_ip`; `integers`, both as numbers, `start_integer` and `end_integer`. With `range` and `integers`, neighbours with the same values are one row',
    },
    fields: {
      ...LOCATION.fields,
      text: `the columns, separated by commas (default: all). They are ${ALL_FIELDS.map((field) => `\`${field}\``).join(', ')}. \`timezone_offset\` needs \`--at\`, and the last two need \`--asn\`. Networks that have none of these values are left out`,
    },
    ...LOCALE,
    at: {
      ...ADDRESS.at,
      text: 'the instant of `timezone_offset`. Join `timezone_id` where events have times',
    },
  },
  Networks: {
    ...DB,
    ...ASN,
    ipv4Only: {
      flags: '--ipv4-only',
      kind: SWITCH,
      excludes: { ipv6Only: 'leave no network' },
      text: 'leave out IPv6 networks',
    },
    ipv6Only: { flags: '--ipv6-only', kind: SWITCH, text: 'leave out IPv4 networks' },
    countries: {
      ...FILTERS.onlyCountries,
      excludes: {},
      text: 'only networks in these countries, such as `DE,FR`, or `EU` for its 27 member states',
    },
    within: {
      flags: '--within <network>',
      kind: TEXT,
      text: 'only addresses in this network, such as `10.0.0.0/8`. A network that is partly in it is cut',
    },
  },
} as const satisfies OptionGroups

export const EXPORT_HELP: HelpTexts = {
  mostUsed: ['output', 'fields', 'as', 'db'],
  about: `Writes one row for each network of the database, in the order of addresses, IPv4 first. A row has what geofix
prints for its addresses. Private and other special-purpose networks have rows only if geofix overlay added them. 6to4,
Teredo, NAT64 and IPv4-mapped addresses have none: look up the IPv4 address inside.`,
  examples: [
    'geofix export -o networks.csv',
    'geofix export --as integers -o networks.parquet',
    'geofix export --db GeoLite2-City.mmdb --fields country_code,city --asn -o networks.ndjson.gz',
    'geofix export --only-country DE,FR --ipv4-only --as range > ranges.csv',
  ],
  statuses: `Exit status: 0 done, also if the reader of a pipe stops early; 1 no network is left, or a database is not usable;
2 wrong usage; 3 the output cannot be written; 129, 130, 143 ended by SIGHUP, SIGINT, SIGTERM.
A run with another status than 0 leaves no output file. A file that existed before is unchanged.`,
}

export type ExportCommand = ReturnType<typeof exportCommand>

/** Reads the options of `geofix export`. @throws UsageError when an option is wrong */
export function exportCommand(flags: FlagsOf<typeof EXPORT_OPTIONS>) {
  const { output, to, as = 'cidr', db, locale, cityNames, at, within, countries } = flags
  const path = output === '-' ? undefined : output
  const asn = asnOf(flags)
  const ipVersion = flags.ipv4Only === true ? 4 : flags.ipv6Only === true ? 6 : undefined
  return {
    path,
    form: to ?? formOfName(path, FORMS) ?? 'csv',
    as,
    fields: inFlags(() => fieldsOf(flags.fields, asn !== false, at), EXPORT_OPTIONS, '.'),
    databases: db,
    asn,
    ipVersion,
    /** The options that leave networks out, for messages. */
    filters: [
      ...(ipVersion === undefined ? [] : [`--ipv${ipVersion}-only`]),
      ...(countries === undefined ? [] : [`--only-country ${countries.join(',')}`]),
      ...(within === undefined ? [] : [`--within ${within}`]),
    ],
    choice: inFlags(() => networkChoice({ within, countries, ipVersion }), EXPORT_OPTIONS, '.'),
    locale,
    cityNames,
    at,
  } as const
}

function fieldsOf(
  given: readonly LocationField[] | undefined,
  asn: boolean,
  at: Date | undefined,
): readonly LocationField[] {
  const fields = checkedFields({ fields: given, asn })
  if (at !== undefined) return fields
  if (given?.includes('timezone_offset'))
    throw wrongOption`<fields> has timezone_offset, which depends on the time: add <at>, or use timezone_id`
  return fields.filter((field) => field !== 'timezone_offset')
}
