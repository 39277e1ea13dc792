import { isIPv4Compatible, mappedIPv4, translatedIPv4 } from '../address/address.ts'
import { formatCidr, type Network, NOT_IPV4, parseNetwork } from '../address/ip-text.ts'
import { utf8Encoder } from '../bytes/utf8.ts'
import { InvalidOverlayError, quoted } from '../errors.ts'
import { MAX_TEXT_BYTES } from '../mmdb/field-reader.ts'
import { double, type WritableValue } from '../mmdb/writer/value.ts'
import { messageOf } from '../realm.ts'
import { officialCountryCode } from './country-codes.ts'
import type { Coordinates } from './location-record.ts'
import { coordinatesOf, NO_COORDINATES } from './schema.ts'
import { regionCodeOf } from './shared-parts.ts'
import { remember } from './tables.ts'
import { timezoneOf } from './timezone.ts'

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
  readonly coordinates?:
    | { readonly latitude: number | null; readonly longitude: number | null }
    | null
    | undefined
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
export interface OverlaidNetwork extends Network {
  /** The canonical text. */
  readonly text: string
  /** With the schema of GeoIP2, which most readers know. Names are those of English. */
  readonly value: WritableValue
  /** Whether the record has a name. */
  readonly hasNames: boolean
}

/** The most overlays. Each takes up to 1 kB of memory for an IPv4 network, and 2 kB for an IPv6 network. */
const MAX_OVERLAYS = 100_000

/** Names an overlay, or a field of it such as `country.code`, in an error. */
export type OverlayName = (index: number, field: string) => string

const inOption: OverlayName = (index, field) => `overlays[${index}]${field === '' ? '' : `.${field}`}`

/**
 * Checks overlays and makes their records. Keeps nothing of the caller's objects.
 *
 * @param nameOf names a field in errors
 * @returns the networks, larger ones first, so that a more specific one is inserted after those around it
 * @throws InvalidOverlayError when one is not valid, or two have the same network
 */
export function readOverlays(overlays: unknown, nameOf: OverlayName = inOption): OverlaidNetwork[] {
  if (!Array.isArray(overlays))
    throw new InvalidOverlayError('overlays must be an array of { network, record }')
  if (overlays.length > MAX_OVERLAYS) {
    throw new InvalidOverlayError(
      `there are ${overlays.length} overlays, more than ${MAX_OVERLAYS}: write a database with MmdbWriter`,
    )
  }
  const zones = new Map<string, string>()
  const indexes = new Map<string, number>()
  return Array.from(overlays, (each: unknown, index): OverlaidNetwork => {
    const { network: text, record } = membersOf(each ?? '', ['network', 'record'], nameOf(index, ''))
    const network = networkOf(text, nameOf(index, 'network'))
    const cidr = formatCidr(network.family, network.words, network.prefixLength)
    const other = indexes.get(cidr)
    if (other !== undefined) {
      throw refused(nameOf(index, 'network'), `${cidr} is also ${nameOf(other, 'network')}: keep one of them`)
    }
    indexes.set(cidr, index)
    return { ...network, text: cidr, ...checkedValue(record, zones, (field) => nameOf(index, field)) }
  }).sort((a, b) => a.prefixLength - b.prefixLength)
}

function networkOf(value: unknown, name: string): Network {
  if (typeof value !== 'string' || value === '')
    throw refused(name, 'write a network as text, such as 10.1.0.0/16')
  const network = parsedNetwork(value, name)
  const { family, words, prefixLength } = network
  if (family === 4) return network
  const ipv4 = mappedIPv4(words)
  if (ipv4 !== NOT_IPV4 && prefixLength >= 96) {
    return { family: 4, words: Uint32Array.of(ipv4), prefixLength: prefixLength - 96 }
  }
  if (isIPv4Compatible(words) && prefixLength >= 96) {
    throw refused(name, `${quoted(value)} is in ::/96, where databases have IPv4 networks: write those`)
  }
  // 6to4, Teredo, NAT64
  const shortest = words[0] === 0x2001_0000 ? 32 : words[0] === 0x0064_ff9b ? 96 : 16
  if (prefixLength >= shortest && translatedIPv4(words) !== NOT_IPV4) {
    throw refused(
      name,
      `6to4, Teredo and NAT64 addresses have the location of the IPv4 address inside: write the IPv4 network instead of ${value}`,
    )
  }
  return network
}

