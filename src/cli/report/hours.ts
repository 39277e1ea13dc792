import type { Counts } from '../../enrich/counting/counts.ts'
import { countOf, countText, shareText, shortCountText } from '../figures.ts'
import { html, type Markup, twoDecimals } from './markup.ts'

/** Width of a digit, and of the gap after a label. All other widths are percentages. */
const DIGIT_PX = 7
const GAP_PX = 8

/** The card of lines by local hour of day. */
export function hoursOfDay(counts: Counts): Markup {
  const total = counts.hours.reduce((sum, count) => sum + count, 0)
  const title = html`<header class="head"><h2>Local time of day</h2></header>`
  if (counts.firstInstant === null || total === 0) {
    return html`<section class="card hours">${title}<p class="empty">${whyEmpty(counts)}</p></section>`
  }
  const peak = counts.hours.indexOf(Math.max(...counts.hours))
  const partly = total < counts.resolved
  return html`<section class="card hours">${title}
<p class="lead">Each event by the local time of its location: 09:00 is nine in the morning both in Tokyo and in Paris. The busiest hour starts at ${clock(peak)}, with ${shareText(counts.hours[peak] ?? 0, total)}.</p>
${chart(counts.hours, total)}${
  partly
    ? html`<p class="note">${countText(total)} of ${countOf(counts.resolved, 'located line', 'located lines')}. The others have no time, or the time zone of their location is unknown.</p>`
    : null
}</section>`
}

function whyEmpty(counts: Counts): Markup {
  if (counts.firstInstant === null) {
    return html`No line has a readable time. For NDJSON, CSV and TSV, name the field of the time with <code>--time-field</code>. Access logs contain the time.`
  }
  return html`The lines have times, but the database has no time zones for their locations.`
}

function chart(hours: readonly number[], total: number): Markup {
  const highest = Math.max(...hours)
  const step = niceStep(highest)
  const ceiling = step * Math.ceil(highest / step)
  const ticks = Array.from({ length: Math.round(ceiling / step) + 1 }, (_, index) => index * step)
  const labels = ticks.map(shortCountText)
  const gutter = Math.max(...labels.map(({ length }) => length)) * DIGIT_PX + GAP_PX
  const y = (count: number): number => twoDecimals(100 * (1 - count / ceiling))
  const bars = hours.map((count, hour) => {
    const label = `${clock(hour)}–${clock(hour + 1)}: ${countOf(count, 'line', 'lines')}, ${shareText(count, total)}`
    // The full-height rectangle makes the title appear also above a low bar.
    return html`
<g class="hour"><title>${label}</title><rect class="catch" x="${at(hour)}%" y="0" width="${at(1)}%" height="100%"/><rect class="column" x="${at(hour + 0.14)}%" y="${y(count)}%" width="${at(0.72)}%" height="${twoDecimals(100 - y(count))}%"/></g>`
  })
  const names = hours.map((_, hour) => {
    const kind = hour % 6 === 0 ? 'sixth' : hour % 3 === 0 ? 'third' : 'each'
    return html`<text class="${kind}" x="${at(hour + 0.5)}%" y="20">${twoDigits(hour)}</text>`
  })
  return html`<div class="chart"><svg class="scale" width="${gutter}" aria-hidden="true">${ticks.map(
    (tick, index) => html`<text x="${gutter - GAP_PX}" y="${y(tick)}%" dy="4">${labels[index] ?? ''}</text>`,
  )}</svg><svg class="plot" role="img" aria-label="${summary(hours, total)}">${ticks.map(
    (tick) => html`<line x1="0" x2="100%" y1="${y(tick)}%" y2="${y(tick)}%"/>`,
  )}${bars}</svg><svg class="names" aria-hidden="true">${names}</svg></div>`
}

/** The chart for screen readers. */
function summary(hours: readonly number[], total: number): string {
  const each = hours.map((count, hour) => `${clock(hour)} ${shareText(count, total)}`)
  return `Bar chart of lines by local hour: ${each.join(', ')}`
}

/** Position from the left, in percent. */
function at(hour: number): number {
  return twoDecimals((hour / 24) * 100)
}

function clock(hour: number): string {
  return `${twoDigits(hour)}:00`
}

function twoDigits(hour: number): string {
  return String(hour).padStart(2, '0')
}

/**
 * The distance between two ticks: 1, 2 or 5 times a power of ten, so that there are two to five ticks above zero. At
 * least 1, because counts are whole numbers.
 */
function niceStep(highest: number): number {
  const power = 10 ** Math.floor(Math.log10(highest / 2))
  const step = [5, 2, 1].map((factor) => factor * power).find((each) => each * 2 <= highest) ?? power
  return Math.max(1, step)
}
