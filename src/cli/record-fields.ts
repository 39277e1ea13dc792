import { isMap } from '../mmdb/metadata.ts'
import type { MmdbValue } from '../mmdb/whole-record.ts'

/**
 * The fields that any of the records holds, sorted, as paths: `country.iso_code`, `subdivisions[].names`. The
 * languages below `names` are not fields of their own.
 */
export function fieldsOf(records: Iterable<MmdbValue>): string[] {
  const fields = new Set<string>()
  for (const record of records) collect(record, '', fields)
  return [...fields].sort()
}

function collect(value: MmdbValue, path: string, fields: Set<string>): void {
  if (Array.isArray(value)) {
    for (const element of value) collect(element, `${path}[]`, fields)
  } else if (isMap(value) && path !== 'names' && !path.endsWith('.names')) {
    for (const [key, member] of Object.entries(value)) {
      collect(member, path === '' ? key : `${path}.${key}`, fields)
    }
  } else if (path !== '') {
    fields.add(path)
  }
}
