// The cards of lines by time: over the whole time, addresses by day, and lines by local hour of the day and of the week.
import { WEEKDAYS } from '../../enrich/counting/sorting.ts'
import { countOf, countText, dateText, dayText, minuteText, shareText, shortCountText } from '../figures.ts'
import { card, clipped, html, MAX_NAME_LENGTH, type Markup, twoDecimals } from './markup.ts'
import type { ReportCounts } from './places.ts'
import { sumOf } from './ranked.ts'
import { type Bucket, type DailyAddresses, dayHours, type Timeline } from './times.ts'
import type { Heading } from './words.ts'

/** Width of a digit, and of the gap after a label. All other widths are percentages. */
const DIGIT_PX = 7
const GAP_PX = 8

/**
 * A chart of bars above names, with a scale of counts on its left. Without scripts or style attributes.
 *
 * The distance of the ticks is 1, 2 or 5 times a power of ten, so that there are two to five of them above zero. It is at least 1,
 * because counts are whole numbers.
 *
 * @param bars the parts of each bar, from the bottom
 * @param titles what each bar shows
 * @param classOf the CSS class of a part
 */
function barChart(
  bars: readonly (readonly number[])[],
  titles: readonly string[],
  classOf: (part: number) => string,
  names: readonly Markup[],
  label: string,
): Markup {
  const highest = Math.max(1, ...bars.map(sumOf))
  const power = 10 ** Math.floor(Math.log10(highest / 2))
  const nice = [5, 2, 1].map((factor) => factor * power).find((each) => each * 2 <= highest)
  const step = Math.max(1, nice ?? power)
  const steps = Math.ceil(highest / step)
  const ticks = Array.from({ length: steps + 1 }, (_, index) => {
    return { label: shortCountText(index * step), y: twoDecimals(100 * (1 - index / steps)) }
  })
  const gutter = Math.max(...ticks.map((tick) => tick.label.length)) * DIGIT_PX + GAP_PX
  // The full-height rectangle makes the title appear also above a low bar.
  const areas = titles.map(
    (title, index) => html`
<g><title>${title}</title><rect x="${index}" width="1" height="${HEIGHT}"/></g>`,
  )
  const paths = pathsOf(bars, step * steps).map(
    (path, part) => html`<path class="${classOf(part)}" d="${path}"/>`,
  )
  return html`<div class="chart"><svg class="scale" width="${gutter}" aria-hidden="true">${ticks.map(
    (tick) => html`<text x="${gutter - GAP_PX}" y="${tick.y}%" dy="4">${tick.label}</text>`,
  )}</svg><svg class="plot" role="img" aria-label="${label}">${ticks.map(
    ({ y }) => html`<line x1="0" x2="100%" y1="${y}%" y2="${y}%"/>`,
  )}<svg class="bars" viewBox="0 0 ${bars.length} ${HEIGHT}" width="100%" height="100%" preserveAspectRatio="none">${areas}${paths}</svg></svg><svg class="names" aria-hidden="true">${names}</svg></div>`
}

/** Height of the chart, in units of its bars. */
const HEIGHT = 1000
/** Gap between two bars, whose distance is 1. More than {@link MOST_WITH_GAPS} bars have none. */
const GAP = 0.12
const MOST_WITH_GAPS = 100

/** More names would cover each other. Narrow pages show every second one. */
const MAX_NAMES = 8

/** Hours, days and months between two names. Names of hours are at round hours of a day. */
const STEPS: Readonly<Record<Timeline['unit'], readonly number[]>> = {
  hour: [1, 3, 6, 12, 24],
  day: [1, 2, 7, 14, 28],
  month: [1, 3, 6, 12, 24, 60],
}

/** How a chart names and paints its series. */
interface Series {
  /** The name of the counted things, such as lines. */
  readonly one: string
  readonly many: string
  /** The CSS class of each series. Those without one are other lines. */
  readonly classes: readonly string[]
}

const LINES: Series = { one: 'line', many: 'lines', classes: ['c0', 'c1', 'c2', 'c3', 'c4'] }
const ERRORS: Series = { one: 'error', many: 'errors', classes: ['s4', 's5'] }
const ADDRESSES: Series = { one: 'address', many: 'addresses', classes: ['c0'] }

/** The card of lines by time. `null` without a time, or with one bar only. */
export function timelineCard(timeline: Timeline | null, heading: Heading): Markup | null {
  if (timeline === null || timeline.buckets.length < 2) return null
  const { unit, clock, omitted, series, buckets } = timeline
  const all = sumOf(buckets.map(({ counts }) => sumOf(counts)))
  const { name, count } = peakOf(timeline)
  const note =
    omitted > 0
      ? html`<p class="note">Left out: ${countOf(omitted, 'line whose time has', 'lines whose times have')} ${clock === 'UTC' ? 'no' : 'an'} offset from UTC.</p>`
      : null
  const legend = [...series, ...(buckets.some(({ counts }) => (counts.at(-1) ?? 0) > 0) ? [null] : [])]
  const body = html`
<p class="lead">${countOf(all, 'line', 'lines')} in ${countOf(buckets.length, unit, `${unit}s`)}. The busiest ${unit} is ${name}, with ${shareText(count, all)} of the lines.</p>
${chart(timeline, LINES)}
<ul class="legend series">${legend.map((each, index) => html`<li><i class="key ${classOf(index, series, LINES)}"></i>${each === null ? 'Others and not located' : html`<bdi>${clipped(each, MAX_NAME_LENGTH)}</bdi>`}</li>`)}</ul>${note}`
  return card(heading('timeline'), clock, body, 'timeline')
}

