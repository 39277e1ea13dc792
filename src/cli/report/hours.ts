import type { Counts } from '../../enrich/counting/counts.ts'
import { countOf, countText, shareText } from '../figures.ts'
import { axis, niceScale } from './axis.ts'
import { html, type Markup, twoDecimals } from './markup.ts'
import type { Heading } from './words.ts'

/** Height of a row of the grid. */
const ROW_PX = 18

/** The card of lines by local hour, of the day and of the week. */
export function hoursCard(counts: Counts, heading: Heading): Markup {
  const total = counts.hours.reduce((sum, count) => sum + count, 0)
  const title = html`<header class="head">${heading('hours')}</header>`
  if (counts.firstInstant === null || total === 0) {
    return html`<section class="card hours">${title}<p class="empty">${whyEmpty(counts)}</p></section>`
  }
  const peak = counts.hours.indexOf(Math.max(...counts.hours))
  const partly = total < counts.resolved
  return html`<section class="card hours">${title}
<p class="lead">Each event by the local time of its location: 09:00 is nine in the morning both in Tokyo and in Paris. The busiest hour starts at ${clock(peak)}, with ${shareText(counts.hours[peak] ?? 0, total)}.</p>
${chart(counts.hours, total)}${weekGrid(counts.weekHours)}${
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
  const { ceiling, ticks } = niceScale(Math.max(...hours))
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
  return axis(ticks, ceiling, bars, names, summary(hours, total))
}

const WEEKDAYS = ['Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday', 'Sunday']
/** Shades of a cell. A cell without lines has none of them. */
const SHADES = 5

/** A row for each day of the week. `null` if all lines are of one day. */
function weekGrid(hours: readonly number[]): Markup | null {
  const days = WEEKDAYS.map((_, day) => hours.slice(24 * day, 24 * (day + 1)))
  if (days.filter((each) => each.some((count) => count > 0)).length < 2) return null
  const highest = Math.max(...hours)
  const total = hours.reduce((sum, count) => sum + count, 0)
  const rows = days.map((counts, day) => {
    const name = WEEKDAYS[day] ?? ''
    const cells = counts.map((count, hour) => {
      const shade = count === 0 ? 0 : Math.ceil((SHADES * count) / highest)
      return html`<rect class="w${shade}" x="${at(hour + 0.04)}%" y="${day * ROW_PX}" width="${at(0.92)}%" height="${ROW_PX - 2}"><title>${`${name} ${clock(hour)}: ${countOf(count, 'line', 'lines')}`}</title></rect>`
    })
    return [html`<text x="0" y="${day * ROW_PX + 13}">${name.slice(0, 3)}</text>`, cells] as const
  })
  const shares = days.map(
    (counts, day) =>
      `${WEEKDAYS[day] ?? ''} ${shareText(
        counts.reduce((sum, count) => sum + count, 0),
        total,
      )}`,
  )
  return html`<div class="week"><svg class="weekdays" aria-hidden="true">${rows.map(([label]) => label)}</svg><svg class="cells" role="img" aria-label="${`Grid of lines by weekday and local hour: ${shares.join(', ')}`}">${rows.map(([, cells]) => cells)}</svg></div>`
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
