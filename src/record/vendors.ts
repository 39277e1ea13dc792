import { isGeofixError } from '../errors.ts'
import type { Database } from '../mmdb/database.ts'
import { isMap } from '../mmdb/metadata.ts'
import { firstRecords } from '../mmdb/networks.ts'
import type { Schema } from './schema.ts'
import { geoip2 } from './schemas/geoip2.ts'
import { ipLocationDb } from './schemas/ip-location-db.ts'
import { ipinfo } from './schemas/ipinfo.ts'

/** All schemas that are known. A new vendor is a file in `schemas/` and a name here. */
const SCHEMAS: readonly Schema[] = [geoip2, ipLocationDb, ipinfo]

/** Records looked at, at most, to tell the schema: the first ones of a file can be sparse. */
const SAMPLE = 1000

/** What the records of a database turned out to be. */
export type Recognition =
  | { readonly schema: Schema }
  /** `schema: null`: no record is of a known schema; `fields` are the keys that were met, sorted. */
  | { readonly schema: null; readonly fields: readonly string[] }

/** Tells a database's schema by the fields that its records hold. Damaged records are passed over. */
export function recognise(database: Database): Recognition {
  const fields = new Set<string>()
  for (const offset of firstRecords(database, SAMPLE)) {
    const record = readable(database, offset)
    if (record === undefined || !isMap(record)) continue
    const schema = SCHEMAS.find((each) => each.recognises(record))
    if (schema !== undefined) return { schema }
    for (const key of Object.keys(record)) fields.add(key)
  }
  return { schema: null, fields: [...fields].sort() }
}

function readable(database: Database, offset: number): ReturnType<Database['record']> | undefined {
  try {
    return database.record(offset)
  } catch (error) {
    if (isGeofixError(error)) return undefined
    throw error
  }
}
