import type { Tally } from '../../../enrich/tally.ts'
import { clipped, NAME_LENGTH } from './clipped.ts'
import { atLeast, countOf, countText, shareText } from './figures.ts'
import { html, type Markup } from './markup.ts'

/** Rows of a table; the rest is summed up in one more. */
export const RANKED = 15

/** One place of a table. */
interface Place {
  readonly name: string
  /** What the place is in, or the code of a country; said in small letters beside the name. */
  readonly within: string | null
  readonly count: number
}

interface Ranking {
  readonly title: string
  readonly one: string
  readonly many: string
  /** Said where there are none. */
  readonly none: string
  readonly places: readonly Place[]
  /** Lines of places that were too many to have rows. */
  readonly unlisted: number
}

/** The tables of countries, regions and cities. */
export function rankings(tally: Tally): Markup {
  const countryName = (key: string | null): string | null =>
    key === null ? null : (tally.countries.get(key)?.name ?? key)
  const countries = namedCountries(tally)
  const regions = [...tally.regions.values()].map(({ name, code, country, count }) => ({
    name: name ?? code ?? '',
    within: countryName(country),
    count,
  }))
  const cities = [...tally.cities.values()].map(({ name, country, count }) => ({
    name,
    within: countryName(country),
    count,
  }))
  return html`<div class="columns">
${rankingTable(tally, { title: 'Countries', one: 'country', many: 'countries', none: 'No line has a country.', places: countries, unlisted: tally.unlisted.countries })}
${rankingTable(tally, { title: 'Regions', one: 'region', many: 'regions', none: 'No line has a region.', places: regions, unlisted: tally.unlisted.regions })}
${rankingTable(tally, { title: 'Cities', one: 'city', many: 'cities', none: 'No line has a city.', places: cities, unlisted: tally.unlisted.cities })}
</div>`
}

/** Countries with a code or a name. */
export function namedCountries(tally: Tally): Place[] {
  return [...tally.countries.values()]
    .filter(({ code, name }) => code !== null || name !== null)
    .map(({ code, name, count }) => ({
      name: name ?? code ?? '',
      within: name === null ? null : code,
      count,
    }))
}

/** The largest first; equals by name, so that one input gives one report whatever the order of its parts. */
export function ranked<Counted extends { readonly count: number; readonly name: string }>(
  places: readonly Counted[],
): Counted[] {
  return [...places].sort((a, b) => b.count - a.count || (a.name < b.name ? -1 : a.name > b.name ? 1 : 0))
}

function rankingTable(tally: Tally, { title, one, many, none, places, unlisted }: Ranking): Markup {
  const heading = html`<header class="head"><h2>${title}</h2>${
    places.length === 0 ? null : html`<p class="aside">${atLeast(countText(places.length), unlisted)}</p>`
  }</header>`
  if (places.length === 0 && unlisted === 0)
    return html`<section class="card">${heading}<p class="empty">${none}</p></section>`
  const order = ranked(places)
  const top = order.slice(0, RANKED)
  const most = top[0]?.count ?? 1
  const others = order.slice(RANKED)
  const known = places.reduce((sum, { count }) => sum + count, unlisted)
  const rows = top.map(
    ({ name, within, count }) => html`
<tr><th scope="row"><span class="name"><bdi>${clipped(name, NAME_LENGTH)}</bdi>${within === null ? null : html` <bdi class="within">${clipped(within, NAME_LENGTH)}</bdi>`}</span>${bar(count / most)}</th><td>${countText(count)}</td><td class="share">${shareText(count, tally.resolved)}</td></tr>`,
  )
  const rest = [
    others.length === 0
      ? null
      : restRow(
          countOf(others.length, `other ${one}`, `other ${many}`),
          others.reduce((sum, { count }) => sum + count, 0),
          tally,
        ),
    unlisted === 0 ? null : restRow(`Further ${many}, too many to list`, unlisted, tally),
    known >= tally.resolved
      ? null
      : restRow(`${title.slice(0, 1) + one.slice(1)} not known`, tally.resolved - known, tally),
  ].filter((row) => row !== null)
  return html`<section class="card">${heading}
<table class="ranking"><thead class="unseen"><tr><th scope="col">${title}</th><th scope="col">Lines</th><th scope="col">Share of located lines</th></tr></thead><tbody>${rows}</tbody>${
    rest.length === 0 ? null : html`<tfoot>${rest}</tfoot>`
  }</table></section>`
}

function restRow(label: string, count: number, tally: Tally): Markup {
  return html`
<tr><th scope="row">${label}</th><td>${countText(count)}</td><td class="share">${shareText(count, tally.resolved)}</td></tr>`
}

/** A bar as long as a share of its column. An attribute of SVG, since the page's policy forbids styles on elements. */
export function bar(share: number): Markup {
  const percent = Math.round(Math.min(1, Math.max(0, share)) * 1000) / 10
  return html`<svg class="bar" aria-hidden="true"><rect width="${percent}%" height="100%" rx="2.5"/></svg>`
}