/** The card of distinct addresses by day. `null` without a time, or with one day only. */
export function daysCard(days: DailyAddresses | null, heading: Heading): Markup | null {
  if (days === null || days.buckets.length < 2) return null
  const { name, count } = peakOf(days)
  const [each, on] =
    days.unit === 'month' ? ['of a day, the mean of each month', 'in'] : ['of each day', 'on']
  const body = html`
<p class="lead">Distinct addresses ${each}${days.isExact ? '' : ', estimated'}. The most are ${countOf(count, 'address', 'addresses')}, ${on} ${name}.</p>
${chart(days, ADDRESSES)}`
  return card(heading('days'), days.clock, body, 'days')
}

/** The errors by time. `null` without one, or with one bar only. */
export function errorChart(errors: Timeline | null): Markup | null {
  if (errors === null || errors.buckets.length < 2) return null
  return html`<h3>Errors over time</h3>${chart(errors, ERRORS)}`
}

/** The first of the highest bars. */
function peakOf({ buckets, unit }: Timeline): { readonly name: string; readonly count: number } {
  const sums = buckets.map(({ counts }) => sumOf(counts))
  const count = Math.max(...sums)
  return { name: nameOf(buckets[sums.indexOf(count)], unit), count }
}

function chart(timeline: Timeline, series: Series): Markup {
  const { unit, clock, buckets } = timeline
  const width = 100 / buckets.length
  const titles = buckets.map(
    (bucket) =>
      `${nameOf(bucket, unit)} ${clock}: ${countOf(sumOf(bucket.counts), series.one, series.many)}${detailsOf(bucket, timeline.series)}`,
  )
  const names = namedBuckets(buckets, unit).map(
    (index, place) =>
      html`<text${place % 2 === 1 ? html` class="second"` : null} x="${twoDecimals((index + 0.5) * width)}%" y="20">${shortNameOf(buckets[index], unit)}</text>`,
  )
  return barChart(
    buckets.map(({ counts }) => counts),
    titles,
    (part) => classOf(part, timeline.series, series),
    names,
    `Bar chart of ${series.many} by ${unit}, ${clock}. The highest bar has ${countText(peakOf(timeline).count)}.`,
  )
}

/** A path for each kind of parts: an element for each part would take four times the bytes. A bar has the width 1, with its gap. */
function pathsOf(bars: readonly (readonly number[])[], ceiling: number): string[] {
  const gap = bars.length > MOST_WITH_GAPS ? 0 : GAP
  const paths: string[] = []
  for (const [index, counts] of bars.entries()) {
    let sum = 0
    let top = HEIGHT
    for (const [kind, count] of counts.entries()) {
      sum += count
      const bottom = top
      top = Math.round(HEIGHT * (1 - sum / ceiling))
      if (top === bottom) continue
      const bar = `M${twoDecimals(index + gap / 2)} ${top}h${1 - gap}v${bottom - top}h-${1 - gap}z`
      paths[kind] = (paths[kind] ?? '') + bar
    }
  }
  return paths
}

/** The places of the bars with a name below. A name at the edge would be cut. */
function namedBuckets(buckets: readonly Bucket[], unit: Timeline['unit']): number[] {
  const edge = buckets.length > 2 * MAX_NAMES ? buckets.length / 30 : 0
  const inside = [...buckets.keys()].filter((index) => index >= edge && index < buckets.length - edge)
  const places = (step: number): number[] =>
    inside.filter((index) =>
      unit === 'hour' ? new Date(buckets[index]?.start ?? 0).getUTCHours() % step === 0 : index % step === 0,
    )
  const step = STEPS[unit].find((each) => places(each).length <= MAX_NAMES)
  return places(step ?? Math.ceil(buckets.length / MAX_NAMES))
}

function classOf(index: number, series: readonly string[], { classes }: Series): string {
  return (index < series.length ? classes[index] : undefined) ?? 'cothers'
}

function detailsOf({ counts }: Bucket, series: readonly string[]): string {
  if (series.length < 2) return ''
  const parts = counts.flatMap((count, index) =>
    count === 0 ? [] : [`${clipped(series[index] ?? 'others', MAX_NAME_LENGTH)} ${countText(count)}`],
  )
  return parts.length === 0 ? '' : ` (${parts.join(', ')})`
}

