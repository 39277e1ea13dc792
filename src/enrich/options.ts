import { ClientWalk } from '../client/client-address.ts'
import { countryCodesOf } from '../location/country-codes.ts'
import { type CityNames, localeOf } from '../location/locale.ts'
import { instantOf } from '../location/timezone.ts'
import { wrongOption } from '../option-names.ts'
import type { CountedPlan } from './count-plan.ts'

/** The columns that can be added to CSV and TSV, in their default order. */
export const LOCATION_FIELDS = [
  'country_code',
  'country_name',
  'region_code',
  'region_name',
  'city',
  'postal_code',
  'latitude',
  'longitude',
  'timezone_id',
  'timezone_offset',
] as const

/** The columns that the option `asn` adds. */
export const ASN_FIELDS = ['asn_number', 'asn_organization'] as const

export type LocationField = (typeof LOCATION_FIELDS)[number] | (typeof ASN_FIELDS)[number]

/** All columns that can be named. */
export const ALL_FIELDS: readonly LocationField[] = [...LOCATION_FIELDS, ...ASN_FIELDS]

/**
 * What to do with a line that cannot be read:
 * - `raw`: write `{"raw":"…","location":null}` if the output is NDJSON made from another format; otherwise as `keep`.
 *   A line that is too long is cut to `maxLineBytes`
 * - `keep`: write it unchanged
 * - `drop`: omit it
 * - `fail`: fail the run with a `BadLineError`
 */
export type OnBadLine = (typeof ON_BAD_LINE)[number]

export const ON_BAD_LINE = ['raw', 'keep', 'drop', 'fail'] as const

/** The form of the output, for formats whose lines are kept otherwise. */
export type OutputForm = (typeof OUTPUT_FORMS)[number]

export const OUTPUT_FORMS = ['ndjson'] as const

/** A program, or a standard, that writes something before each line of other programs. */
export type PrefixWrapper = 'compose' | 'cri' | 'kubectl' | 'syslog'

/** A program that puts each line of other programs into a member of an object. */
export type MemberWrapper = 'docker' | 'journald'

