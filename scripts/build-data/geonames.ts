import { readFileSync } from 'node:fs'

/** A city of GeoNames' cities500, as far as time zones need it. */
export type City = {
  readonly country: string
  readonly latitude: number
  readonly longitude: number
  readonly zone: string
}

/** Reads cities500.txt (columns of GeoNames' main table: 4 latitude, 5 longitude, 8 country, 17 time zone). */
export function readCities(path: string): City[] {
  return readFileSync(path, 'utf8')
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => {
      const columns = line.split('\t')
      return {
        latitude: Number(columns[4]),
        longitude: Number(columns[5]),
        country: columns[8] ?? '',
        zone: columns[17] ?? '',
      }
    })
}
