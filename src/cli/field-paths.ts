import type { MmdbValue } from '../mmdb/record-decoder.ts'
import { isMap } from '../mmdb/record-decoder.ts'

/** Records are looked at until they take this much together, in bytes. Hostile ones are as large as a decoder allows. */
const MOST_BYTES = 16 * 1024 * 1024

/** What a value costs beside its text or bytes, as much as in memory. Bytes. */
const VALUE_BYTES = 64

/** Longer paths are nobody's fields, in characters: keys above a field can be long, and each path has them again. */
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

/**
 * @param path of the value; `null` where nothing is told any more
 * @returns about how many bytes the value takes
 */
function collect(value: MmdbValue, path: string | null, fields: Set<string>): number {
  let bytes = VALUE_BYTES
  if (typeof value === 'string' || value instanceof Uint8Array) bytes += value.length
  if (Array.isArray(value)) {
    for (const element of value) bytes += collect(element, path === null ? null : `${path}[]`, fields)
  } else if (isMap(value)) {
    const isField = path === 'names' || path?.endsWith('.names')
    if (isField) note(path, fields)
    for (const [key, member] of Object.entries(value)) {
      bytes += key.length + collect(member, isField ? null : pathOf(path, key), fields)
    }
  } else {
    note(path, fields)
  }
  return bytes
}

function pathOf(path: string | null, key: string): string | null {
  if (path === null || path.length > LONGEST) return null
  return path === '' ? key : `${path}.${key}`
}

function note(path: string | null, fields: Set<string>): void {
  if (path && path.length <= LONGEST && fields.size < MOST_FIELDS) fields.add(path)
}
