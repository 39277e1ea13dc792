import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { geoContains } from 'd3-geo'
import { iso31661NumericToAlpha2 } from 'iso-3166'
import { feature } from 'topojson-client'
import type { GeometryCollection, Topology } from 'topojson-specification'
import { groupBy, type Point } from './globe.ts'

type World = Topology<{ countries: GeometryCollection<{ name: string }> }>
type Shape = Parameters<typeof geoContains>[0]

/** Shapes without a number of ISO 3166-1. The few others are bases and reefs. */
const UNNUMBERED: Readonly<Record<string, string>> = { Kosovo: 'XK', 'N. Cyprus': 'CY', Somaliland: 'SO' }

/** The outlines are of 1:10 million, and places stand on borders and coasts. */
const TOLERANCE_DEGREES = 0.25

const AROUND: readonly (readonly [y: number, x: number])[] = [-1, 0, 1].flatMap((y) =>
  [-1, 0, 1].map((x) => [y, x] as const),
)

/** The outlines of countries, from Natural Earth. Overseas regions are part of their country there. */
export class CountryOutlines {
  readonly #shapes: ReadonlyMap<string, readonly Shape[]>

  /** @param packages the folder of world-atlas */
  constructor(packages: string) {
    const world: World = JSON.parse(readFileSync(join(packages, 'world-atlas/countries-10m.json'), 'utf8'))
    const { features } = feature(world, world.objects.countries)
    this.#shapes = groupBy(
      features,
      ({ id, properties }) => iso31661NumericToAlpha2[String(id)] ?? UNNUMBERED[properties.name] ?? '',
    )
  }

  /** Whether a point is in the country or some 25 km from it. `null` if there is no outline of the country. */
  isNear(country: string, { latitude, longitude }: Point): boolean | null {
    const shapes = this.#shapes.get(country)
    if (shapes === undefined) return null
    const width = TOLERANCE_DEGREES / Math.max(0.1, Math.cos((latitude * Math.PI) / 180))
    return AROUND.some(([y, x]) =>
      shapes.some((shape) => geoContains(shape, [longitude + x * width, latitude + y * TOLERANCE_DEGREES])),
    )
  }
}
