import type { SampledFields } from './record-fields.ts'
import type { Schema } from './schema.ts'
import { geoip2 } from './schemas/geoip2.ts'
import { ipLocationDb } from './schemas/ip-location-db.ts'
import { ipinfo } from './schemas/ipinfo.ts'

/** All schemas that are known. A new vendor is a file in `schemas/` and a name here. */
const SCHEMAS: readonly Schema[] = [geoip2, ipLocationDb, ipinfo]

/** Tells the schema of a database by the fields that its records hold; `null` when it is none of those known. */
export function recogniseSchema(fields: SampledFields): Schema | null {
  return SCHEMAS.find((schema) => schema.recognises(fields)) ?? null
}
