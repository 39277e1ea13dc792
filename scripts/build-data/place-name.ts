/** A city's name as DB-IP gives it, taken apart. */
export type PlaceName = {
  /** `''` when the source names none. */
  readonly city: string
  /** The quarter that DB-IP writes in brackets behind the city, or `null`. */
  readonly district: string | null
}

/** NFC, and one space where there were several: all that is done to the source's spelling. */
export function normaliseName(name: string): string {
  return name.normalize('NFC').replace(/\s+/g, ' ').trim()
}

/**
 * `Los Angeles (Playa Vista)` is the city Los Angeles and its district Playa Vista. Nothing is lost:
 * {@link joinCity} puts the two together again. A name that only consists of brackets stays whole.
 */
export function splitCity(name: string): PlaceName {
  const normal = normaliseName(name)
  const match = /^([^()]+) \((.+)\)$/.exec(normal)
  const [, city, district] = match ?? []
  if (city === undefined || district === undefined) return { city: normal, district: null }
  return { city, district }
}

/** The source's one name again. */
export function joinCity({ city, district }: PlaceName): string {
  return district === null ? city : `${city} (${district})`
}
