import type { InvalidDatabaseError } from '../errors.ts'
import type { FieldPaths } from '../mmdb/field-reader.ts'
import { LocationTable } from './location-table.ts'
import { LocationTables } from './location-tables.ts'
import type { ChoosePaths } from './schema.ts'

/** How the names of the fields begin, in all schemas, that a value is made from. */
const NAMES = {
  region: ['region'],
  timezone: ['timeZone'],
  city: ['city'],
  postalCode: ['postal'],
  coordinates: ['lat', 'lng', 'lo'],
} as const

/** The values of a location that can be left out. */
export type OptionalValue = keyof typeof NAMES

/** The same locations without some values, in tables of their own. Damage of what is left out is not noticed. */
export class NarrowTables extends LocationTables {
  readonly tables: LocationTables['tables']
  readonly noLocationsError: InvalidDatabaseError | null

  constructor({ tables, noLocationsError }: LocationTables, omitted: readonly OptionalValue[]) {
    super()
    this.tables = tables.map((table) =>
      table instanceof LocationTable ? narrowTable(table, omitted) : table,
    )
    this.noLocationsError = noLocationsError
  }
}

/** A table of the same locations without some values. */
export function narrowTable(whole: LocationTable, omitted: readonly OptionalValue[]): LocationTable {
  const { recognises, readerFor } = whole.schema
  const names = omitted.flatMap((value): readonly string[] => NAMES[value])
  const choose: ChoosePaths = <Name extends string>(paths: FieldPaths<Name>) => {
    const kept = { ...paths }
    for (const name in kept) if (names.some((each) => name.startsWith(each))) delete kept[name]
    return kept
  }
  return new LocationTable(
    whole.database,
    { recognises, readerFor: (data) => readerFor(data, choose) },
    whole,
  )
}
