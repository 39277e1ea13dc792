import type { Counts } from '../../enrich/counting/counts.ts'
import { atLeast, bytesText, countOf, countText, shareText } from '../figures.ts'
import type { Activity } from './activity.ts'
import { clipped, html, MAX_NAME_LENGTH, type Markup } from './markup.ts'
import { type Ranked, ranked, type Tallied } from './ranked.ts'
import type { Heading } from './words.ts'

/** Rows of a table that are always shown. Up to three more rows sum up the other lines. */
export const MAX_ROWS = 15

/** Limit in characters, in the rows that a reader opens. */
const MAX_FURTHER_NAME_LENGTH = 100

/** A table of the values that most lines have. */
interface Table {
  readonly title: Parameters<Heading>[0]
  readonly one: string
  readonly many: string
  readonly rows: readonly Tallied[]
  /** Number of all values. `rows` has the largest ones. */
  readonly all: number
  /** Lines in rows that are not in `rows`. */
  readonly otherLines: number
  /** Whether `all` is exact. */
  readonly isExact: boolean
  /** The number of lines that is 100% of a share. */
  readonly lines: number
}

/** Settings of all tables of a report. */
export interface TableOptions {
  readonly heading: Heading
  /** The most rows of a table, those that a reader opens included. */
  readonly mostRows: number
}

/** The tables of countries, regions and cities. */
export function rankings(counts: Counts, activity: Activity | null, options: TableOptions): Markup[] {
  const distinct = activity?.addresses ?? null
  const { overflow, resolved: lines } = counts
  const countries = namedCountries(counts, activity)
  const of = (
    rows: ReadonlyMap<string, { readonly country: string | null; readonly count: number }>,
    addresses: ReadonlyMap<string, number> | undefined,
    nameOf: (key: string) => string,
  ): Tallied[] =>
    Array.from(rows, ([key, { country, count }]) => ({
      name: nameOf(key),
      // A name such as United States would fill a line of its own in each row.
      within: country,
      count,
      addresses: addresses?.get(key) ?? null,
      bytes: null,
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
  return [
    table('countries', 'country', 'countries', countries, overflow.countries),
    table('regions', 'region', 'regions', regions, overflow.regions),
    table('cities', 'city', 'cities', cities, overflow.cities),
  ]
}

/** Countries with a code or a name. */
export function namedCountries(
  counts: Counts,
  figures: Pick<Activity, 'addresses' | 'countryBytes'> | null = null,
): Tallied[] {
  return [...counts.countries]
    .filter(([, { code, name }]) => code !== null || name !== null)
    .map(([key, { code, name, count }]) => ({
      name: name ?? code ?? '',
      within: name === null ? null : code,
      count,
      addresses: figures?.addresses.countries.get(key) ?? null,
      bytes: figures?.countryBytes?.get(key) ?? null,
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
  const columns: Columns = {
    addresses: rows.some(({ addresses }) => addresses !== null),
    bytes: rows.some(({ bytes }) => bytes !== null),
  }
  const shown = top.map(
    (row) => html`
<tr><th scope="row"><span class="name">${nameOf(row, MAX_NAME_LENGTH)}</span>${bar(row.count / highest)}${cells(row, lines, columns)}`,
  )
  const headings = html`<thead><tr><th scope="col"><span class="unseen">${one}</span>${columns.addresses ? html`<th scope="col"><abbr title="${isExact ? 'Distinct addresses' : 'Distinct addresses, at least'}">IPs</abbr>` : null}${columns.bytes ? html`<th scope="col">Bytes` : null}<th scope="col">Lines<th scope="col">Share</thead>`
  const rest = restRows(table, top.length, columns)
  return html`<section class="card">${head}
<table class="ranking">${headings}<tbody>${shown}</tbody>${rest.length === 0 ? null : html`<tfoot>${rest}</tfoot>`}</table>${
    further.length === 0
      ? null
      : html`<details class="further"><summary>${further.length + top.length < all ? `The next ${further.length}` : `The other ${further.length}`} ${many}</summary><table class="ranking plain">${headings}<tbody>${further.map(
          (row) => shortRow(row, lines, columns),
        )}</tbody></table></details>`
  }</section>`
}

/** Which columns a table has, beside the lines and their share. */
type Columns = Readonly<Record<'addresses' | 'bytes', boolean>>

/** A row in few bytes: the end tags of cells are optional in HTML, and the style sheet isolates the direction of names. */
function shortRow(row: Tallied, lines: number, columns: Columns): Markup {
  const { name, within } = row
  const place = within === null ? null : html` <i>${clipped(within, MAX_FURTHER_NAME_LENGTH)}</i>`
  return html`
<tr><th>${clipped(name, MAX_FURTHER_NAME_LENGTH)}${place}${cells(row, lines, columns)}`
}

function nameOf({ name, within }: Tallied, length: number): Markup {
  return html`<bdi>${clipped(name, length)}</bdi>${within === null ? null : html` <bdi class="within">${clipped(within, length)}</bdi>`}`
}

function cells(
  { count, addresses, bytes }: Pick<Tallied, 'count' | 'addresses' | 'bytes'>,
  lines: number,
  columns: Columns,
): Markup {
  return html`${columns.addresses ? html`<td>${addresses === null ? '' : countText(addresses)}` : null}${columns.bytes ? html`<td>${bytes === null ? '' : bytesText(bytes)}` : null}<td>${countText(count)}<td>${shareText(count, lines)}`
}

/** The lines that no row of the table has. */
function restRows(
  { one, many, rows, all, otherLines, lines, isExact }: Table,
  shown: number,
  columns: Columns,
): Markup[] {
  const others = rows.slice(shown)
  const known = rows.reduce((sum, { count }) => sum + count, otherLines)
  const row = (label: string, count: number): Markup => html`
<tr><th scope="row">${label}${cells({ count, addresses: null, bytes: null }, lines, columns)}`
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
