import { atLeast, bytesText, countOf, countText, shareText } from '../figures.ts'
import { card, clipped, html, MAX_NAME_LENGTH, Markup } from './markup.ts'
import type { Place, ReportCounts } from './places.ts'
import {
  linesOf,
  type Ranked,
  rankedRows,
  TABLES,
  type TableName,
  type Tables,
  type Tallied,
} from './ranked.ts'
import type { Heading } from './words.ts'

/** Rows of a table that are always shown. Up to three more rows sum up the other lines. */
export const MAX_ROWS = 15

/** Limit in characters, in the rows that a reader opens. */
const MAX_FURTHER_NAME_LENGTH = 100

/** Settings of all tables of a report. */
export interface TableOptions {
  readonly heading: Heading
  /** Gets the further rows of each table. Where they belong, the page has their index between two {@link PLACE_MARK}. */
  readonly further: FurtherRows[]
}

/** Makes the rows of a table that a reader can open. @param mostRows of the table, with those that are always shown */
export type FurtherRows = (mostRows: number) => string

/** No text of a page has this character. */
export const PLACE_MARK = '\0'

/** The tables of countries, regions and cities. */
export function rankings(counts: ReportCounts, options: TableOptions): Markup[] {
  const { unlisted, resolved, regions, cities } = counts
  const all = {
    countries: namedCountries(counts),
    regions: [...regions.values()],
    cities: [...cities.values()],
  }
  return (['countries', 'regions', 'cities'] as const).map((title) =>
    rankingTable(title, { ...rankedRows(all[title], unlisted), lines: resolved }, options),
  )
}

/** Countries with a code or a name. */
export function namedCountries({ countries }: ReportCounts): Place[] {
  return [...countries.values()].filter(({ name }) => name !== '')
}

/**
 * The tables of what was counted beside the locations, as far as they have rows.
 *
 * @param lines the number of lines that is 100% of a share, unless a table says it; absent for the lines of the table
 */
export function rankedTables(
  titles: readonly TableName[],
  tables: Tables,
  options: TableOptions,
  lines?: number,
): Markup[] {
  return titles.flatMap((title) => {
    const figures = tables[title]
    return figures === undefined || figures.all === 0
      ? []
      : [rankingTable(title, { lines, ...figures }, options)]
  })
}

function rankingTable(title: TableName, figures: Ranked, { heading, further }: TableOptions): Markup {
  const { rows, all, isExact, lines = linesOf(rows) + figures.otherLines } = figures
  const [one, many] = TABLES[title]
  const aside = all === 0 ? null : atLeast(countText(all), isExact ? 0 : 1)
  if (all === 0 && isExact)
    return card(heading(title), aside, html`<p class="empty">No line has a ${one}.</p>`)
  const top = rows.slice(0, MAX_ROWS)
  const highest = top[0]?.count ?? 1
  const hasAddresses = rows.some(({ addresses }) => addresses !== null)
  const hasBytes = rows.some(({ bytes }) => bytes !== null)
  const cells: Cells = ({ count, addresses = null, bytes = null }) =>
    html`${hasAddresses ? html`<td>${addresses === null ? '' : countText(addresses)}` : null}${hasBytes ? html`<td>${bytes === null ? '' : bytesText(bytes)}` : null}<td>${countText(count)}<td>${shareText(count, lines)}`
  const shown = top.map(
    (row) => html`
<tr><th scope="row"><span class="name">${nameOf(row)}</span>${bar(row.count / highest)}${cells(row)}`,
  )
  const headings = html`<thead><tr><th scope="col"><span class="unseen">${one}</span>${hasAddresses ? html`<th scope="col"><abbr title="${isExact ? 'Distinct addresses' : 'Distinct addresses, at least'}">IPs</abbr>` : null}${hasBytes ? html`<th scope="col">Bytes` : null}<th scope="col">Lines<th scope="col">Share</thead>`
  const rest = restRows([one, many], figures, top.length, lines, cells)
  const short = rows.slice(MAX_ROWS).map((row) => shortRow(row, cells))
  const place = further.push((mostRows) => {
    const opened = short.slice(0, mostRows - MAX_ROWS)
    if (opened.length === 0) return ''
    const next = opened.length + top.length < all ? 'next' : 'other'
    return html`<details class="further"><summary>The ${next} ${opened.length} ${many}</summary><table class="ranking plain">${headings}<tbody>${opened}</tbody></table></details>`
      .text
  })
  return card(
    heading(title),
    aside,
    html`
<table class="ranking">${headings}<tbody>${shown}</tbody>${rest.length === 0 ? null : html`<tfoot>${rest}</tfoot>`}</table>${Markup.of(`${PLACE_MARK}${place - 1}${PLACE_MARK}`)}`,
  )
}

/** Makes the cells of a row after its name, for the columns of its table. */
type Cells = (row: Pick<Tallied, 'count'> & Partial<Tallied>) => Markup

/** A row in few bytes: the end tags of cells are optional in HTML, and the style sheet isolates the direction of names. */
function shortRow(row: Tallied, cells: Cells): Markup {
  const { name, within } = row
  const place = within === null ? null : html` <i>${clipped(within, MAX_FURTHER_NAME_LENGTH)}</i>`
  return html`
<tr><th>${clipped(name, MAX_FURTHER_NAME_LENGTH)}${place}${cells(row)}`
}

function nameOf({ name, within }: Tallied): Markup {
  return html`<bdi>${clipped(name, MAX_NAME_LENGTH)}</bdi>${within === null ? null : html` <bdi class="within">${clipped(within, MAX_NAME_LENGTH)}</bdi>`}`
}

/** The lines that no row of the table has. */
function restRows(
  [one, many]: readonly [one: string, many: string],
  { rows, all, otherLines, isExact }: Ranked,
  shown: number,
  lines: number,
  cells: Cells,
): Markup[] {
  const unknown = lines - linesOf(rows) - otherLines
  const inOthers = linesOf(rows.slice(shown)) + (isExact ? otherLines : 0)
  const row = (label: string, count: number): Markup => html`
<tr><th scope="row">${label}${cells({ count })}`
  return [
    all <= shown ? null : row(countOf(all - shown, `other ${one}`, `other ${many}`), inOthers),
    isExact || otherLines === 0 ? null : row(`Further ${many}, too many to list`, otherLines),
    unknown <= 0 ? null : row(`Unknown ${one}`, unknown),
  ].filter((each) => each !== null)
}

/** The length is an SVG attribute, because the page's policy forbids style attributes. */
function bar(share: number): Markup {
  const percent = Math.round(Math.min(1, Math.max(0, share)) * 1000) / 10
  return html`<svg class="bar" aria-hidden="true"><rect width="${percent}%" height="100%"/></svg>`
}
