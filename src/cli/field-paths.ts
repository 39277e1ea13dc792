import type { MmdbValue } from '../mmdb/whole-record.ts'
import { isMap } from '../mmdb/whole-record.ts'

/** Records are looked at until they are this large together, in bytes. Hostile ones are as large as a decoder allows. */
const MOST_BYTES = 32 * 1024 * 1024

/** Longer paths are nobody's fields, in characters: the keys above a field can be megabytes, and each path has them again. */
const LONGEST = 256

/** Fields that are found, at most: who has more uses addresses, or the like, as keys. */
const MOST_FIELDS = 1000

/**
 * The fields that any of the records holds, sorted, as paths: `country.iso_code`, `subdivisions[].names`. The
 * languages below `names` are not fields of their own. The first 1,000 that are found, with paths of at most 256
 * characters.
 */
export function fieldsOf(records: Iterable<MmdbValue>): string[] {
  const fields = new Set<string>()
  let bytes = 0
  for (const record of records) {
    bytes += collect(record, '', fields)
    if (bytes > MOST_BYTES) break
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
      bytes += key.length
      if (path.length + key.length >= LONGEST) continue
      bytes += collect(member, path === '' ? key : `${path}.${key}`, fields)
    }
  } else if (path !== '' && fields.size < MOST_FIELDS) {
    fields.add(path)
  }
  return bytes
}
