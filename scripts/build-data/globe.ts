/** A point on the globe, in decimal degrees. */
export type Point = { readonly latitude: number; readonly longitude: number }

const RADIANS = Math.PI / 180
const DIAMETER_KM = 12_742

/** Distance along the surface. */
export function distanceKm(a: Point, b: Point): number {
  const y = Math.sin(((a.latitude - b.latitude) * RADIANS) / 2)
  const x = Math.sin(((a.longitude - b.longitude) * RADIANS) / 2)
  return arcKm(Math.sqrt(y * y + x * x * Math.cos(a.latitude * RADIANS) * Math.cos(b.latitude * RADIANS)) * 2)
}

/** The distance along the surface of two points on the unit sphere that are `chord` apart. */
function arcKm(chord: number): number {
  return DIAMETER_KM * Math.asin(Math.min(1, chord / 2))
}

type Vector = readonly [x: number, y: number, z: number]

function vector({ latitude, longitude }: Point): Vector {
  const [phi, lambda] = [latitude * RADIANS, longitude * RADIANS]
  return [Math.cos(phi) * Math.cos(lambda), Math.cos(phi) * Math.sin(lambda), Math.sin(phi)]
}

export type Neighbour<T> = { readonly item: T; readonly km: number }

/** Finds the nearest of many points: a k-d tree of their positions on the unit sphere. */
export class NearestIndex<T extends Point> {
  readonly #items: readonly T[]
  /** Three numbers for each item. */
  readonly #vectors: Float64Array
  /** Numbers of items. The middle of a range is a node of the tree, and the two halves are its subtrees. */
  readonly #order: Int32Array

  constructor(items: readonly T[]) {
    this.#items = items
    this.#vectors = Float64Array.from(items.flatMap(vector))
    this.#order = Int32Array.from(items.keys())
    this.#sort(0, items.length, 0)
  }

  nearest(point: Point): Neighbour<T> | undefined {
    return this.nearestOf(point, 1)[0]
  }

  /** Up to `count` neighbours, the nearest first. */
  nearestOf(point: Point, count: number): Neighbour<T>[] {
    const [x, y, z] = vector(point)
    const order = this.#order
    const vectors = this.#vectors
    const found: { number: number; square: number }[] = []
    let farthest = Number.POSITIVE_INFINITY
    const visit = (start: number, end: number, axis: number): void => {
      if (start >= end) return
      const middle = (start + end) >> 1
      const number = order[middle] ?? 0
      const at = number * 3
      const [dx, dy, dz] = [x - (vectors[at] ?? 0), y - (vectors[at + 1] ?? 0), z - (vectors[at + 2] ?? 0)]
      const square = dx * dx + dy * dy + dz * dz
      if (square < farthest) {
        let place = found.length
        while (place > 0 && (found[place - 1]?.square ?? 0) > square) place--
        found.splice(place, 0, { number, square })
        if (found.length > count) found.pop()
        if (found.length === count) farthest = found[count - 1]?.square ?? farthest
      }
      const gap = axis === 0 ? dx : axis === 1 ? dy : dz
      const next = (axis + 1) % 3
      if (gap < 0) visit(start, middle, next)
      else visit(middle + 1, end, next)
      if (gap * gap >= farthest) return
      if (gap < 0) visit(middle + 1, end, next)
      else visit(start, middle, next)
    }
    visit(0, order.length, 0)
    return found.flatMap(({ number, square }) => {
      const item = this.#items[number]
      return item === undefined ? [] : [{ item, km: arcKm(Math.sqrt(square)) }]
    })
  }

  #sort(start: number, end: number, axis: number): void {
    if (end - start < 2) return
    const vectors = this.#vectors
    const range = this.#order.subarray(start, end)
    range.sort((a, b) => (vectors[a * 3 + axis] ?? 0) - (vectors[b * 3 + axis] ?? 0) || a - b)
    const middle = (start + end) >> 1
    this.#sort(start, middle, (axis + 1) % 3)
    this.#sort(middle + 1, end, (axis + 1) % 3)
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
