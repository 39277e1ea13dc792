import { createHash } from 'node:crypto'
import type { DatabaseInfo } from '../../location/vendors.ts'
import { countOf, dayText, durationText, minuteText } from '../figures.ts'
import type { Activity } from './activity.ts'
import { daysCard, hoursCard, timelineCard } from './charts.ts'
import { worldMap } from './map.ts'
import {
  clipped,
  html,
  isolated,
  linksIn,
  linkTo,
  MAX_ATTRIBUTION_LENGTH,
  MAX_NAME_LENGTH,
  Markup,
  withLinks,
} from './markup.ts'
import { lead, mainFailure, outcome, statusCard, totals } from './outcome.ts'
import type { ReportCounts } from './places.ts'
import { MOST_ROWS } from './ranked.ts'
import {
  type FurtherRows,
  MAX_ROWS,
  PLACE_MARK,
  rankedTables,
  rankings,
  type TableOptions,
} from './rankings.ts'
import { STYLE } from './style.ts'
import { type Heading, headingsIn } from './words.ts'

/** Facts of a run that a report has besides the counts. */
export interface ReportDetails {
  /** The title above the report; absent for the names of the inputs. */
  readonly title?: string | undefined
  /** Names of the inputs, without their folders. Empty or `-`: standard input. */
  readonly sources: readonly string[]
  /** A BCP 47 tag: headings are in its language, if the report has it. Default: English. */
  readonly locale?: string | undefined
  /** The figures of times, addresses and requests. */
  readonly activity: Activity
  readonly startedAt: Date
  /** Duration of the run. */
  readonly seconds: number
  /** Bytes read, after decompression; `null` if unknown. */
  readonly bytes: number | null
  readonly threads: number
  /** The version of geofix. */
  readonly version: string
  /** The databases in the order of their use. */
  readonly databases: readonly ReportedDatabase[]
}

export type ReportedDatabase = Pick<DatabaseInfo, 'type' | 'buildDate' | 'licence' | 'attribution'>

/** Further inputs are not named. */
const MAX_NAMED_INPUTS = 12

/** Limit in characters. */
const MAX_INPUT_NAME_LENGTH = 300

const STANDARD_INPUT = 'Standard input'

/** A page of more bytes has fewer rows that a reader can open. */
const MAX_PAGE_BYTES = 300_000

/**
 * Renders the counts of a run as one HTML document. The document loads nothing, runs no script, and has a bounded
 * size for any counts.
 *
 * @param counts counted with the option `details`; without it, regions, cities, the map and the hours are empty
 */
export function renderReport(counts: ReportCounts, details: ReportDetails): string {
  const further: FurtherRows[] = []
  const parts = render(counts, details, { heading: headingsIn(details.locale), further }).split(PLACE_MARK)
  // Every other part is the place of further rows.
  const withRows = (mostRows: number): string =>
    parts.map((part, index) => (index % 2 === 0 ? part : (further[Number(part)]?.(mostRows) ?? ''))).join('')
  let text = withRows(MOST_ROWS)
  const all = Buffer.byteLength(text)
  if (all <= MAX_PAGE_BYTES) return text
  const least = Buffer.byteLength(withRows(MAX_ROWS))
  const rowBytes = (all - least) / (MOST_ROWS - MAX_ROWS)
  for (let rows = Math.floor(MAX_ROWS + (MAX_PAGE_BYTES - least) / rowBytes); ; rows -= 10) {
    text = withRows(Math.max(MAX_ROWS, rows))
    if (rows <= MAX_ROWS || Buffer.byteLength(text) <= MAX_PAGE_BYTES) return text
  }
}

function render(counts: ReportCounts, details: ReportDetails, options: TableOptions): string {
  const sources = details.sources.map(sourceName)
  const title = titleOf(details)
  return page(
    `${isolated(title)} – Geofix report`,
    html`<header class="top">
<p class="eyebrow">${globe()}Geofix report</p>
<h1><bdi>${title}</bdi></h1>
<p class="lead">${lead(counts)}</p>
${sources.length < 2 ? null : sourceList(sources)}
</header>
<main>
${totals(counts, details.activity, details.bytes)}
${counts.lines === counts.blank ? null : charts(counts, details.activity, options)}
</main>
<footer>
${credits(details.databases, options.heading)}
<p>Generated ${startedAt(details.startedAt)} by Geofix ${details.version}, offline, in ${durationText(details.seconds)} on ${countOf(details.threads, 'thread', 'threads')}. This page loads nothing and runs no script.</p>
<p>Locations of IP addresses are approximate and do not identify people. Map: Natural Earth, Equal Earth projection.</p>
</footer>`,
  )
}

/** The title that was given, or the names of the inputs. */
function titleOf({ title, sources }: Pick<ReportDetails, 'title' | 'sources'>): string {
  const [first = '-', ...more] = sources
  const named = more.length === 0 ? sourceName(first) : countOf(sources.length, 'input', 'inputs')
  return title === undefined ? named : clipped(title, MAX_INPUT_NAME_LENGTH)
}

