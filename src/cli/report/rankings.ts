import type { Counts } from '../../enrich/counting/counts.ts'
import { atLeast, countOf, countText, shareText } from '../figures.ts'
import { clipped, html, MAX_NAME_LENGTH, type Markup } from './markup.ts'

/** Rows of a table for single locations. Up to three more rows sum up the other lines. */
export const MAX_ROWS = 15

/** A country, region or city with its lines. */
interface RankedLocation {
  readonly name: string
  /** The country of a region or city; the code of a country. */
  readonly within: string | null
  readonly count: number
}

interface Ranking {
  readonly title: string
  readonly one: string
  readonly many: string
  readonly locations: readonly RankedLocation[]
  /** Lines in further locations, which are counted only together. */
  readonly unlisted: number
}

/** The tables of countries, regions and cities. */
export function rankings(counts: Counts): Markup {
  const { overflow } = counts
  const countryName = (key: string | null): string | null =>
    key === null ? null : (counts.countries.get(key)?.name ?? key)
  const countries = namedCountries(counts)
  const regions = [...counts.regions.values()].map(({ name, code, country, count }) => ({
    name: name ?? code ?? '',
    within: countryName(country),
    count,
  }))
  const cities = [...counts.cities.values()].map(({ name, country, count }) => ({
    name,
    within: countryName(country),
    count,
  }))
  return html`<div class="columns">
${rankingTable(counts, { title: 'Countries', one: 'country', many: 'countries', locations: countries, unlisted: overflow.countries })}
${rankingTable(counts, { title: 'Regions', one: 'region', many: 'regions', locations: regions, unlisted: overflow.regions })}
${rankingTable(counts, { title: 'Cities', one: 'city', many: 'cities', locations: cities, unlisted: overflow.cities })}
</div>`
}

/** Countries with a code or a name. */
export function namedCountries(counts: Counts): RankedLocation[] {
  return [...counts.countries.values()]
    .filter(({ code, name }) => code !== null || name !== null)
    .map(({ code, name, count }) => ({
      name: name ?? code ?? '',
      within: name === null ? null : code,
      count,
    }))
}

/** Sorts by count, then by name: the report must not depend on the order of counting. */
export function ranked<Counted extends { readonly count: number; readonly name: string }>(
  locations: readonly Counted[],
): Counted[] {
  return [...locations].sort((a, b) => b.count - a.count || (a.name < b.name ? -1 : a.name > b.name ? 1 : 0))
}

function rankingTable(counts: Counts, { title, one, many, locations, unlisted }: Ranking): Markup {
  const heading = html`<header class="head"><h2>${title}</h2>${
    locations.length === 0
      ? null
      : html`<p class="aside">${atLeast(countText(locations.length), unlisted)}</p>`
  }</header>`
  if (locations.length === 0 && unlisted === 0) {
    return html`<section class="card">${heading}<p class="empty">No line has a ${one}.</p></section>`
  }
  const order = ranked(locations)
  const top = order.slice(0, MAX_ROWS)
  const highest = top[0]?.count ?? 1
  const others = order.slice(MAX_ROWS)
  const known = locations.reduce((sum, { count }) => sum + count, unlisted)
  const rows = top.map(
    ({ name, within, count }) => html`
<tr><th scope="row"><span class="name"><bdi>${clipped(name, MAX_NAME_LENGTH)}</bdi>${within === null ? null : html` <bdi class="within">${clipped(within, MAX_NAME_LENGTH)}</bdi>`}</span>${bar(count / highest)}</th><td>${countText(count)}</td><td class="share">${shareText(count, counts.resolved)}</td></tr>`,
  )
  const rest = [
    others.length === 0
      ? null
      : restRow(
          countOf(others.length, `other ${one}`, `other ${many}`),
          others.reduce((sum, { count }) => sum + count, 0),
          counts,
        ),
    unlisted === 0 ? null : restRow(`Further ${many}, too many to list`, unlisted, counts),
    known >= counts.resolved ? null : restRow(`Unknown ${one}`, counts.resolved - known, counts),
  ].filter((row) => row !== null)
  return html`<section class="card">${heading}
<table class="ranking"><thead class="unseen"><tr><th scope="col">${title}</th><th scope="col">Lines</th><th scope="col">Share of located lines</th></tr></thead><tbody>${rows}</tbody>${
    rest.length === 0 ? null : html`<tfoot>${rest}</tfoot>`
  }</table></section>`
}

function restRow(label: string, count: number, counts: Counts): Markup {
  return html`
<tr><th scope="row">${label}</th><td>${countText(count)}</td><td class="share">${shareText(count, counts.resolved)}</td></tr>`
}

/** The length is an SVG attribute, because the page's policy forbids style attributes. */
function bar(share: number): Markup {
  const percent = Math.round(Math.min(1, Math.max(0, share)) * 1000) / 10
  return html`<svg class="bar" aria-hidden="true"><rect width="${percent}%" height="100%" rx="2.5"/></svg>`
}
