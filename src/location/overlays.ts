import { isIPv4Compatible, translatedIPv4 } from '../address/address.ts'
import { formatCidr, type Network, NOT_IPV4, parseNetwork } from '../address/ip-text.ts'
import { LOOKED_UP_AS_IPV4, lengthOfKind } from '../address/position.ts'
import { remember } from '../bytes/tables.ts'
import { InvalidOverlayError, quoted } from '../errors.ts'
import { Database } from '../mmdb/database.ts'
import { MAX_TEXT_BYTES } from '../mmdb/field-reader.ts'
import { DataSectionEncoder, encodeDatabase } from '../mmdb/writer/database-encoder.ts'
import { DEFAULT_BUILD_DATE } from '../mmdb/writer/mmdb-writer.ts'
import { EMPTY, ipv4InIPv6, linkToValue, NetworkTrie, NodeTable } from '../mmdb/writer/node-table.ts'
import { SearchTreeEncoder } from '../mmdb/writer/search-tree-encoder.ts'
import { double, type WritableValue } from '../mmdb/writer/value.ts'
import { ValueTable } from '../mmdb/writer/value-table.ts'
import { messageOf, utf8Encoder } from '../realm.ts'
import { officialCountryCode } from './country-codes.ts'
import type { Coordinates } from './location-record.ts'
import { MEMBER_NAMES, type MemberNames, membersIn } from './location-schema.ts'
import { coordinatesOf, NO_COORDINATES } from './schema.ts'
import { regionCodeOf } from './shared-parts.ts'
import { timezoneOf } from './timezone.ts'

/** The core loads this file for both options. */
export { readSchemas } from './location-schema.ts'

/** A network and its location, which is used instead of those of the databases. */
export interface Overlay {
  /** CIDR text such as `10.1.0.0/16` or `fd00:1::/48`, or an address. Special-purpose networks are allowed. */
  readonly network: string
  readonly record: OverlayRecord
}

/**
 * A LocationRecord without `ip`. What is left out is `null` in the result. It needs one of country, region, city and
 * coordinates.
 */
export interface OverlayRecord {
  /** `code`: ISO 3166-1 alpha-2. Without `name`, the platform's names are used, in any language. */
  readonly country?: OverlayPart
  /** `code`: ISO 3166-2 with or without the country, such as `DE-BE`. */
  readonly region?: OverlayPart
  readonly city?: string | null | undefined
  readonly postal_code?: string | null | undefined
  /** WGS 84 in decimal degrees: both or neither. 0, 0 is not a location. */
  readonly coordinates?: Coordinates | null | undefined
  /** `id`: IANA time zone. `offset` is ignored: it depends on the instant of a lookup. */
  readonly timezone?:
    | { readonly id: string | null; readonly offset?: string | null | undefined }
    | null
    | undefined
}

/** A given name is used in all languages. */
type OverlayPart =
  | { readonly code?: string | null | undefined; readonly name?: string | null | undefined }
  | null
  | undefined

/** A network of an overlay, and its record in a database. */
export interface OverlaidNetwork<Value = number> extends Network {
  /** The value that `keep` made of the record, such as its id in a table of values. */
  readonly value: Value
  /** Whether the record has a name. */
  readonly hasNames: boolean
}

/** The most overlays. To make a database of 100,000 overlays takes 2 seconds and 0.2 GB. */
const MAX_OVERLAYS = 100_000

/** Names an overlay, or a field of it such as `country.code`, in an error. */
type OverlayName = (index: number, field: string) => string

const inOption: OverlayName = (index, field) => `overlays[${index}]${field === '' ? '' : `.${field}`}`

/**
 * Checks overlays and makes their records. Keeps nothing of the caller's objects.
 *
 * @param keep gets each record at once, because 100,000 records take 0.1 GB. They have the schema of GeoIP2, which most readers
 *   know. Names are those of English
 * @param nameOf names a field in errors
 * @returns the networks, larger ones first, so that a more specific one is inserted after those around it
 * @throws InvalidOverlayError when one is not valid, or two have the same network
 */