/** How lines of any format are read, and what is added to them. */
export interface LineOptions {
  /**
   * Where the address is. NDJSON: a dotted path (`client.ip`) or a JSON pointer (`/client/ip`). Tables: the name of a
   * column, or its number from 1. Access logs: `1` or `2` for the first or second word, or `x_forwarded_for`. Default:
   * guessed from common names and their values.
   */
  readonly field?: string | undefined
  /** CSV and TSV: whether the first line names the columns. Default: true. */
  readonly header?: boolean | undefined
  /**
   * NDJSON, and formats that become NDJSON: the name of the member to add. Default: `location`. Tables: how the names of the
   * added columns begin, `src` for `src_country_code`. Default: the names of `fields` alone.
   */
  readonly into?: string | undefined
  /**
   * What is added of a location:
   * - Tables: the columns to append. Default: all ten, and with `asn` two more, `asn_number` and `asn_organization`.
   * - Logs of servers, lists and text with `append`: the columns to append, with a tab before each. Default: a tab and the location's JSON.
   * - Objects: the members of the location, by the names of columns: `"location":{"country_code":"GB","city":"London"}`.
   *   Default: the whole record.
   */
  readonly fields?: readonly LocationField[] | undefined
  /** Logs of servers, lists and text: keep the line, and append its location; see `fields`. Default: false. */
  readonly append?: boolean | undefined
  /**
   * Text: how an address is written with its place. `{ip}` is the address as it stands in the line, with its port; the other
   * placeholders are the columns of `fields`. Default: `{ip} [{country_code} {city}]`.
   */
  readonly annotate?: string | undefined
  /** Text: locate only the Nth address of each line, from 1, public or not. Default: see the guide. */
  readonly nth?: number | undefined
  /**
   * Write one object a line. Tables: with the columns as members, whose values are texts, or `null` for empty ones; text: with
   * the members `raw`, `ip` and `location`; JSON documents: their objects. Default: keep lines and documents. Logs and lists
   * become objects without it, too, unless `append` keeps them.
   */
  readonly to?: OutputForm | undefined
  /**
   * How the server writes a line, for the format `custom-log`: the directive as it stands in its configuration, nginx's
   * `log_format` or Apache's `LogFormat`, whole or only the format in it. At most 10,000 characters.
   */
  readonly logFormat?: string | undefined
  /** Replace a member or columns that exist already, which is an error otherwise. Default: false. */
  readonly overwrite?: boolean | undefined
  /**
   * Where the time of the event is, in the syntax of `field`. The value is ISO 8601 with an offset, or a number since
   * 1970 in seconds, milliseconds, microseconds or nanoseconds. Default: guessed from common names and their values.
   * Access logs have a time at a fixed place.
   */
  readonly timeField?: string | undefined
  /**
   * The instant for lines without a time: a `Date`, or milliseconds since 1970. Default: none, so that their
   * `timezone.offset` is `null`.
   */
  readonly at?: Date | number | undefined
  /**
   * Add the autonomous system of the address: a member `asn` with `number` and `organization`, or `null`, beside the location, or
   * two columns. With `into`, its name is that of the location and `_asn`. A line without a location has none. The resolver
   * needs a database for it: see the option `asn` of `Resolver.open`. Default: false.
   */
  readonly asn?: boolean | undefined
  /** BCP 47 language tag for the names of countries and regions. Default: `en`. */
  readonly locale?: string | undefined
  /** The language of cities: `'locale'` is that of `locale`, if the database has the name. Default: `'en'`. */
  readonly cityNames?: CityNames | undefined
  /**
   * Read the field as a list of hops like `X-Forwarded-For`, and locate the rightmost hop that is not one of these
   * proxies: addresses, CIDR blocks, `loopback`, `linklocal`, `uniquelocal`.
   */
  readonly trustedProxies?: readonly string[] | undefined
  /**
   * Continue if none of the first 1,000 records has an address, or, in NDJSON, if none has the named `field`
   * or `timeField`. These are errors otherwise. Default: false.
   */
  readonly force?: boolean | undefined
  /** Default: `raw`. */
  readonly onBadLine?: OnBadLine | undefined
  /** Write only the lines that were not resolved, including bad lines. Default: false. */
  readonly onlyFailed?: boolean | undefined
  /** Omit lines without a location; `onBadLine` applies to bad lines. Default: false. */
  readonly dropUnresolved?: boolean | undefined
  /**
   * Only lines in these countries: ISO 3166-1 alpha-2 codes, or `EU` for its member states. Lines without a location are
   * left out too, and `onBadLine` applies to bad lines. Default: all.
   */
  readonly onlyCountries?: readonly string[] | undefined
  /** No lines in these countries. Lines without a location stay. Default: none. */
  readonly notCountries?: readonly string[] | undefined
  /** Longer lines are bad lines, which bounds memory. Bytes, 1 to 256 MiB. Default: 1 MiB. */
  readonly maxLineBytes?: number | undefined
  /**
   * CSV and TSV: the most lines of a record with line ends in quotes. If a quote would make a longer one, its line is a bad
   * line, and the next line begins a record. 1 to 1,048,576. Default: 1,000.
   */
  readonly maxRecordLines?: number | undefined
  /** Count places, and weekdays and hours there, too. Default: false. */
  readonly details?: boolean | undefined
  /**
   * Keep only the first bits of each address in the output: `[24, 48]` keeps 24 of IPv4 and 48 of IPv6. Everything in the
   * line that can be an address is masked, and the address of the location. The location is that of the whole address.
   */
  readonly mask?: readonly [ipv4: number, ipv6: number] | undefined
  /** Write `-` in place of each address that `mask` would mask. Default: false. */
  readonly dropAddress?: boolean | undefined
  /**
   * Write a name in place of each address that `mask` would mask: `ip-` and 20 hexadecimal digits of its HMAC-SHA-256 with
   * this key, so that an address has one name. At least 16 random bytes, which nobody else knows.
   */
  readonly pseudonymKey?: Uint8Array | undefined
}

/**
 * What quotes mean in CSV and TSV:
 * - `double`: fields can be quoted, and a quote in them is doubled (RFC 4180)
 * - `none`: quotes are text. A backslash escapes what would end a value, and an unknown value is `\N`, as in
 *   `TabSeparated` of ClickHouse and the text format of Hive
 */
export type Quoting = (typeof QUOTING)[number]

/** How rows of one format are read and what is added to them. Nothing is guessed. */
export interface RowLineOptions
  extends Omit<
    LineOptions,
    | 'field'
    | 'header'
    | 'force'
    | 'onBadLine'
    | 'onlyFailed'
    | 'dropUnresolved'
    | 'onlyCountries'
    | 'notCountries'
    | 'maxRecordLines'
    | 'details'
  > {
  /**
   * Where the address is. NDJSON: a dotted path or a JSON pointer. CSV and TSV: the number of a column, from 1, because
   * rows have no header. Required for these formats.
   */
  readonly field?: string | undefined
  /** Required for CSV and TSV, and only for these. */
  readonly quoting?: Quoting | undefined
  /**
   * What to write for a row that cannot be read. `raw`: `{"raw":"…","location":null}` if rows are JSON, otherwise the
   * row without a location. `keep`: the row alone. Default: `raw`.
   */
  readonly onBadLine?: 'raw' | 'keep' | undefined
}

