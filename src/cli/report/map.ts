import { countOf, countText, shareText } from '../figures.ts'
import { MAP_HEIGHT, MAP_WIDTH, type MapPoint, mapPoint } from './equal-earth.ts'
import { card, clipped, html, isolated, MAX_NAME_LENGTH, type Markup, twoDecimals } from './markup.ts'
import { cellKey, type Place, type ReportCounts } from './places.ts'
import { linesOf, ranked } from './ranked.ts'
import type { Heading } from './words.ts'
import COUNTRIES from './world.json' with { type: 'json' }

/** More circles would cover each other. */
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

/** Places that are named on the map, unless their names would cover each other. */
const MAX_LABELS = 10
const MAX_LABEL_LENGTH = 24
const LABEL_UNITS = 30
/** The width of a letter of a label, and the distance from its circle, in map units. */
const LETTER_UNITS = 15.5
const LABEL_GAP = 6

/** Parts of the map whose circles cover each other, in degrees. */
const INSETS = [
  { name: 'Europe', north: 61, south: 35, west: -11, east: 31 },
  { name: 'The eastern United States', north: 47, south: 25, west: -97, east: -67 },
] as const

/** Circles in an inset, which enlarges the map about six times, are smaller in map units. */
const INSET_SCALE = 0.3
const MAX_INSET_CIRCLES = 60

/** Shares of the country with most lines, from which a shade begins. */
const SHADES = [0.5, 0.1, 0.01, 0]

interface Circle extends MapPoint {
  /** The key of its cell. */
  readonly cell: string
  readonly latitude: number
  readonly longitude: number
  readonly count: number
  readonly radius: number
}

/** The world map, with a circle for each of the {@link MAX_CIRCLES} busiest cells of one degree. */
export function worldMap(counts: ReportCounts, heading: Heading): Markup {
  const all = ranked([...counts.cells.values()].filter(({ count }) => count > 0))
  const highest = all[0]?.count ?? 0
  const circles = all.slice(0, MAX_CIRCLES).map(({ name: cell, latitudes, longitudes, count }): Circle => {
    const [latitude, longitude] = [latitudes / count, longitudes / count]
    const radius = radiusOf(count, highest)
    return { cell, latitude, longitude, count, radius, ...mapPoint(latitude, longitude) }
  })
  return card(
    heading('map'),
    null,
    html`
<figure>
<div class="maps">${picture(counts, circles)}<div class="insets">${INSETS.map((inset) => insetPicture(inset, circles))}</div></div>
${shadeLegend(counts)}${highest === 0 ? null : html`${legend(highest, 1, 'wide')}${legend(highest, NARROW_GROWTH, 'narrow')}`}
<figcaption class="note">${caption(counts, all, linesOf(circles))}</figcaption>
</figure>`,
    'map',
  )
}

/** The area of a circle is proportional to its count. */
function radiusOf(count: number, highest: number): number {
  return MAX_RADIUS * Math.sqrt(count / highest)
}

function picture(counts: ReportCounts, circles: readonly Circle[]): Markup {
  const cities = busiestCities(counts.cities)
  const beyond = circles.some(({ latitude }) => latitude < SOUTH + 1 || latitude > NORTH - 1)
  const top = beyond ? -MARGIN : mapPoint(NORTH, 0).y - MARGIN
  const bottom = beyond ? MAP_HEIGHT + MAX_RADIUS * NARROW_GROWTH : mapPoint(SOUTH, 0).y + MARGIN
  const box = [-MARGIN, Math.floor(top), MAP_WIDTH + 2 * MARGIN, Math.ceil(bottom - top)].join(' ')
  // The largest come first, so that the pointer can reach smaller circles on top of them.
  const drawn = circles.map((circle) => {
    const title = titleOf(circle, cities.get(circle.cell), counts.resolved)
    return drawnCircle(circle, html`><title>${title}</title></circle>`)
  })
  return html`<svg class="world" viewBox="${box}" role="img" aria-label="World map of located lines. The tables below list them by name."><g id="countries">${shapes(counts)}</g><g class="dots">${drawn}</g><g class="labels" aria-hidden="true">${labels(circles, cities)}</g></svg>`
}

/** @param end of the element */
function drawnCircle({ x, y, radius }: Circle, end: Markup, scale = 1): Markup {
  return html`
<circle cx="${tenths(x)}" cy="${tenths(y)}" r="${twoDecimals(radius * scale)}"${end}`
}

/** The countries, darker the more lines they have. Names are in the tables. */
function shapes(counts: ReportCounts): Markup[] {
  const most = Math.max(1, ...Array.from(counts.countries.values(), ({ count }) => count))
  return Object.entries(COUNTRIES).map(([code, path]) => {
    const { name, count = 0 } = counts.countries.get(code) ?? {}
    const shade = count === 0 ? -1 : SHADES.findIndex((share) => count / most >= share)
    if (shade === -1) return html`<path d="${path}"/>`
    const title = `${isolated(clipped(name ?? code, MAX_NAME_LENGTH))}: ${countOf(count, 'line', 'lines')}, ${shareText(count, counts.resolved)}`
    return html`<path class="shade${shade}" d="${path}"><title>${title}</title></path>`
  })
}

