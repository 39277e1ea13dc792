// Records as `JSON.stringify` writes them, with the JSON of shared parts reused.
import type { Country, LocationRecord, Region } from './location-record.ts'

/** The start of a record's JSON, before its `ip`. */
export const JSON_HEAD = '{"ip":"'
/** The end of a record's JSON, after its time-zone offset. */
export const JSON_END = '}}'

/** JSON of the frozen countries and regions that records share. */
const jsons = /* @__PURE__ */ new WeakMap<Country | Region, string>()

/** A record as `JSON.stringify` writes it. Its `ip` must be canonical text, which needs no escapes. */
export function recordJson(record: LocationRecord): string {
  return JSON_HEAD + record.ip + jsonAfterIp(record) + offsetJson(record.timezone.offset) + JSON_END
}

/** The part of a record's JSON after the text of its `ip`, up to its time-zone offset. */
export function jsonAfterIp({
  country,
  region,
  city,
  postal_code,
  coordinates: { latitude, longitude },
  timezone,
}: LocationRecord): string {
  const head = `","country":${jsonOf(country)},"region":${jsonOf(region)},"city":${JSON.stringify(city)}`
  const middle = `,"postal_code":${JSON.stringify(postal_code)},"coordinates":{"latitude":${latitude}`
  return `${head + middle},"longitude":${longitude}},"timezone":{"id":${JSON.stringify(timezone.id)},"offset":`
}

/** @param offset such as `+01:00`, which needs no escapes */
export function offsetJson(offset: string | null): string {
  return offset === null ? 'null' : `"${offset}"`
}

function jsonOf(part: Country | Region): string {
  let json = jsons.get(part)
  if (json === undefined) {
    json = JSON.stringify(part)
    jsons.set(part, json)
  }
  return json
}