/** The countries whose lines are wanted, or not wanted. Plain data. */
export interface CountryChoice {
  /** ISO 3166-1 alpha-2 codes. */
  readonly codes: readonly string[]
  /** Whether lines in these countries are left out. Otherwise all other lines are, also those without a country. */
  readonly areExcluded: boolean
}

/** Whether the lines of a country are wanted. @param code `null` if a line has no country */
export function isChosen({ codes, areExcluded }: CountryChoice, code: string | null): boolean {
  return (code !== null && codes.includes(code)) !== areExcluded
}

/** What a field of a log usually has, whatever its name. */
export type FieldRole = (typeof FIELD_ROLES)[number]

export const FIELD_ROLES = ['status', 'method', 'path', 'bytes', 'agent', 'referrer'] as const

/** The names of the fields that have the parts of a request, as far as records have them. */
export type RequestFields = Readonly<Partial<Record<FieldRole, string>>>

/** The values of options, or their defaults. */
type ValuesOf<Name extends keyof LineOptions> = { readonly [Each in Name]: NonNullable<LineOptions[Each]> }

/**
 * The part of a plan that all formats have. A plan is made before the first line is read. Plain data: it goes to worker
 * threads by `structuredClone`.
 */
export interface CommonPlan
  extends ValuesOf<'into' | 'overwrite' | 'force' | 'onBadLine' | 'onlyFailed'>,
    ValuesOf<'dropUnresolved' | 'maxLineBytes' | 'dropAddress'>,
    CountedPlan {
  /** The instant for lines without a time, in milliseconds since 1970; `null` without the option `at`. */
  readonly at: number | null
  /** Name of the member with the autonomous system; absent if none is added. */
  readonly asn?: string | undefined
  /** A BCP 47 tag; `undefined` for English. */
  readonly locale: string | undefined
  readonly cityNames?: CityNames | undefined
  /** Trusted proxies if the field holds a list of hops like `X-Forwarded-For`; otherwise `null`. */
  readonly trustedProxies: readonly string[] | null
  /** Whether the field is an address and a port: what follows the last colon of an IPv6 address is then the port. */
  readonly hasPort?: boolean
  /** The members of a location in JSON; `null` for the whole record. */
  readonly jsonFields: readonly LocationField[] | null
  /** Objects have the location as one text, of the columns {@link jsonFields}; absent for JSON. */
  readonly cells?: LocationCells
  /** Whether the start of a line that is too long becomes an object, even if bad lines are kept. Absent if not. */
  readonly cutsLines?: boolean
  /** Whether each line is a row, and becomes exactly one; absent if not. Rows have no header, and tables of them any columns. */
  readonly isRows?: boolean
  /** The countries whose lines are wanted; absent if all are. */
  readonly countries?: CountryChoice
  /** The fields of the log that a report counts; absent if there are none. */
  readonly requestFields?: RequestFields
  /** The fields whose values are counted, by their names; absent if there are none. */
  readonly counted?: readonly string[]
  /** How bad lines are grouped for a report: with the start of their text or without it. Absent if they are not grouped. */
  readonly badLineGroups?: 'text' | 'fault'
  /** The bits of IPv4 and IPv6 addresses that the output keeps; `null` for all. */
  readonly mask: readonly [ipv4: number, ipv6: number] | null
  /** The key of the names that the output has in place of addresses; `null` if it has addresses. */
  readonly pseudonymKey: Uint8Array | null
  /** What writes something before each line; absent if nothing does. */
  readonly wrapper?: PrefixWrapper
  /** Whether what it writes becomes a member of objects that are kept otherwise. */
  readonly hasWrapperMember?: boolean
}

/** How the columns of a location are one text. */
export interface LocationCells {
  /** Lines of a table, or the values alone: rows are then written as `PackedRow` does. */
  readonly form: 'csv' | 'tsv' | 'values'
  /** Whether the address and a comma come before them. Only of values. */
  readonly hasAddress?: boolean
}

/** A plan, and notes for the user on what was guessed to make it. */
export interface Planned<Plan> {
  readonly plan: Plan
  readonly notes: readonly string[]
}

/** The member with the autonomous system. */
const ASN = 'asn'

/** Default of `into`. */
export const INTO = 'location'
/** Default of `maxLineBytes`. */
export const DEFAULT_LINE_BYTES = 1024 * 1024
/** Default of `maxRecordLines`. */
export const DEFAULT_RECORD_LINES = 1000
/** JSON escapes can turn one byte into six, and some platforms limit an array to 2 GiB. */
export const MAX_LINE_BYTES = 256 * 1024 * 1024

