import type { CellCount, CityCount, Tally } from '../../../enrich/tally.ts'
import { clipped, NAME_LENGTH } from './clipped.ts'
import { MAP_HEIGHT, MAP_WIDTH, mapPoint } from './equal-earth.ts'
import { countOf, countText, shareText } from './figures.ts'
import { html, isolated, type Markup } from './markup.ts'
import { BORDERS, LAND } from './world.ts'

/** A page of a hundred thousand circles would be slow, and they would cover each other. */
export const CIRCLES = 400

/** Radius of the largest circle in units of the map, about 1/48 of its width. */
export const LARGEST_RADIUS = 42

/** On narrow screens circles grow by this against the map, or most would be invisible. All of them: areas still compare. */
export const NARROW_GROWTH = 1.7

/** Beside the land, so that circles at the edge are whole. */
const MARGIN = 20

/** What is shown unless something lies beyond: nobody lives there. */
const NORTH = 84
const SOUTH = -57

interface Circle {
  readonly key: string
  readonly latitude: number
  readonly longitude: number
  readonly count: number
}

/** The world with a circle for each degree of it that has traffic, the largest {@link CIRCLES}. */
export function worldMap(tally: Tally): Markup {
  const all = circlesOf(tally.cells)
  const circles = all.slice(0, CIRCLES)
  const most = circles[0]?.count ?? 0
  const names = namesOf(tally.cities)
  const shown = sum(circles)
  return html`<section class="card map"><header class="head"><h2>Where the lines come from</h2></header>
<figure>
${picture(circles, (circle) => titleOf(circle, names.get(cellKey(circle.latitude, circle.longitude)), tally.resolved), most)}
${most === 0 ? null : html`${legend(most, 1, 'wide')}${legend(most, NARROW_GROWTH, 'narrow')}`}
<figcaption class="note">${caption(tally, all, shown)}</figcaption>
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

/** Radius of the circle for a count: its area is as much of the largest one's as the count is of the highest. */
export function radiusOf(count: number, most: number): number {
  return LARGEST_RADIUS * Math.sqrt(count / most)
}

function picture(circles: readonly Circle[], title: (circle: Circle) => string, most: number): Markup {
  const beyond = circles.some(({ latitude }) => latitude < SOUTH + 1 || latitude > NORTH - 1)
  const top = beyond ? -MARGIN : mapPoint(NORTH, 0).y - MARGIN
  const bottom = beyond ? MAP_HEIGHT + LARGEST_RADIUS * NARROW_GROWTH : mapPoint(SOUTH, 0).y + MARGIN
  const box = [-MARGIN, Math.floor(top), MAP_WIDTH + 2 * MARGIN, Math.ceil(bottom - top)].join(' ')
  const drawn = circles.map((circle) => {
    const { x, y } = mapPoint(circle.latitude, circle.longitude)
    // The largest come first and the smaller ones lie on them, within reach of the pointer.
    return html`
<circle cx="${tenths(x)}" cy="${tenths(y)}" r="${hundredths(radiusOf(circle.count, most))}"><title>${title(circle)}</title></circle>`
  })
  return html`<svg class="world" viewBox="${box}" role="img" aria-label="World map of located lines; the tables below have the same by name."><path class="land" d="${LAND}"/><path class="borders" d="${BORDERS}"/><g class="dots">${drawn}</g></svg>`
}

/** Circles of round numbers, drawn to the scale of the map: their widths are shares of its width. */
function legend(most: number, growth: number, kind: 'wide' | 'narrow'): Markup {
  const items = legendCounts(most).map((count) => {
    const radius = radiusOf(count, most)
    // Room for the stroke.
    const side = hundredths(2 * radius + 6)
    const width = hundredths(((side * growth) / (MAP_WIDTH + 2 * MARGIN)) * 100)
    return html`<svg class="dots" width="${width}%" viewBox="${-side / 2} ${-side / 2} ${side} ${side}" aria-hidden="true"><circle r="${hundredths(radius)}"/></svg><span>${countText(count)}</span>`
  })
  return html`<div class="legend ${kind}">${items}<span class="within">lines: the area of a circle says how many</span></div>`
}

/** Up to three round numbers a power of ten apart, the highest not above `most`; few are themselves. */
export function legendCounts(most: number): number[] {
  if (most < 10) return [most]
  const power = 10 ** Math.floor(Math.log10(most))
  const highest = power * ([5, 2, 1].find((factor) => factor * power <= most) ?? 1)
  return [highest, highest / 10, highest / 100].filter((count) => count >= 1 && Number.isInteger(count))
}

function caption(tally: Tally, all: readonly Circle[], shown: number): string {
  if (all.length === 0) return 'The database has no coordinates for these places, so the map is empty.'
  const located = sum(all)
  const places =
    all.length > CIRCLES
      ? `The ${countText(CIRCLES)} busiest of ${countText(all.length)} places, with ${shareText(shown, tally.resolved)} of the located lines.`
      : `${countOf(all.length, 'place', 'places')}, with ${shareText(shown, tally.resolved)} of the located lines.`
  const without = tally.resolved - located
  return `${places} Places in the same degree of latitude and longitude are one circle.${
    without > 0 ? ` ${countOf(without, 'located line has', 'located lines have')} no coordinates.` : ''
  }`
}

function sum(circles: readonly Circle[]): number {
  return circles.reduce((total, { count }) => total + count, 0)
}

/**
 * Names of cells, by the busiest city whose middle lies there. A circle may stand for more than that city, so its
 * title gives the coordinates beside it.
 */
function namesOf(cities: ReadonlyMap<string, CityCount>): Map<string, CityCount> {
  const busiest = new Map<string, CityCount>()
  for (const city of cities.values()) {
    if (city.located === 0) continue
    const key = cellKey(city.latitudes / city.located, city.longitudes / city.located)
    const known = busiest.get(key)
    if (known === undefined || isBusier(city, known)) busiest.set(key, city)
  }
  return busiest
}

/** Of equals one is chosen by name, so that the order of counting does not matter. */
function isBusier(city: CityCount, than: CityCount): boolean {
  return city.located > than.located || (city.located === than.located && city.name < than.name)
}

function cellKey(latitude: number, longitude: number): string {
  return `${Math.floor(latitude)},${Math.floor(longitude)}`
}

function titleOf({ latitude, longitude, count }: Circle, city: CityCount | undefined, all: number): string {
  const place = `${degrees(latitude, 'N', 'S')} ${degrees(longitude, 'E', 'W')}`
  const name = city === undefined ? '' : `${isolated(clipped(city.name, NAME_LENGTH))}, around `
  return `${name}${place}: ${countOf(count, 'line', 'lines')}, ${shareText(count, all)}`
}

function degrees(angle: number, positive: string, negative: string): string {
  return `${Math.abs(angle).toFixed(1)}° ${angle < 0 ? negative : positive}`
}

function tenths(number: number): number {
  return Math.round(number * 10) / 10
}

function hundredths(number: number): number {
  return Math.round(number * 100) / 100
}
