// Answers with some fields of a record, and as text for people at a command line.
import { memberOf } from '../client/request-source.ts'
import { quoted } from '../errors.ts'
import type { AsnRecord } from '../location/autonomous-systems.ts'
import type { LocationRecord } from '../location/location-record.ts'
import type { Problem } from './problem.ts'

/** A record as the service gives it. */
export interface ServedRecord extends LocationRecord {
  /** The autonomous system, only with the option `asn`. */
  readonly asn?: AsnRecord | null
}

const LOCATION_PATHS = [
  ...(['ip', 'country.code', 'country.name', 'region.name', 'region.code', 'city', 'postal_code'] as const),
  ...(['coordinates.latitude', 'coordinates.longitude', 'timezone.id', 'timezone.offset'] as const),
]
/** The paths of values in the JSON of a record, in its order. */
const ALL_PATHS = [...LOCATION_PATHS, ...(['asn.number', 'asn.organization', 'asn.network'] as const)]

type Path = (typeof ALL_PATHS)[number]

/** `null` if it is unknown. */
function valueAt(record: ServedRecord, path: Path): unknown {
  return path.split('.').reduce<unknown>(memberOf, record) ?? null
}

/** Paths in the order of the request, each once. */
export type Fields = readonly Path[]

/**
 * Reads the parameter `fields`: paths such as `city` and `country.code`, separated by commas. `country` stands for all
 * fields of the country.
 *
 * @param hasAsn whether records have autonomous systems
 * @returns `null` for all fields, if there is no parameter
 */
export function fieldsOf(text: string | undefined, hasAsn = false): Fields | Problem | null {
  if (text === undefined) return null
  const paths = hasAsn ? ALL_PATHS : LOCATION_PATHS
  const fields = new Set<Path>()
  for (const name of text.split(',')) {
    const found = paths.filter((path) => path === name || path.startsWith(`${name}.`))
    if (found.length === 0) {
      const detail = `There is no field ${quoted(name)}. The fields are ${paths.join(', ')}.`
      return { code: 'INVALID_FIELDS', detail }
    }
    for (const path of found) fields.add(path)
  }
  return [...fields]
}

/** The part of a record with some fields, as plain data in the record's order. */
export function selected(record: ServedRecord, fields: Fields): object {
  const part: Record<string, unknown> = {}
  for (const path of ALL_PATHS) {
    if (!fields.includes(path)) continue
    const [member = '', inner] = path.split('.')
    if (member === 'asn' && !record.asn) {
      part[member] = null
      continue
    }
    const value = valueAt(record, path)
    part[member] = inner === undefined ? value : { ...Object(part[member]), [inner]: value }
  }
  return part
}

/** One value a line, empty if it is unknown; without `fields` all, each with its path. */
export function recordText(record: ServedRecord, fields: Fields | null): string {
  const line = (path: Path): string => String(valueAt(record, path) ?? '').replace(NOT_ONE_LINE, '\ufffd')
  return fields === null
    ? (record.asn === undefined ? LOCATION_PATHS : ALL_PATHS)
        .map((path) => `${path}: ${line(path)}\n`)
        .join('')
    : fields.map((path) => `${line(path)}\n`).join('')
}

/** Control characters, other ends of lines, and controls that reverse text on a terminal. */
const NOT_ONE_LINE = /[\p{Cc}\u2028-\u202e\u2066-\u2069]/gu

/** Whether a client prefers text to JSON (RFC 9110 section 12.5.1). @param accept its field `Accept` */
export function prefersText(accept: string | null): boolean {
  return accept !== null && accept !== '*/*' && qualityOf(accept, 'text') > qualityOf(accept, 'json')
}

const RANGES = {
  text: ['text/plain', 'text/*', '*/*'],
  json: ['application/json', 'application/*', '*/*'],
} as const

/** The quality of the most specific range that has a type; 0 if none has. */
function qualityOf(accept: string, type: keyof typeof RANGES): number {
  const ranges = accept.split(',').map((range) => {
    const [name = '', ...parameters] = range.split(';').map((each) => each.trim().toLowerCase())
    const q = parameters.find((each) => each.startsWith('q='))
    return { name, quality: q === undefined ? 1 : Number(q.slice(2)) || 0 }
  })
  for (const name of RANGES[type]) {
    const range = ranges.find((each) => each.name === name)
    if (range !== undefined) return range.quality
  }
  return 0
}