export function readOverlays<Value>(
  overlays: unknown,
  keep: (record: WritableValue) => Value,
  nameOf: OverlayName = inOption,
): OverlaidNetwork<Value>[] {
  if (!Array.isArray(overlays))
    throw new InvalidOverlayError('overlays must be an array of { network, record }')
  if (overlays.length > MAX_OVERLAYS) {
    throw new InvalidOverlayError(
      `there are ${overlays.length} overlays, more than ${MAX_OVERLAYS}: write a database with MmdbWriter`,
    )
  }
  const zones = new Map<string, string>()
  const indexes = new Map<string, number>()
  return Array.from(overlays, (each: unknown, index): OverlaidNetwork<Value> => {
    const refuse = (path: string, why: string): InvalidOverlayError => refused(nameOf(index, path), why)
    const overlay = membersIn(each, OVERLAY_MEMBERS, refuse)
    const network = networkOf(overlay.get('network'), nameOf(index, 'network'))
    const cidr = formatCidr(network.family, network.words, network.prefixLength)
    const other = indexes.get(cidr)
    if (other !== undefined) {
      throw refused(nameOf(index, 'network'), `${cidr} is also ${nameOf(other, 'network')}: keep one of them`)
    }
    indexes.set(cidr, index)
    const { value, hasNames } = checkedValue(overlay.get('record'), zones, (field) => nameOf(index, field))
    const { family, words, prefixLength } = network
    return { family, words, prefixLength, value: keep(value), hasNames }
  }).sort((a, b) => a.prefixLength - b.prefixLength)
}

function networkOf(value: unknown, name: string): Network {
  if (typeof value !== 'string' || value === '')
    throw refused(name, 'write a network as text, such as 10.1.0.0/16')
  const network = checked(name, () => parseNetwork(value))
  const { family, words, prefixLength } = network
  if (family === 4) return network
  if (isIPv4Compatible(words) && prefixLength >= 96) {
    throw refused(name, `${quoted(value)} is in ::/96, where databases have IPv4 networks: write those`)
  }
  if (translatedIPv4(words) !== NOT_IPV4 && prefixLength >= lengthOfKind(words)) {
    throw refused(
      name,
      `6to4, Teredo and NAT64 addresses have the location of the IPv4 address inside: write the IPv4 network instead of ${value}`,
    )
  }
  return network
}

/** Calls a function that checks the field with a name. @throws InvalidOverlayError with its message */
function checked<Result>(name: string, check: () => Result): Result {
  try {
    return check()
  } catch (error) {
    throw refused(name, messageOf(error))
  }
}

/**
 * Checks a record, and writes it as those of GeoIP2.
 *
 * @param zones spellings of time zones that are known
 * @param nameOf names a field of the record in errors
 */
function checkedValue(
  given: unknown,
  zones: Map<string, string>,
  nameOf: (field: string) => string,
): { readonly value: WritableValue; readonly hasNames: boolean } {
  const members = membersIn(given, RECORD_MEMBERS, (path, why) => refused(nameOf(path || 'record'), why))
  const textOf = (field: string): string | null => checkedText(members.get(field), nameOf(field))
  const [givenCode, countryName] = [textOf('country.code'), textOf('country.name')]
  const countryCode =
    givenCode === null ? null : checked(nameOf('country.code'), () => officialCountryCode(givenCode))
  const [givenRegion, regionName] = [textOf('region.code'), textOf('region.name')]
  const regionCode = regionCodeOf(countryCode, givenRegion)
  if (givenRegion !== null && regionCode === null) {
    const ofCountry = countryCode === null ? '' : ` of ${countryCode}`
    throw refused(nameOf('region.code'), `it is not an ISO 3166-2 code${ofCountry}: write one such as DE-BE`)
  }
  const [city, postalCode] = [textOf('city'), textOf('postal_code')]
  const { latitude, longitude } = positionOf(members, nameOf)
  const zone = zoneOf(textOf('timezone.id'), zones, nameOf('timezone.id'))
  // GeoIP2 writes the code of a region without the country, unless the record has no country.
  const written = countryCode === null ? regionCode : (regionCode?.slice(countryCode.length + 1) ?? null)
  const namesOf = (name: string | null): WritableValue | null => known({ en: name })
  const subdivision = known({ iso_code: written, names: namesOf(regionName) })
  const value = known({
    city: known({ names: namesOf(city) }),
    country: known({ iso_code: countryCode, names: namesOf(countryName) }),
    location: known({
      latitude: latitude === null ? null : double(latitude),
      longitude: longitude === null ? null : double(longitude),
      time_zone: zone,
    }),
    postal: known({ code: postalCode }),
    subdivisions: subdivision === null ? null : [subdivision],
  })
  if (value === null || !(city ?? value.country ?? subdivision ?? latitude)) {
    throw refused(nameOf('record'), 'it has no location: give a country, region, city or coordinates')
  }
  return { value, hasNames: (city ?? countryName ?? regionName) !== null }
}

