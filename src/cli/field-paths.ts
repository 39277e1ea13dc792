import type { MmdbValue } from '../mmdb/whole-record.ts'
import { isMap } from '../mmdb/whole-record.ts'

/** Records are looked at until they are this large together. */
const MAX_BYTES = 32 * 1024 * 1024

/**
 * The fields that any of the records holds, sorted, as paths: `country.iso_code`, `subdivisions[].names`. The
 * languages below `names` are not fields of their own.
 */
export function fieldsOf(records: Iterable<MmdbValue>): string[] {
  const fields = new Set<string>()
  let bytes = 0
  for (const record of records) {
    bytes += collect(record, '', fields)
    // Hostile records are as large as a decoder lets them be.
    if (bytes > MAX_BYTES) break
  }
  return [...fields].sort()
}

/** @returns about how many bytes the value takes */
function collect(value: MmdbValue, path: string, fields: Set<string>): number {
  let bytes = typeof value === 'string' ? value.length : 8
  if (Array.isArray(value)) {
    for (const element of value) bytes += collect(element, `${path}[]`, fields)
  } else if (isMap(value) && path !== 'names' && !path.endsWith('.names')) {
    for (const [key, member] of Object.entries(value)) {
      bytes += collect(member, path === '' ? key : `${path}.${key}`, fields)
    }
  } else if (path !== '') {
    fields.add(path)
  }
  return bytes
}