/**
 * Makes the part of a plan that all formats have, of options whose values are checked: see `checkOptions`.
 *
 * @throws TypeError when an option is wrong
 * @throws InvalidLocaleError when `locale` is not a BCP 47 tag
 */
export function commonPlan(options: LineOptions): CommonPlan {
  const { into = INTO, locale, cityNames, trustedProxies } = options
  localeOf(locale, cityNames)
  if (trustedProxies !== undefined) new ClientWalk({ trustedProxies })
  const countries = countryChoice(options)
  return {
    into,
    at: options.at === undefined ? null : instantOf(options.at),
    ...(options.asn === true ? { asn: into === INTO ? ASN : `${into}_${ASN}` } : {}),
    locale,
    ...(cityNames !== undefined && { cityNames }),
    trustedProxies: trustedProxies === undefined ? null : [...trustedProxies],
    overwrite: options.overwrite ?? false,
    force: options.force ?? false,
    onBadLine: options.onBadLine ?? 'raw',
    onlyFailed: options.onlyFailed ?? false,
    dropUnresolved: options.dropUnresolved ?? false,
    maxLineBytes: options.maxLineBytes ?? DEFAULT_LINE_BYTES,
    details: options.details ?? false,
    jsonFields: options.fields === undefined ? null : checkedFields(options),
    ...(countries !== undefined && { countries }),
    mask: options.mask === undefined ? null : [...options.mask],
    dropAddress: options.dropAddress ?? false,
    pseudonymKey: options.pseudonymKey === undefined ? null : Uint8Array.from(options.pseudonymKey),
  }
}

/** The choice of the options `onlyCountries` and `notCountries`; `undefined` without them. @throws TypeError when one is wrong */
function countryChoice({ onlyCountries: only, notCountries: not }: LineOptions): CountryChoice | undefined {
  if (only !== undefined) return { codes: codesOf('onlyCountries', only), areExcluded: false }
  return not === undefined ? undefined : { codes: codesOf('notCountries', not), areExcluded: true }
}

function codesOf(option: string, countries: readonly string[]): readonly string[] {
  if (!Array.isArray(countries) || countries.length === 0) {
    throw wrongOption`<${option}> must be a list of country codes, such as DE, or EU for its member states`
  }
  return countryCodesOf(countries)
}

/** Whether the output has other addresses than the input. */
export function isMasked({ mask, dropAddress = false, pseudonymKey }: LineOptions): boolean {
  return mask !== undefined || dropAddress || pseudonymKey !== undefined
}

/** The option by which records are left out of the output; `undefined` if none is. */
export function omittingOption(options: LineOptions): keyof LineOptions | undefined {
  const names = ['onlyFailed', 'dropUnresolved', 'onlyCountries', 'notCountries'] as const
  const name = names.find((each) => options[each] !== undefined && options[each] !== false)
  return name ?? (options.onBadLine === 'drop' ? 'onBadLine' : undefined)
}

/** Name of the member that holds a line that cannot be read. */
export const RAW = 'raw'

/** The names of the members that are added to objects. @throws TypeError when lines that cannot be read have that name */
export function addedMembers({ into, asn }: Pick<CommonPlan, 'into' | 'asn'>): readonly string[] {
  if (into === RAW) throw wrongOption`<into> must not be ${RAW}: a line that cannot be read is in that member`
  return asn === undefined ? [into] : [into, asn]
}

/** A name that needs no quotes in the header of any table. */
const COLUMN_NAME = /^[\p{L}\p{N}_.:-]+$/u

/** The names of the columns that are added to a table. @throws TypeError when they cannot stand in a header */
export function columnNames(fields: readonly LocationField[], { into }: Pick<LineOptions, 'into'>): string[] {
  if (into !== undefined && !COLUMN_NAME.test(into))
    throw wrongOption`<into> must have letters, digits, and the marks _ . : - where a header gets it`
  return fields.map((field) => (into === undefined ? field : `${into}_${field}`))
}

/** The columns that are added. @throws OptionError when they need the option `asn`, which is not given */
export function checkedFields({ fields, asn = false }: LineOptions): readonly LocationField[] {
  if (fields === undefined) return asn ? ALL_FIELDS : LOCATION_FIELDS
  const system = fields.find((field) => ASN_FIELDS.some((each) => each === field))
  if (system !== undefined && !asn) throw wrongOption`<fields> has ${system}, which needs <asn>`
  return [...fields]
}

/** What quotes mean in rows of CSV and TSV. */
export const QUOTING = ['double', 'none'] as const

/** What a request has of the time of each row: nothing, microseconds since 1970, or a text as `eventTime` reads it. */
export const TIME_KINDS = ['none', 'microseconds', 'text'] as const
export type TimeKind = (typeof TIME_KINDS)[number]