/** The members that are not `null`; `null` for none. */
function known(members: Record<string, WritableValue | null>): Record<string, WritableValue> | null {
  let some: Record<string, WritableValue> | null = null
  for (const name in members) {
    const value = members[name] ?? null
    if (value === null) continue
    some ??= {}
    some[name] = value
  }
  return some
}

/** A zone in its usual capitals. @throws InvalidOverlayError when the platform does not know it */
function zoneOf(id: string | null, zones: Map<string, string>, name: string): string | null {
  if (id === null) return null
  return remember(zones, MAX_OVERLAYS, id, () => {
    if (timezoneOf(id).at(0).offset === null) {
      throw refused(name, 'the platform does not know it: write an IANA id such as Europe/Berlin')
    }
    const known = new Intl.DateTimeFormat('en', { timeZone: id }).resolvedOptions().timeZone
    // The platform answers with another id for some that were renamed.
    return known.toLowerCase() === id.toLowerCase() ? known : id
  })
}

const OVERLAY_MEMBERS: MemberNames = { network: null, record: null }
/** `timezone.offset` is ignored. */
const RECORD_MEMBERS: MemberNames = { ...MEMBER_NAMES, timezone: { id: null, offset: null } }

function checkedText(value: unknown, name: string): string | null {
  if (value === undefined || value === null) return null
  if (typeof value !== 'string' || value === '')
    throw refused(name, 'write a text, or null if it is not known')
  if (/\p{Surrogate}/u.test(value)) throw refused(name, 'it has an unpaired surrogate, which is not text')
  // UTF-8 has at most three bytes for each UTF-16 code unit.
  if (value.length * 3 > MAX_TEXT_BYTES && utf8Encoder().encode(value).length > MAX_TEXT_BYTES) {
    throw refused(name, `it has more than ${MAX_TEXT_BYTES} bytes in UTF-8: shorten it`)
  }
  return value
}

function positionOf(members: ReadonlyMap<string, unknown>, nameOf: (field: string) => string): Coordinates {
  const degrees = (field: string, most: number): number | null => {
    const value = members.get(field)
    if (value === undefined) return null
    if (typeof value === 'number' && Math.abs(value) <= most) return value
    throw refused(nameOf(field), `write a number from -${most} to ${most}`)
  }
  const latitude = degrees('coordinates.latitude', 90)
  const longitude = degrees('coordinates.longitude', 180)
  if ((latitude === null) !== (longitude === null)) {
    const missing = latitude === null ? 'latitude' : 'longitude'
    throw refused(
      nameOf(`coordinates.${missing}`),
      'it is missing: write both latitude and longitude, or neither',
    )
  }
  if (latitude === 0 && longitude === 0) {
    throw refused(nameOf('coordinates.latitude'), '0, 0 means an unknown location: leave both out')
  }
  if (latitude === null || longitude === null) return NO_COORDINATES
  const [north, east] = coordinatesOf(latitude, longitude)
  return { latitude: north, longitude: east }
}

function refused(name: string, why: string): InvalidOverlayError {
  return new InvalidOverlayError(`${name}: ${why}`)
}

/**
 * A database of the option `overlays`; `null` for none. The most specific network with an address is used.
 *
 * @throws InvalidOverlayError when they are not valid
 */
export function openOverlays(overlays: readonly Overlay[]): Database | null {
  const values = new ValueTable()
  const networks = readOverlays(overlays, (record) => values.add(record))
  if (networks.length === 0) return null
  const trie = new NetworkTrie()
  for (const { family, words, prefixLength, value } of networks)
    if (family === 6) trie.set(words, prefixLength, linkToValue(value))
  // IPv4 last: an IPv6 network around it, such as ::/8, holds IPv6 addresses only.
  for (const { words, prefixLength } of LOOKED_UP_AS_IPV4) trie.set(words, prefixLength, EMPTY)
  for (const network of networks) {
    if (network.family === 6) continue
    const { words, prefixLength } = ipv4InIPv6(network)
    trie.set(words, prefixLength, linkToValue(network.value))
  }
  const table = new NodeTable()
  const root = trie.addTo(table)
  const bytes = encodeDatabase(new SearchTreeEncoder(table, root), new DataSectionEncoder(values), {
    databaseType: 'Geofix-Overlays',
    ipVersion: 6,
    languages: [],
    description: {},
    buildDate: new Date(DEFAULT_BUILD_DATE),
  })
  return new Database(bytes)
}
