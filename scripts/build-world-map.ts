// Generates src/cli/report/world.json, the countries on the map of the report. Run `npx tsx scripts/build-world-map.ts` after
// a change of the projection or of world-atlas. A test compares the file with the output of this script.
import { readFileSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { pathToFileURL } from 'node:url'
import { type GeoContext, geoEqualEarth, geoPath } from 'd3-geo'
import { iso31661NumericToAlpha2 } from 'iso-3166'
import { feature } from 'topojson-client'
import type { GeometryCollection, Topology } from 'topojson-specification'
import { CENTRAL_MERIDIAN, MAP_WIDTH } from '../src/cli/report/equal-earth.ts'

const TARGET = new URL('../src/cli/report/world.json', import.meta.url)

/** 1:110 million, the finest detail that is visible on a map as wide as a page. */
const ATLAS = 'world-atlas/countries-110m.json'

type World = Topology<{ countries: GeometryCollection<{ name: string }> }>

/** Shapes of the atlas without a number of ISO 3166-1, with the code that databases use there. */
const UNNUMBERED: Readonly<Record<string, string>> = { Kosovo: 'XK', 'N. Cyprus': 'CY', Somaliland: 'SO' }

/** The text of world.json: SVG paths of the countries by their ISO 3166-1 code, on a map with the size of equal-earth.ts. */
export function worldJson(): string {
  const { resolve } = createRequire(import.meta.url)
  const world: World = JSON.parse(readFileSync(resolve(ATLAS), 'utf8'))
  const { countries } = world.objects
  const pen = new Pen()
  const draw = geoPath(
    geoEqualEarth().rotate([-CENTRAL_MERIDIAN, 0]).fitWidth(MAP_WIDTH, { type: 'Sphere' }).precision(0.7),
    pen,
  )
  const paths = new Map<string, string>()
  for (const { id, properties, ...shape } of feature(world, countries).features) {
    draw({ properties, ...shape })
    const code = iso31661NumericToAlpha2[String(id)] ?? UNNUMBERED[properties.name]
    if (code === undefined) throw new Error(`${properties.name} has no code of ISO 3166-1`)
    paths.set(code, (paths.get(code) ?? '') + pen.take())
  }
  const sorted = [...paths].sort(([a], [b]) => (a < b ? -1 : 1))
  return `${JSON.stringify(Object.fromEntries(sorted), null, 2)}\n`
}

/** Writes paths with whole numbers relative to the previous point, in a third of the length. */
class Pen implements GeoContext {
  #path = ''
  #line: [x: number, y: number][] = []

  moveTo(x: number, y: number): void {
    this.#finish(false)
    this.#line = [[Math.round(x), Math.round(y)]]
  }

  lineTo(x: number, y: number): void {
    const [toX, toY] = [Math.round(x), Math.round(y)]
    const [fromX, fromY] = this.#line.at(-1) ?? [Number.NaN, Number.NaN]
    if (toX !== fromX || toY !== fromY) this.#line.push([toX, toY])
  }

  closePath(): void {
    this.#finish(true)
  }

  beginPath(): void {}

  arc(): void {
    throw new Error('the atlas contains points')
  }

  take(): string {
    this.#finish(false)
    const path = this.#path
    this.#path = ''
    return path
  }

  /** Leaves out shapes that rounding reduced to a point. */
  #finish(closed: boolean): void {
    const [first, ...rest] = this.#line
    this.#line = []
    if (first === undefined || rest.length < (closed ? 2 : 1)) return
    let [x, y] = first
    this.#path += `M${pair(x, y)}l`
    this.#path += rest
      .map(([toX, toY]) => {
        const step = pair(toX - x, toY - y)
        ;[x, y] = [toX, toY]
        return step
      })
      .reduce((path, step) => path + (step.startsWith('-') ? '' : ' ') + step)
    if (closed) this.#path += 'z'
  }
}

/** A minus sign also separates numbers. */
function pair(x: number, y: number): string {
  return y < 0 ? `${x}${y}` : `${x} ${y}`
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) writeFileSync(TARGET, worldJson())
