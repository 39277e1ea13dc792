import type { Tally } from '../../../enrich/tally.ts'
import { clipped } from './clipped.ts'
import { databaseNotes } from './databases.ts'
import type { ReportFacts } from './facts.ts'
import { countOf, minuteText } from './figures.ts'
import { hoursOfDay } from './hours.ts'
import { worldMap } from './map.ts'
import { html, isolated, type Markup } from './markup.ts'
import { outcome } from './outcome.ts'
import { page } from './page.ts'
import { rankings } from './ranking.ts'
import { lead, totals } from './totals.ts'

export type { ReportFacts } from './facts.ts'

/** Inputs that are named; the others are counted. */
const NAMED = 12

/** Characters of an input's name. */
const SOURCE_LENGTH = 300

const STANDARD_INPUT = 'Standard input'

/**
 * Makes a page of what was counted: one HTML document that loads nothing and runs nothing, of bounded size
 * whatever was counted.
 *
 * @param tally counted with `sums`; without them the page says that regions, cities and the map are empty
 */
export function renderReport(tally: Tally, facts: ReportFacts): string {
  const sources = facts.sources.map((source) =>
    source === '-' ? STANDARD_INPUT : clipped(source, SOURCE_LENGTH),
  )
  const [first = STANDARD_INPUT, ...more] = sources
  const others = more.length === 0 ? '' : ` and ${countOf(more.length, 'other', 'others')}`
  return page(
    `${isolated(first)}${others} – Geofix report`,
    html`<header class="top">
<p class="eyebrow">${globe()}Geofix report</p>
<h1><bdi>${first}</bdi>${others}</h1>
<p class="lead">${lead(tally)}</p>
${more.length === 0 ? null : sourceList(sources)}
</header>
<main>
${totals(tally, facts)}
${tally.lines === tally.blank ? null : body(tally)}
${databaseNotes(facts.databases)}
</main>
<footer>
<p>Made ${startedAt(facts.startedAt)} by Geofix ${facts.version}, offline. This page loads nothing and runs no script.</p>
<p>Places of IP addresses are approximate, and never those of people. Map: Natural Earth, Equal Earth projection.</p>
</footer>`,
  )
}

/** Where nothing was located, empty charts would say less than the reasons alone. */
function body(tally: Tally): Markup {
  if (tally.resolved === 0) return outcome(tally)
  return html`${worldMap(tally)}
${rankings(tally)}
<div class="halves">
${hoursOfDay(tally)}
${outcome(tally)}
</div>`
}

function startedAt(instant: Date): Markup {
  const text = minuteText(instant)
  return text === null ? html`` : html`on <time datetime="${instant.toISOString()}">${text} UTC</time>`
}

function sourceList(sources: readonly string[]): Markup {
  const beyond = sources.length - NAMED
  return html`<details><summary>${countOf(sources.length, 'input', 'inputs')}</summary><ul>${sources
    .slice(0, NAMED)
    .map((source) => html`<li><bdi>${source}</bdi></li>`)}${
    beyond > 0 ? html`<li>and ${countOf(beyond, 'other', 'others')}</li>` : null
  }</ul></details>`
}

function globe(): Markup {
  return html`<svg class="globe" viewBox="0 0 20 20" aria-hidden="true"><circle cx="10" cy="10" r="8"/><ellipse cx="10" cy="10" rx="3.6" ry="8"/><path d="M2 10h16"/></svg>`
}
