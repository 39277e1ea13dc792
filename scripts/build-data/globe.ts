import { around, distance } from 'geokdbush'
import KDBush from 'kdbush'

/** A point on the globe, in decimal degrees. */
export type Point = { readonly latitude: number; readonly longitude: number }

/** Distance along the surface. */
export function distanceKm(a: Point, b: Point): number {
  return distance(a.longitude, a.latitude, b.longitude, b.latitude)
}

export type Neighbour<T> = { readonly item: T; readonly km: number }

/** Finds the nearest of many points. */
export class NearestIndex<T extends Point> {
  readonly #items: readonly T[]
  readonly #tree: KDBush

  constructor(items: readonly T[]) {
    this.#items = items
    this.#tree = new KDBush(items.length)
    for (const { latitude, longitude } of items) this.#tree.add(longitude, latitude)
    this.#tree.finish()
  }

  nearest(point: Point): Neighbour<T> | undefined {
    return this.nearestOf(point, 1)[0]
  }

  /** Up to `count` neighbours, the nearest first. */
  nearestOf(point: Point, count: number): Neighbour<T>[] {
    return around(this.#tree, point.longitude, point.latitude, count).flatMap((number) => {
      const item = this.#items[number]
      return item === undefined ? [] : [{ item, km: distanceKm(item, point) }]
    })
  }
}

/** Groups items by a key, in their order. */
export function groupBy<K, T>(items: Iterable<T>, keyOf: (item: T) => K): Map<K, T[]> {
  const groups = new Map<K, T[]>()
  for (const item of items) {
    const key = keyOf(item)
    const group = groups.get(key)
    if (group === undefined) groups.set(key, [item])
    else group.push(item)
  }
  return groups
}
