import type { DataSection } from '../mmdb/data-section.ts'
import { FieldReader, type Path } from '../mmdb/field-reader.ts'
import type { Facts } from './facts.ts'
import { NameTable } from './name-table.ts'
import type { RecordFields } from './record-fields.ts'

/** Reads the records of one database. */
export interface FactsReader {
  /** What the record at an offset says. @throws InvalidDatabaseError when it is damaged */
  at(offset: number): Facts
  /** About as many bytes as the names it has made take in memory. */
  readonly weight: number
}

/** How one vendor writes a place. */
export interface Schema {
  /** Told by the fields that records hold, never by what the database calls itself. */
  readonly recognises: (fields: RecordFields) => boolean
  readonly readerFor: (data: DataSection) => FactsReader
}

/**
 * A vendor's schema: which fields of its records to read, and what they mean.
 *
 * @param paths where the fields are
 * @param factsOf turns the fields of one record into facts
 */
export function defineSchema<Name extends string>(
  recognises: (fields: RecordFields) => boolean,
  paths: Readonly<Record<Name, Path>>,
  factsOf: (fields: FieldReader<Name>, names: NameTable) => Facts,
): Schema {
  return {
    recognises,
    readerFor: (data) => {
      const fields = new FieldReader(data, paths)
      const names = new NameTable()
      return {
        at: (offset) => {
          fields.read(offset)
          return factsOf(fields, names)
        },
        get weight() {
          return names.weight
        },
      }
    },
  }
}
