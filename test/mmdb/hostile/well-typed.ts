// The contract of LocationRecord, checked independently of the source.

const CODE = /^[A-Z]{2}$/
const REGION_CODE = /^[A-Z]{2}-[A-Z0-9]{1,3}$/
const OFFSET = /^[+-]\d\d:\d\d$/

const PARTS: Readonly<Record<string, Readonly<Record<string, (value: unknown) => boolean>>>> = {
  country: { code: matching(CODE), name: isText },
  region: { name: isText, code: matching(REGION_CODE) },
  coordinates: { latitude: within(90), longitude: within(180) },
  timezone: { id: isText, offset: matching(OFFSET) },
}

/** Longer than any text of a location may be. */
const MOST_TEXT = 512

/** Why a value is not a valid LocationRecord for an address; `null` if it is. */
export function faultOfRecord(record: unknown, ip: string): string | null {
  if (!isPlain(record)) return 'it is no plain object'
  const keys = ['ip', 'country', 'region', 'city', 'postal_code', 'coordinates', 'timezone']
  if (!hasKeys(record, keys)) return `its keys are ${Object.keys(record)}`
  if (record.ip !== ip) return `ip is ${record.ip}`
  for (const key of ['city', 'postal_code']) if (!isText(record[key])) return `${key} is ${record[key]}`
  for (const [name, fields] of Object.entries(PARTS)) {
    const part = record[name]
    if (!isPlain(part) || !hasKeys(part, Object.keys(fields))) return `${name} has not its keys`
    for (const [key, isRight] of Object.entries(fields)) {
      if (!isRight(part[key])) return `${name}.${key} is ${JSON.stringify(part[key])}`
    }
  }
  const { latitude, longitude } = record.coordinates as Record<string, unknown>
  if ((latitude === null) !== (longitude === null)) return 'one of its coordinates is missing'
  const { id, offset } = record.timezone as Record<string, unknown>
  return id === null && offset !== null ? 'it has an offset without a zone' : null
}

function isPlain(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && Object.getPrototypeOf(value) === Object.prototype
}

function hasKeys(object: object, keys: readonly string[]): boolean {
  return Reflect.ownKeys(object).sort().join() === [...keys].sort().join()
}

function isText(value: unknown): boolean {
  return value === null || (typeof value === 'string' && value !== '' && value.length <= MOST_TEXT)
}

function matching(pattern: RegExp): (value: unknown) => boolean {
  return (value) => value === null || (typeof value === 'string' && pattern.test(value))
}

function within(most: number): (value: unknown) => boolean {
  return (value) => value === null || (typeof value === 'number' && Math.abs(value) <= most)
}
