import { createHash } from 'node:crypto'
import type { Counts } from '../../enrich/counting/counts.ts'
import { countOf, dayText, minuteText } from '../figures.ts'
import { hoursOfDay } from './hours.ts'
import { worldMap } from './map.ts'
import { clipped, html, isolated, MAX_NAME_LENGTH, Markup } from './markup.ts'
import { lead, outcome, totals } from './outcome.ts'
import { rankings } from './rankings.ts'
import { STYLE } from './style.ts'

/** What a report says about the run, besides the counts. */
export interface ReportDetails {
  /** Names of the inputs as given. Empty or `-`: standard input. */
  readonly sources: readonly string[]
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

export interface ReportedDatabase {
  readonly type: string
  /** `null` if unknown. */
  readonly buildDate: Date | null
  readonly licence: string | null
  /** The text that the licence requires beside results. */
  readonly attribution: string | null
}

/** Further inputs are not named. */
const MAX_NAMED_INPUTS = 12

/** In characters. */
const MAX_INPUT_NAME_LENGTH = 300

/** In characters. The attribution of the embedded databases has about 800. */
const MAX_ATTRIBUTION_LENGTH = 4000

const STANDARD_INPUT = 'Standard input'

/**
 * Renders the counts of a run as one HTML document. The document loads nothing, runs no script, and has a bounded
 * size for any counts.
 *
 * @param counts counted with the option `details`; without it, regions, cities, the map and the hours are empty
 */
export function renderReport(counts: Counts, details: ReportDetails): string {
  const sources = details.sources.map((source) =>
    source === '-' ? STANDARD_INPUT : clipped(source, MAX_INPUT_NAME_LENGTH),
  )
  const [first = STANDARD_INPUT, ...more] = sources
  const others = more.length === 0 ? '' : ` and ${countOf(more.length, 'other', 'others')}`
  return page(
    `${isolated(first)}${others} – Geofix report`,
    html`<header class="top">
<p class="eyebrow">${globe()}Geofix report</p>
<h1><bdi>${first}</bdi>${others}</h1>
<p class="lead">${lead(counts)}</p>
${more.length === 0 ? null : sourceList(sources)}
</header>
<main>
${totals(counts, details)}
${counts.lines === counts.blank ? null : charts(counts)}
${databaseNotes(details.databases)}
</main>
<footer>
<p>Generated ${startedAt(details.startedAt)} by Geofix ${details.version}, offline. This page loads nothing and runs no script.</p>
<p>Locations of IP addresses are approximate and do not identify people. Map: Natural Earth, Equal Earth projection.</p>
</footer>`,
  )
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

/** If no line was located, only the outcome, because the charts would be empty. */
function charts(counts: Counts): Markup {
  if (counts.resolved === 0) return outcome(counts)
  return html`${worldMap(counts)}
${rankings(counts)}
<div class="halves">
${hoursOfDay(counts)}
${outcome(counts)}
</div>`
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

/** The databases with their licences and the attributions that these require. */
function databaseNotes(databases: readonly ReportedDatabase[]): Markup | null {
  if (databases.length === 0) return null
  return html`<section class="card sources"><header class="head"><h2>${
    databases.length === 1 ? 'The database' : 'The databases'
  }</h2></header>${databases.map(databaseNote)}</section>`
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

/** A bare URL, or the anchor in the attribution of the embedded databases. Only https becomes a link. */
const LINK = /<a href='(https:\/\/[^\s'"<>]+)'>([^<>]+)<\/a>|https:\/\/[^\s<>"'()]*[^\s<>"'().,;:]/g

function withLinks(text: string): Markup[] {
  const parts: Markup[] = []
  let from = 0
  for (const match of text.matchAll(LINK)) {
    const [whole, address = whole, label = whole] = match
    parts.push(
      html`${text.slice(from, match.index)}<a href="${address}" rel="noopener noreferrer">${label}</a>`,
    )
    from = match.index + whole.length
  }
  return [...parts, html`${text.slice(from)}`]
}

function globe(): Markup {
  return html`<svg class="globe" viewBox="0 0 20 20" aria-hidden="true"><circle cx="10" cy="10" r="8"/><ellipse cx="10" cy="10" rx="3.6" ry="8"/><path d="M2 10h16"/></svg>`
}