function parsedNetwork(value: string, name: string): Network {
  try {
    return parseNetwork(value)
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
): Pick<OverlaidNetwork, 'value' | 'hasNames'> {
  const record = membersOf(given ?? '', RECORD_FIELDS, nameOf('record'))
  const part = (field: 'country' | 'region'): { code: string | null; name: string | null } => {
    const { code, name } = membersOf(record[field], ['code', 'name'], nameOf(field))
    return { code: textOf(code, nameOf(`${field}.code`)), name: textOf(name, nameOf(`${field}.name`)) }
  }
  const [country, region] = [part('country'), part('region')]
  if (country.code !== null) country.code = givenCountryCode(country.code, nameOf('country.code'))
  const regionCode = regionCodeOf(country.code, region.code)
  if (region.code !== null && regionCode === null) {
    const ofCountry = country.code === null ? '' : ` of ${country.code}`
    throw refused(nameOf('region.code'), `it is not an ISO 3166-2 code${ofCountry}: write one such as DE-BE`)
  }
  const { id } = membersOf(record.timezone, ['id', 'offset'], nameOf('timezone'))
  const city = textOf(record.city, nameOf('city'))
  const postalCode = textOf(record.postal_code, nameOf('postal_code'))
  const { latitude, longitude } = positionOf(record.coordinates, nameOf)
  const zone = zoneOf(textOf(id, nameOf('timezone.id')), zones, nameOf('timezone.id'))
  // As in GeoIP2, the code of a region has no country in it, unless the record has none either.
  const written = country.code === null ? regionCode : (regionCode?.slice(country.code.length + 1) ?? null)
  const namesOf = (name: string | null): WritableValue | null => known({ en: name })
  const subdivision = known({ iso_code: written, names: namesOf(region.name) })
  const value = known({
    city: known({ names: namesOf(city) }),
    country: known({ iso_code: country.code, names: namesOf(country.name) }),
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
  return { value, hasNames: (city ?? country.name ?? region.name) !== null }
}

/** The members that are not `null`; `null` for none. */
function known(members: Record<string, WritableValue | null>): Record<string, WritableValue> | null {
  const given = Object.entries(members).flatMap(([name, value]) => (value === null ? [] : [[name, value]]))
  return given.length === 0 ? null : Object.fromEntries(given)
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

const RECORD_FIELDS = ['country', 'region', 'city', 'postal_code', 'coordinates', 'timezone'] as const

/** The members of an object that may be absent. @throws InvalidOverlayError when it has others */
function membersOf<Name extends string>(
  value: unknown,
  names: readonly Name[],
  name: string,
): { readonly [Each in Name]?: unknown } {
  if (value === undefined || value === null) return {}
  const known: readonly string[] = names
  if (typeof value !== 'object' || Array.isArray(value))
    throw refused(name, `write an object with ${names.join(', ')}`)
  const other = Object.keys(value).find((each) => !known.includes(each))
  if (other === undefined) return value
  throw refused(name, `it has ${quoted(other)}: write ${names.join(', ')} only`)
}

function textOf(value: unknown, name: string): string | null {
  if (value === undefined || value === null) return null
  if (typeof value !== 'string' || value === '')
    throw refused(name, 'write a text, or null if it is not known')
  if (/\p{Surrogate}/u.test(value)) throw refused(name, 'it has an unpaired surrogate, which is not text')
  if (utf8Encoder().encode(value).length > MAX_TEXT_BYTES) {
    throw refused(name, `it has more than ${MAX_TEXT_BYTES} bytes in UTF-8: shorten it`)
  }
  return value
}

function givenCountryCode(text: string, name: string): string {
  try {
    return officialCountryCode(text)
  } catch (error) {
    throw refused(name, messageOf(error))
  }
}

function positionOf(value: unknown, nameOf: (field: string) => string): Coordinates {
  const members = membersOf(value, ['latitude', 'longitude'], nameOf('coordinates'))
  const [latitude, longitude] = (['latitude', 'longitude'] as const).map((each, index) => {
    const degrees = members[each] ?? null
    const most = index === 0 ? 90 : 180
    if (degrees === null || (typeof degrees === 'number' && Math.abs(degrees) <= most)) return degrees
    throw refused(nameOf(`coordinates.${each}`), `write a number from -${most} to ${most}`)
  })
  if (latitude === undefined || longitude === undefined) return NO_COORDINATES
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
  return coordinatesOf(latitude, longitude)
}

function refused(name: string, why: string): InvalidOverlayError {
  return new InvalidOverlayError(`${name}: ${why}`)
}
