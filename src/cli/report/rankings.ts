import type { Counts } from '../../enrich/counting/counts.ts'
import { atLeast, countOf, countText, shareText } from '../figures.ts'
import type { DistinctAddresses } from './callers.ts'
import { clipped, html, MAX_NAME_LENGTH, type Markup } from './markup.ts'
import { type Ranked, ranked, type Tallied } from './ranked.ts'
import type { Heading } from './words.ts'

/** Rows of a table that are always shown. Up to three more rows sum up the other lines. */
export const MAX_ROWS = 15

/** In characters, in the rows that a reader opens. */
const MAX_FURTHER_NAME_LENGTH = 100

/** A table of what most lines have. */
interface Table {
  readonly title: Parameters<Heading>[0]
  readonly one: string
  readonly many: string
  readonly rows: readonly Tallied[]
  /** How many there are in all, of which `rows` are the largest. */
  readonly all: number
  /** Lines in rows that are not in `rows`. */
  readonly otherLines: number
  /** Whether `all` is exact. */
  readonly isExact: boolean
  /** The lines that shares are of. */
  readonly lines: number
}

/** What all tables of a report have. */
export interface TableOptions {
  readonly heading: Heading
  /** The most rows of a table, those that a reader opens included. */
  readonly mostRows: number
}

/** The tables of countries, regions and cities. */
export function rankings(counts: Counts, distinct: DistinctAddresses | null, options: TableOptions): Markup {
  const { overflow, resolved: lines } = counts
  const countryName = (key: string | null): string | null =>
    key === null ? null : (counts.countries.get(key)?.name ?? key)
  const countries = namedCountries(counts, distinct)
  const of = (
    rows: ReadonlyMap<string, { readonly country: string | null; readonly count: number }>,
    addresses: ReadonlyMap<string, number> | undefined,
    nameOf: (key: string) => string,
  ): Tallied[] =>
    Array.from(rows, ([key, { country, count }]) => ({
      name: nameOf(key),
      within: countryName(country),
      count,
      addresses: addresses?.get(key) ?? null,
    }))
  const regions = of(counts.regions, distinct?.regions, (key) => {
    const { name, code } = counts.regions.get(key) ?? { name: null, code: null }
    return name ?? code ?? ''
  })
  const cities = of(counts.cities, distinct?.cities, (key) => counts.cities.get(key)?.name ?? '')
  const table = (
    title: Table['title'],
    one: string,
    many: string,
    rows: Tallied[],
    unlisted: number,
  ): Markup =>
    rankingTable(
      {
        title,
        one,
        many,
        rows: ranked(rows),
        all: rows.length,
        otherLines: unlisted,
        isExact: unlisted === 0,
        lines,
      },
      options,
    )
  return html`<div class="columns">
${table('countries', 'country', 'countries', countries, overflow.countries)}
${table('regions', 'region', 'regions', regions, overflow.regions)}
${table('cities', 'city', 'cities', cities, overflow.cities)}
</div>`
}

/** Countries with a code or a name. */
export function namedCountries(counts: Counts, distinct: DistinctAddresses | null = null): Tallied[] {
  return [...counts.countries]
    .filter(([, { code, name }]) => code !== null || name !== null)
    .map(([key, { code, name, count }]) => ({
      name: name ?? code ?? '',
      within: name === null ? null : code,
      count,
      addresses: distinct?.countries.get(key) ?? null,
    }))
}

/** A table of what was counted beside the locations. `null` if nothing was. */
export function rankedTable(
  title: Table['title'],
  [one, many]: readonly [one: string, many: string],
  figures: Ranked | null,
  lines: number,
  options: TableOptions,
): Markup | null {
  return figures === null || figures.all === 0
    ? null
    : rankingTable({ title, one, many, ...figures, lines }, options)
}

