import type { CellCount, CityCount, Counts } from '../../enrich/counting/counts.ts'
import { countOf, countText, shareText } from '../figures.ts'
import { MAP_HEIGHT, MAP_WIDTH, mapPoint } from './equal-earth.ts'
import { clipped, html, isolated, MAX_NAME_LENGTH, type Markup, twoDecimals } from './markup.ts'
import { BORDERS, LAND } from './world.ts'

/** More circles would make the page slow and cover each other. */
export const MAX_CIRCLES = 400

/** Radius of the largest circle in map units, about 1/48 of the width of the map. */
export const MAX_RADIUS = 42

/** Scale of all circles on narrow screens, where most would otherwise be invisible. */
export const NARROW_GROWTH = 1.7

/** The margin around the map in map units, so that circles at the edge are whole. */
const MARGIN = 20

/** Latitudes of the inhabited earth. The map shows the poles only if a circle is beyond or within a degree of these. */
const NORTH = 84
const SOUTH = -57

interface Circle {
  readonly key: string
  readonly latitude: number
  readonly longitude: number
  readonly count: number
}

/** The world map, with a circle for each of the {@link MAX_CIRCLES} busiest cells of one degree. */
export function worldMap(counts: Counts): Markup {
  const all = circlesOf(counts.cells)
  const circles = all.slice(0, MAX_CIRCLES)
  const highest = circles[0]?.count ?? 0
  const cities = busiestCities(counts.cities)
  const shown = sum(circles)
  return html`<section class="card map"><header class="head"><h2>Where the lines come from</h2></header>
<figure>
${picture(circles, (circle) => titleOf(circle, cities.get(cellKey(circle.latitude, circle.longitude)), counts.resolved), highest)}
${highest === 0 ? null : html`${legend(highest, 1, 'wide')}${legend(highest, NARROW_GROWTH, 'narrow')}`}
<figcaption class="note">${caption(counts, all, shown)}</figcaption>
</figure></section>`
}

function circlesOf(cells: ReadonlyMap<string, CellCount>): Circle[] {
  return [...cells]
    .filter(([, { count }]) => count > 0)
    .map(([key, { latitudes, longitudes, count }]) => ({
      key,
      latitude: latitudes / count,
      longitude: longitudes / count,
      count,
    }))
    .sort((a, b) => b.count - a.count || (a.key < b.key ? -1 : 1))
}

/** The area of a circle is proportional to its count. */
function radiusOf(count: number, highest: number): number {
  return MAX_RADIUS * Math.sqrt(count / highest)
}

function picture(circles: readonly Circle[], title: (circle: Circle) => string, highest: number): Markup {
  const beyond = circles.some(({ latitude }) => latitude < SOUTH + 1 || latitude > NORTH - 1)
  const top = beyond ? -MARGIN : mapPoint(NORTH, 0).y - MARGIN
  const bottom = beyond ? MAP_HEIGHT + MAX_RADIUS * NARROW_GROWTH : mapPoint(SOUTH, 0).y + MARGIN
  const box = [-MARGIN, Math.floor(top), MAP_WIDTH + 2 * MARGIN, Math.ceil(bottom - top)].join(' ')
  const drawn = circles.map((circle) => {
    const { x, y } = mapPoint(circle.latitude, circle.longitude)
    // The largest come first, so that the pointer can reach smaller circles on top of them.
    return html`
<circle cx="${tenths(x)}" cy="${tenths(y)}" r="${twoDecimals(radiusOf(circle.count, highest))}"><title>${title(circle)}</title></circle>`
  })
  return html`<svg class="world" viewBox="${box}" role="img" aria-label="World map of located lines. The tables below list them by name."><path class="land" d="${LAND}"/><path class="borders" d="${BORDERS}"/><g class="dots">${drawn}</g></svg>`
}

/** Circles for round numbers, on the map's scale: their widths are percentages of the map's width. */
function legend(highest: number, growth: number, kind: 'wide' | 'narrow'): Markup {
  const items = legendCounts(highest).map((count) => {
    const radius = radiusOf(count, highest)
    // 6 units leave room for the stroke.
    const side = twoDecimals(2 * radius + 6)
    const width = twoDecimals(((side * growth) / (MAP_WIDTH + 2 * MARGIN)) * 100)
    return html`<svg class="dots" width="${width}%" viewBox="${-side / 2} ${-side / 2} ${side} ${side}" aria-hidden="true"><circle r="${twoDecimals(radius)}"/></svg><span>${countText(count)}</span>`
  })
  return html`<div class="legend ${kind}">${items}<span class="within">lines: the area of a circle is proportional to them</span></div>`
}

/** Up to three round numbers, each a tenth of the one before, at most `highest`. Below 10, only `highest`. */
export function legendCounts(highest: number): number[] {
  if (highest < 10) return [highest]
  const power = 10 ** Math.floor(Math.log10(highest))
  const first = power * ([5, 2, 1].find((factor) => factor * power <= highest) ?? 1)
  return [first, first / 10, first / 100].filter((count) => count >= 1 && Number.isInteger(count))
}

function caption(counts: Counts, all: readonly Circle[], shown: number): string {
  if (all.length === 0) return 'The database has no coordinates for these locations, so the map is empty.'
  const located = sum(all)
  const locations =
    all.length > MAX_CIRCLES
      ? `The ${countText(MAX_CIRCLES)} busiest of ${countText(all.length)} locations, with ${shareText(shown, counts.resolved)} of the located lines.`
      : `${countOf(all.length, 'location', 'locations')}, with ${shareText(shown, counts.resolved)} of the located lines.`
  const without = counts.resolved - located
  return `${locations} Locations in the same degree of latitude and longitude share one circle.${
    without > 0 ? ` ${countOf(without, 'located line has', 'located lines have')} no coordinates.` : ''
  }`
}

function sum(circles: readonly Circle[]): number {
  return circles.reduce((total, { count }) => total + count, 0)
}

/** The busiest city in each cell. A circle can include several cities, so its title also has the coordinates. */
function busiestCities(cities: ReadonlyMap<string, CityCount>): Map<string, CityCount> {
  const busiest = new Map<string, CityCount>()
  for (const city of cities.values()) {
    if (city.located === 0) continue
    const key = cellKey(city.latitudes / city.located, city.longitudes / city.located)
    const known = busiest.get(key)
    if (known === undefined || isBusier(city, known)) busiest.set(key, city)
  }
  return busiest
}

/** Decides ties by name: the report must not depend on the order of counting. */
function isBusier(city: CityCount, than: CityCount): boolean {
  return city.located > than.located || (city.located === than.located && city.name < than.name)
}

function cellKey(latitude: number, longitude: number): string {
  return `${Math.floor(latitude)},${Math.floor(longitude)}`
}

function titleOf(
  { latitude, longitude, count }: Circle,
  city: CityCount | undefined,
  allLines: number,
): string {
  const position = `${degrees(latitude, 'N', 'S')} ${degrees(longitude, 'E', 'W')}`
  const name = city === undefined ? '' : `${isolated(clipped(city.name, MAX_NAME_LENGTH))}, around `
  return `${name}${position}: ${countOf(count, 'line', 'lines')}, ${shareText(count, allLines)}`
}

function degrees(angle: number, positive: string, negative: string): string {
  return `${Math.abs(angle).toFixed(1)}° ${angle < 0 ? negative : positive}`
}

function tenths(number: number): number {
  return Math.round(number * 10) / 10
}