function sourceName(source: string): string {
  return source === '-' ? STANDARD_INPUT : clipped(source, MAX_INPUT_NAME_LENGTH)
}

/**
 * The document around a body. Its policy forbids everything except its own style sheet: scripts, images,
 * connections, forms, and style attributes. Markup injected by a log could neither run a script nor load anything.
 */
function page(title: string, body: Markup): string {
  const digest = createHash('sha256').update(STYLE).digest('base64')
  const policy = `default-src 'none'; style-src 'sha256-${digest}'; base-uri 'none'; form-action 'none'`
  return html`<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="referrer" content="no-referrer">
<meta name="robots" content="noindex">
<title>${title}</title>
<style>${Markup.of(STYLE)}</style>
</head>
<body>
${body}
</body>
</html>
`.text
}

/** The body of the page. Cards that most readers want first come first. If no line was located, most charts would be empty. */
function charts(counts: ReportCounts, activity: Activity, options: TableOptions): Markup {
  const { heading } = options
  const result = outcome(counts, heading)
  const isMostlyLost = mainFailure(counts) !== null
  const { tables, requests, timeline, days } = activity
  const when = timelineCard(timeline, heading)
  const visitors = daysCard(days, heading)
  const lines = counts.lines - counts.blank - counts.bad - counts.excluded
  const cards = [
    ...rankedTables(['callers', 'networks', 'systems'], tables, options, lines),
    statusCard(requests, heading),
    ...rankedTables(['pages', 'assets', 'notFound', 'referrers'], tables, options),
    ...rankedTables(['browsers', 'operatingSystems', 'crawlers'], tables, options),
  ]
  if (counts.resolved === 0)
    return html`${result}${when}${side([visitors], 'halves')}${side(cards, 'columns')}`
  const [above, below] = isMostlyLost ? [result, null] : [null, result]
  return html`${above}
${when}
${worldMap(counts, heading)}
${side([visitors, hoursCard(counts, heading)], 'halves')}
${side([...rankings(counts, options), ...cards, below], 'columns')}`
}

/** Cards beside each other where the page is wide: in columns, or as two halves. */
function side(cards: readonly (Markup | null)[], kind: 'columns' | 'halves'): Markup | null {
  const all = cards.filter((card) => card !== null)
  const isWhole = all.length === 1 && kind === 'halves'
  return all.length === 0 ? null : html`<div class="${isWhole ? 'whole' : kind}">${all}</div>`
}

function startedAt(instant: Date): Markup {
  const text = minuteText(instant)
  return text === null ? html`` : html`on <time datetime="${instant.toISOString()}">${text} UTC</time>`
}

function sourceList(sources: readonly string[]): Markup {
  const unnamed = sources.length - MAX_NAMED_INPUTS
  return html`<details><summary>${countOf(sources.length, 'input', 'inputs')}</summary><ul>${sources
    .slice(0, MAX_NAMED_INPUTS)
    .map((source) => html`<li><bdi>${source}</bdi></li>`)}${
    unnamed > 0 ? html`<li>and ${countOf(unnamed, 'other', 'others')}</li>` : null
  }</ul></details>`
}

/** The links that licences require, and the details of the databases, which a reader can open. */
function credits(databases: readonly ReportedDatabase[], heading: Heading): Markup | null {
  if (databases.length === 0) return null
  const labels = new Map<string, string>()
  for (const { attribution } of databases) {
    for (const { address, label } of linksIn(clipped(attribution ?? '', MAX_ATTRIBUTION_LENGTH))) {
      // The words of a vendor are better than an address.
      if (label !== address || !labels.has(address)) labels.set(address, label)
    }
  }
  const links = Array.from(labels, ([address, label], index) => {
    const text = label === address ? address.replace(/^https:\/\/(www\.)?|\/$/g, '') : label
    return html`${index === 0 ? '' : ' · '}${linkTo(address, text)}`
  })
  return html`<div class="credits">${links.length === 0 ? null : html`<p>${links}</p>`}<details><summary>${heading('databases')}</summary>${databases.map(databaseNote)}</details></div>`
}

function databaseNote({ type, buildDate, licence, attribution }: ReportedDatabase): Markup {
  const built = buildDate === null ? null : dayText(buildDate)
  const about = [
    built === null ? 'build date unknown' : `built ${built}`,
    licence === null ? 'licence unknown: ask the vendor' : `licence ${clipped(licence, MAX_NAME_LENGTH)}`,
  ].join(', ')
  return html`<div class="source"><h3><bdi>${clipped(type, MAX_NAME_LENGTH)}</bdi></h3><p>${about}</p>${
    attribution === null
      ? null
      : html`<p class="attribution" dir="auto">${withLinks(clipped(attribution, MAX_ATTRIBUTION_LENGTH))}</p>`
  }</div>`
}

function globe(): Markup {
  return html`<svg class="globe" viewBox="0 0 20 20" aria-hidden="true"><circle cx="10" cy="10" r="8"/><ellipse cx="10" cy="10" rx="3.6" ry="8"/><path d="M2 10h16"/></svg>`
}