function rankingTable(table: Table, { heading, mostRows }: TableOptions): Markup {
  const { title, one, many, rows, all, isExact, lines } = table
  const head = html`<header class="head">${heading(title)}${
    all === 0 ? null : html`<p class="aside">${atLeast(countText(all), isExact ? 0 : 1)}</p>`
  }</header>`
  if (all === 0 && isExact) {
    return html`<section class="card">${head}<p class="empty">No line has a ${one}.</p></section>`
  }
  const [top, further] = [rows.slice(0, MAX_ROWS), rows.slice(MAX_ROWS, mostRows)]
  const highest = top[0]?.count ?? 1
  const hasAddresses = rows.some(({ addresses }) => addresses !== null)
  const shown = top.map(
    (row) => html`
<tr><th scope="row"><span class="name">${nameOf(row, MAX_NAME_LENGTH)}</span>${bar(row.count / highest)}${cells(row, lines, hasAddresses)}`,
  )
  const columns = html`<thead class="unseen"><tr><th scope="col">${one}</th>${hasAddresses ? html`<th scope="col">Distinct addresses</th>` : null}<th scope="col">Lines</th><th scope="col">Share of lines</th></tr></thead>`
  const rest = restRows(table, top.length, hasAddresses)
  return html`<section class="card">${head}
<table class="ranking">${columns}<tbody>${shown}</tbody>${rest.length === 0 ? null : html`<tfoot>${rest}</tfoot>`}</table>${
    hasAddresses
      ? html`<p class="note">Small numbers: distinct addresses${isExact ? '' : ', at least'}.</p>`
      : null
  }${
    further.length === 0
      ? null
      : html`<details class="further"><summary>${further.length + top.length < all ? `The next ${further.length}` : `The other ${further.length}`} ${many}</summary><table class="ranking plain">${columns}<tbody>${further.map(
          (row) => shortRow(row, lines, hasAddresses),
        )}</tbody></table></details>`
  }</section>`
}

/** A row in few bytes: the end tags of cells are optional in HTML, and the style sheet isolates the direction of names. */
function shortRow({ name, within, count, addresses }: Tallied, lines: number, hasAddresses: boolean): Markup {
  const place = within === null ? null : html` <i>${clipped(within, MAX_FURTHER_NAME_LENGTH)}</i>`
  const distinct = hasAddresses ? html`<td>${addresses === null ? '' : countText(addresses)}` : null
  return html`
<tr><th>${clipped(name, MAX_FURTHER_NAME_LENGTH)}${place}${distinct}<td>${countText(count)}<td>${shareText(count, lines)}`
}

function nameOf({ name, within }: Tallied, length: number): Markup {
  return html`<bdi>${clipped(name, length)}</bdi>${within === null ? null : html` <bdi class="within">${clipped(within, length)}</bdi>`}`
}

function cells(
  { count, addresses }: Pick<Tallied, 'count' | 'addresses'>,
  lines: number,
  hasAddresses: boolean,
): Markup {
  return html`${hasAddresses ? html`<td>${addresses === null ? '' : countText(addresses)}` : null}<td>${countText(count)}<td>${shareText(count, lines)}`
}

/** The lines that no row of the table has. */
function restRows(
  { one, many, rows, all, otherLines, lines, isExact }: Table,
  shown: number,
  hasAddresses: boolean,
): Markup[] {
  const others = rows.slice(shown)
  const known = rows.reduce((sum, { count }) => sum + count, otherLines)
  const row = (label: string, count: number): Markup => html`
<tr><th scope="row">${label}${cells({ count, addresses: null }, lines, hasAddresses)}`
  const inOthers = others.reduce((sum, { count }) => sum + count, isExact ? otherLines : 0)
  return [
    all <= shown ? null : row(countOf(all - shown, `other ${one}`, `other ${many}`), inOthers),
    isExact || otherLines === 0 ? null : row(`Further ${many}, too many to list`, otherLines),
    known >= lines ? null : row(`Unknown ${one}`, lines - known),
  ].filter((each) => each !== null)
}

/** The length is an SVG attribute, because the page's policy forbids style attributes. */
function bar(share: number): Markup {
  const percent = Math.round(Math.min(1, Math.max(0, share)) * 1000) / 10
  return html`<svg class="bar" aria-hidden="true"><rect width="${percent}%" height="100%"/></svg>`
}
