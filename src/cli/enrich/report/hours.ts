import type { Tally } from '../../../enrich/tally.ts'
import { countOf, countText, shareText, shortCountText } from './figures.ts'
import { html, type Markup } from './markup.ts'

/** Width of a digit and of the space behind a label, in pixels; all else are shares of what room the page has. */
const DIGIT = 7
const GAP = 8

/** Lines by the hour of day where they came from. */
export function hoursOfDay(tally: Tally): Markup {
  const total = tally.hours.reduce((sum, count) => sum + count, 0)
  const title = html`<header class="head"><h2>Local time of day</h2></header>`
  if (tally.firstInstant === null || total === 0) {
    return html`<section class="card hours">${title}<p class="empty">${whyEmpty(tally)}</p></section>`
  }
  const peak = tally.hours.indexOf(Math.max(...tally.hours))
  const partly = total < tally.resolved
  return html`<section class="card hours">${title}
<p class="lead">By the clock at the place of the address, at the time of the event: 9 is nine in the morning in Tokyo as in Paris. The busiest hour begins at ${clock(peak)}, with ${shareText(tally.hours[peak] ?? 0, total)}.</p>
${chart(tally.hours, total)}${
  partly
    ? html`<p class="note">${countText(total)} of ${countOf(tally.resolved, 'located line', 'located lines')}: the others have no time of their own, or their place no known time zone.</p>`
    : null
}</section>`
}

function whyEmpty(tally: Tally): Markup {
  if (tally.firstInstant === null) {
    return html`The lines carried no time that could be read, so there is no hour to count. For NDJSON, CSV and TSV, name the field that holds it with <code>--time-field</code>; access logs bring their own.`
  }
  return html`The lines carry times, but the database gives no time zone for their places.`
}

function chart(hours: readonly number[], total: number): Markup {
  const highest = Math.max(...hours)
  const step = niceStep(highest)
  const ceiling = step * Math.ceil(highest / step)
  const ticks = Array.from({ length: Math.round(ceiling / step) + 1 }, (_, index) => index * step)
  const labels = ticks.map(shortCountText)
  const gutter = Math.max(...labels.map(({ length }) => length)) * DIGIT + GAP
  const y = (count: number): number => hundredths(100 * (1 - count / ceiling))
  const bars = hours.map((count, hour) => {
    const label = `${clock(hour)}–${clock(hour + 1)}: ${countOf(count, 'line', 'lines')}, ${shareText(count, total)}`
    // The column behind a bar answers the pointer also where the bar is low.
    return html`
<g class="hour"><title>${label}</title><rect class="catch" x="${at(hour)}%" y="0" width="${at(1)}%" height="100%"/><rect class="column" x="${at(hour + 0.14)}%" y="${y(count)}%" width="${at(0.72)}%" height="${hundredths(100 - y(count))}%"/></g>`
  })
  const names = hours.map((_, hour) => {
    const kind = hour % 6 === 0 ? 'sixth' : hour % 3 === 0 ? 'third' : 'each'
    return html`<text class="${kind}" x="${at(hour + 0.5)}%" y="20">${twoDigits(hour)}</text>`
  })
  return html`<div class="chart"><svg class="scale" width="${gutter}" aria-hidden="true">${ticks.map(
    (tick, index) => html`<text x="${gutter - GAP}" y="${y(tick)}%" dy="4">${labels[index] ?? ''}</text>`,
  )}</svg><svg class="plot" role="img" aria-label="${summary(hours, total)}">${ticks.map(
    (tick) => html`<line x1="0" x2="100%" y1="${y(tick)}%" y2="${y(tick)}%"/>`,
  )}${bars}</svg><svg class="names" aria-hidden="true">${names}</svg></div>`
}

/** The chart in words, for those who do not see it. */
function summary(hours: readonly number[], total: number): string {
  const each = hours.map((count, hour) => `${clock(hour)} ${shareText(count, total)}`)
  return `Bar chart of lines by local hour: ${each.join(', ')}`
}

/** From the left, in percent. */
function at(hour: number): number {
  return hundredths((hour / 24) * 100)
}

function hundredths(number: number): number {
  return Math.round(number * 100) / 100
}

function clock(hour: number): string {
  return `${twoDigits(hour)}:00`
}

function twoDigits(hour: number): string {
  return String(hour).padStart(2, '0')
}

/** 1, 2 or 5 times a power of ten, so that two to five lines reach the highest bar. Lines come in whole numbers. */
function niceStep(highest: number): number {
  const power = 10 ** Math.floor(Math.log10(highest / 2))
  const step = [5, 2, 1].map((factor) => factor * power).find((each) => each * 2 <= highest) ?? power
  return Math.max(1, step)
}