/** The names of the busiest places, without those that would cover another name. */
function labels(circles: readonly Circle[], cities: ReadonlyMap<string, Place>): Markup[] {
  const taken: { name: string; left: number; right: number; y: number }[] = []
  return circles.flatMap(({ cell, x, y, radius }) => {
    const city = cities.get(cell)
    if (city === undefined || taken.length >= MAX_LABELS) return []
    // The regions of a database are better known than its cities, which can be a street in a city.
    const region = city.region ?? city.name
    const name = clipped(region.startsWith(city.name) ? city.name : region, MAX_LABEL_LENGTH)
    const start = x + radius + LABEL_GAP
    const width = name.length * LETTER_UNITS
    const isLeft = start + width > MAP_WIDTH
    const left = isLeft ? 2 * x - start - width : start
    const box = { name, left, right: left + width, y }
    const covers = taken.some(
      (other) =>
        other.name === name ||
        (box.left < other.right && other.left < box.right && Math.abs(other.y - y) < LABEL_UNITS),
    )
    if (covers) return []
    taken.push(box)
    return [
      html`<text x="${tenths(isLeft ? box.right : left)}" y="${tenths(y + LABEL_UNITS / 3)}"${isLeft ? html` text-anchor="end"` : null}>${name}</text>`,
    ]
  })
}

/** A part of the map, enlarged. `null` without a circle in it. */
function insetPicture(
  { name, north, south, west, east }: (typeof INSETS)[number],
  circles: readonly Circle[],
): Markup | null {
  const inside = circles
    .filter(
      ({ latitude, longitude }) =>
        latitude >= south && latitude <= north && longitude >= west && longitude <= east,
    )
    .slice(0, MAX_INSET_CIRCLES)
  if (inside.length === 0) return null
  const corners = [mapPoint(north, west), mapPoint(north, east), mapPoint(south, west), mapPoint(south, east)]
  const [xs, ys] = [corners.map(({ x }) => x), corners.map(({ y }) => y)]
  const [left, top] = [Math.floor(Math.min(...xs)), Math.floor(Math.min(...ys))]
  const box = [left, top, Math.ceil(Math.max(...xs)) - left, Math.ceil(Math.max(...ys)) - top].join(' ')
  return html`<div class="inset"><p class="within">${name}</p><svg viewBox="${box}" role="img" aria-label="${`${name}, enlarged`}"><use href="#countries"/><g class="dots">${inside.map((circle) => drawnCircle(circle, html`/>`, INSET_SCALE))}</g></svg></div>`
}

/** The legend of the shades of countries. `null` if no country has a shade. */
function shadeLegend({ countries, resolved }: ReportCounts): Markup | null {
  const most = Math.max(
    0,
    ...Array.from(countries, ([code, { count }]) => (Object.hasOwn(COUNTRIES, code) ? count : 0)),
  )
  if (most === 0) return null
  const items = SHADES.map((share, shade) => {
    const text = share === 0 ? 'fewer' : `from ${shareText(share * most, resolved)}`
    return html`<li><i class="key shade${shade}"></i>${text}</li>`
  })
  return html`<ul class="legend series">${items}<li class="within">of the located lines, by country</li></ul>`
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

function caption(counts: ReportCounts, all: readonly Place[], shown: number): string {
  if (all.length === 0) return 'The database has no coordinates for these locations, so the map is empty.'
  const locations =
    all.length > MAX_CIRCLES
      ? `The ${countText(MAX_CIRCLES)} busiest of ${countText(all.length)} locations`
      : countOf(all.length, 'location', 'locations')
  const without = counts.resolved - linesOf(all)
  return `${locations}, with ${shareText(shown, counts.resolved)} of the located lines. Locations in the same degree of latitude and longitude share one circle.${
    without > 0 ? ` ${countOf(without, 'located line has', 'located lines have')} no coordinates.` : ''
  }`
}

/** The busiest city in each cell. A circle can include several cities, so its title also has the coordinates. */
function busiestCities(cities: ReadonlyMap<string, Place>): Map<string, Place> {
  const busiest = new Map<string, Place>()
  for (const city of cities.values()) {
    if (city.located === 0) continue
    const key = cellKey(city.latitudes / city.located, city.longitudes / city.located)
    const known = busiest.get(key)
    // Ties are decided by name: the report must not depend on the order of counting.
    const isBusier =
      known === undefined ||
      city.located > known.located ||
      (city.located === known.located && city.name < known.name)
    if (isBusier) busiest.set(key, city)
  }
  return busiest
}

function titleOf({ latitude, longitude, count }: Circle, city: Place | undefined, allLines: number): string {
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
