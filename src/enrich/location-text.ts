import type { Locale } from '../location/locale.ts'
import type { Country, LocationRecord, Region } from '../location/location-record.ts'
import type { Location } from '../location/location-table.ts'
import type { LocationField } from './options.ts'
import type { Offset } from './zone-offsets.ts'

/** A location as text, without its time-zone offset, which depends on the time of the line. */
export interface LocationText {
  /** The text before the offset. */
  readonly before: string
  /** The text after the offset; `null` if no offset is written. */
  readonly after: string | null
}

/** How the locations of a run are written. */
export interface LocationTemplate {
  textOf(location: Location, locale: Locale): LocationText
  offsetText(offset: Offset): string
}

/** The start of a record's JSON, before its `ip`. */
export const JSON_HEAD = '{"ip":"'

/** JSON of the frozen countries and regions that records share. */
const jsons = /* @__PURE__ */ new WeakMap<Country | Region, string>()

/** Any instant will do: only the offset depends on it, and the offset is written separately. */
const ANY_INSTANT = 0

/**
 * A record as `JSON.stringify` writes it, from after the text of its `ip`. Reuses the JSON of shared parts, which is
 * twice as fast.
 */
export const JSON_TEMPLATE: LocationTemplate = {
  textOf: (location, locale) => {
    const { country, region, city, postal_code, coordinates, timezone } = location.record(
      '',
      locale,
      ANY_INSTANT,
    )
    const { latitude, longitude } = coordinates
    const head = `","country":${jsonOf(country)},"region":${jsonOf(region)},"city":${JSON.stringify(city)}`
    const middle = `,"postal_code":${JSON.stringify(postal_code)},"coordinates":{"latitude":${latitude}`
    const zone = `,"longitude":${longitude}},"timezone":{"id":${JSON.stringify(timezone.id)},"offset":`
    return { before: head + middle + zone, after: '}}' }
  },
  offsetText: ({ json }) => json,
}

function jsonOf(part: Country | Region): string {
  let json = jsons.get(part)
  if (json === undefined) {
    json = JSON.stringify(part)
    jsons.set(part, json)
  }
  return json
}

/** The value of each column, and nothing for the offset, which is written separately. */
const COLUMNS: Readonly<Record<LocationField, (record: LocationRecord) => string | number | null>> = {
  country_code: ({ country }) => country.code,
  country_name: ({ country }) => country.name,
  region_code: ({ region }) => region.code,
  region_name: ({ region }) => region.name,
  city: ({ city }) => city,
  postal_code: ({ postal_code }) => postal_code,
  latitude: ({ coordinates }) => coordinates.latitude,
  longitude: ({ coordinates }) => coordinates.longitude,
  timezone_id: ({ timezone }) => timezone.id,
  timezone_offset: () => null,
}

/**
 * Columns of a record, with the delimiter between them.
 *
 * @param quotes whether a value can be quoted as RFC 4180 section 2 says; if not, a delimiter or a line end in it would
 *   end the column, and becomes a space
 */
export function columnsTemplate(
  columns: readonly LocationField[],
  delimiter: string,
  quotes: boolean,
): LocationTemplate {
  const quoted = (text: string): string =>
    text.includes(delimiter) || /["\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
  const plain = (text: string): string => text.replaceAll(delimiter, ' ').replace(/[\r\n]/g, ' ')
  return columnsOf(columns, delimiter, (value) => (quotes ? quoted : plain)(value ?? ''))
}

const ESCAPES: Readonly<Record<string, string>> = { '\t': '\\t', '\n': '\\n', '\r': '\\r' }

/**
 * The same without quotes: a backslash is before what would end a value, and an unknown value is `\N`, as in
 * `TabSeparated` of ClickHouse and in the text tables of Hive.
 */
export function escapedColumnsTemplate(
  columns: readonly LocationField[],
  delimiter: string,
): LocationTemplate {
  const special = new RegExp(`[\\\\\\t\\n\\r${delimiter}]`, 'g')
  const escaped = (text: string): string => text.replace(special, (each) => ESCAPES[each] ?? `\\${each}`)
  return columnsOf(columns, delimiter, (value) => (value === null ? '\\N' : escaped(value)))
}

function columnsOf(
  columns: readonly LocationField[],
  delimiter: string,
  cellOf: (value: string | null) => string,
): LocationTemplate {
  const offset = columns.indexOf('timezone_offset')
  return {
    textOf: (location, locale) => {
      const record = location.record('', locale, ANY_INSTANT)
      const texts = columns.map((column) => {
        const value = COLUMNS[column](record)
        // The offset is written separately.
        return column === 'timezone_offset' ? '' : cellOf(value === null ? null : String(value))
      })
      if (offset === -1) return { before: texts.join(delimiter), after: null }
      return {
        before: texts.slice(0, offset + 1).join(delimiter),
        after: texts.slice(offset).join(delimiter),
      }
    },
    offsetText: ({ text }) => cellOf(text),
  }
}