function nameOf(bucket: Bucket | undefined, unit: Timeline['unit']): string {
  const date = new Date(bucket?.start ?? 0)
  if (unit === 'hour') return minuteText(date) ?? ''
  if (unit === 'day') return dayText(date) ?? ''
  return monthText(date)
}

/** Midnight has the name of its day. */
function shortNameOf(bucket: Bucket | undefined, unit: Timeline['unit']): string {
  const date = new Date(bucket?.start ?? 0)
  if (unit === 'month') return monthText(date)
  if (unit === 'hour' && date.getUTCHours() !== 0) return hourText(date.getUTCHours())
  return dateText(date, { day: 'numeric', month: 'short', timeZone: 'UTC' })
}

function monthText(date: Date): string {
  return dateText(date, { month: 'short', year: 'numeric', timeZone: 'UTC' })
}

/** The card of lines by local hour, of the day and of the week. */
export function hoursCard(counts: ReportCounts, heading: Heading): Markup {
  const { weekHours, span, localTimes, resolved } = counts
  const hours = dayHours(weekHours)
  const total = sumOf(hours)
  const of = (body: Markup): Markup => card(heading('hours'), null, body, 'hours')
  if (span === null && localTimes === 0) {
    return of(
      html`<p class="empty">No line has a readable time. For NDJSON, CSV and TSV, name the field of the time with <code>--time-field</code>. Access logs contain the time.</p>`,
    )
  }
  if (total === 0) {
    return of(
      localTimes === 0
        ? html`<p class="empty">The lines have times, but the database has no time zones for their locations.</p>`
        : html`<p class="empty">The times of located lines have no offset from UTC, or the database has no time zones for their locations. So the local hours are unknown.</p>`,
    )
  }
  const most = Math.max(...hours)
  const note =
    total < resolved
      ? html`<p class="note">${countText(total)} of ${countOf(resolved, 'located line', 'located lines')}. The others have no time${localTimes === 0 ? '' : ' with an offset from UTC'}, or the time zone of their location is unknown.</p>`
      : null
  return of(html`
<p class="lead">Each event by the local time of its location: 09:00 is nine in the morning both in Tokyo and in Paris. The busiest hour starts at ${hourText(hours.indexOf(most))}, with ${shareText(most, total)}.</p>
${hoursChart(hours, total)}${weekGrid(weekHours)}${note}`)
}

function hoursChart(hours: readonly number[], total: number): Markup {
  const titles = hours.map(
    (count, hour) =>
      `${hourText(hour)}–${hourText(hour + 1)}: ${countOf(count, 'line', 'lines')}, ${shareText(count, total)}`,
  )
  const names = hours.map((_, hour) => {
    const kind = hour % 6 === 0 ? 'sixth' : hour % 3 === 0 ? 'third' : 'each'
    return html`<text class="${kind}" x="${at(hour + 0.5)}%" y="20">${hourText(hour).slice(0, 2)}</text>`
  })
  const summary = hours.map((count, hour) => `${hourText(hour)} ${shareText(count, total)}`).join(', ')
  const bars = hours.map((count) => [count])
  return barChart(bars, titles, () => 'c0', names, `Bar chart of lines by local hour: ${summary}`)
}

/** Height of a row of the grid. */
const ROW_PX = 18
/** Shades of a cell. A cell without lines has none of them. */
const SHADES = 5

/** A row for each day of the week. `null` if all lines are of one day. */
function weekGrid(hours: readonly number[]): Markup | null {
  const days = WEEKDAYS.map((name, day) => {
    const counts = hours.slice(24 * day, 24 * (day + 1))
    return { name, counts, all: sumOf(counts) }
  })
  if (days.filter(({ all }) => all > 0).length < 2) return null
  const highest = Math.max(...hours)
  const cells = days.map(({ name, counts }, day) =>
    counts.map((count, hour) => {
      const shade = count === 0 ? 0 : Math.ceil((SHADES * count) / highest)
      return html`<rect class="w${shade}" x="${at(hour + 0.04)}%" y="${day * ROW_PX}" width="${at(0.92)}%" height="${ROW_PX - 2}"><title>${`${name} ${hourText(hour)}: ${countOf(count, 'line', 'lines')}`}</title></rect>`
    }),
  )
  const labels = days.map(
    ({ name }, day) => html`<text x="0" y="${day * ROW_PX + 13}">${name.slice(0, 3)}</text>`,
  )
  const shares = days.map(({ name, all }) => `${name} ${shareText(all, sumOf(hours))}`)
  return html`<div class="week"><svg class="weekdays" aria-hidden="true">${labels}</svg><svg class="cells" role="img" aria-label="${`Grid of lines by weekday and local hour: ${shares.join(', ')}`}">${cells}</svg></div>`
}

/** Position from the left, in percent. */
function at(hour: number): number {
  return twoDecimals((hour / 24) * 100)
}

function hourText(hour: number): string {
  return `${String(hour).padStart(2, '0')}:00`
}
