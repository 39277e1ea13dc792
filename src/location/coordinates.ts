import type { Coordinates } from './location-record.ts'

/** What a record has whose database does not know the place. */
export const NO_COORDINATES: Coordinates = Object.freeze({ latitude: null, longitude: null })

/**
 * A place on the map, or {@link NO_COORDINATES}: when one of the two is missing, when one is out of range,
 * and at 0, 0 in the Gulf of Guinea, where nobody is and where files put what they do not know.
 */
export function coordinatesOf(latitude: number | null, longitude: number | null): Coordinates {
  if (latitude === null || longitude === null) return NO_COORDINATES
  if (!(Math.abs(latitude) <= 90 && Math.abs(longitude) <= 180)) return NO_COORDINATES
  if (latitude === 0 && longitude === 0) return NO_COORDINATES
  return Object.freeze({ latitude: shortest(latitude), longitude: shortest(longitude) })
}

/**
 * A number that is exactly a 32-bit float came from one, and 51.40359878540039 is noise: the shortest
 * decimal that is the same float is meant (51.4036). Other doubles stay as they are.
 */
function shortest(value: number): number {
  if (Math.fround(value) !== value) return value
  for (let digits = 1; digits < 9; digits++) {
    const decimal = Number(value.toPrecision(digits))
    if (Math.fround(decimal) === value) return decimal
  }
  return Number(value.toPrecision(9))
}
