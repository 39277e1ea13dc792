import type { DataSection } from '../mmdb/data-section.ts'
import { FieldReader, type Path } from '../mmdb/field-reader.ts'
import type { RawLocation } from './facts.ts'
import { TranslationCache } from './name-table.ts'
import type { SampledFields } from './record-fields.ts'

/** Reads the records of one database. */
export interface RawLocationReader {
  /** What the record at an offset says. @throws InvalidDatabaseError when it is damaged */
  at(offset: number): RawLocation
  /** About as many bytes as the names it has made take in memory. */
  readonly retainedBytes: number
}

/** How one vendor writes a place. */
export interface Schema {
  /** Told by the fields that records hold, never by what the database calls itself. */
  readonly recognises: (fields: SampledFields) => boolean
  readonly readerFor: (data: DataSection) => RawLocationReader
}

/**
 * A vendor's schema: which fields of its records to read, and what they mean.
 *
 * @param paths where the fields are
 * @param factsOf turns the fields of one record into facts
 */
export function defineSchema<Name extends string>(
  recognises: (fields: SampledFields) => boolean,
  paths: Readonly<Record<Name, Path>>,
  factsOf: (fields: FieldReader<Name>, names: TranslationCache) => RawLocation,
): Schema {
  return {
    recognises,
    readerFor: (data) => {
      const fields = new FieldReader(data, paths)
      const names = new TranslationCache()
      return {
        at: (offset) => {
          fields.read(offset)
          return factsOf(fields, names)
        },
        get retainedBytes() {
          return names.retainedBytes
        },
      }
    },
  }
}
