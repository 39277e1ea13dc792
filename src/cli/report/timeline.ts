import { countOf, countText, dateText, dayText, minuteText, shareText } from '../figures.ts'
import { axis, niceScale } from './axis.ts'
import { clipped, html, MAX_NAME_LENGTH, type Markup, twoDecimals } from './markup.ts'
import type { Bucket, DailyAddresses, Timeline } from './times.ts'
import type { Heading } from './words.ts'

/** Height of the chart, in units of its bars. */
const HEIGHT = 1000
/** Gap between two bars, whose distance is 1. More than {@link MOST_WITH_GAPS} bars have none. */
const GAP = 0.12
const MOST_WITH_GAPS = 100

/** More names would cover each other. Narrow pages show every second one. */
const MAX_NAMES = 8

/** Hours and days between two names. Names of hours are at round hours of a day. */
const STEPS: Readonly<Record<Timeline['unit'], readonly number[]>> = {
  hour: [1, 3, 6, 12, 24],
  day: [1, 2, 7, 14, 28],
  month: [1, 3, 6, 12, 24, 60],
}

const UNITS: Readonly<Record<Timeline['unit'], readonly [one: string, many: string]>> = {
  hour: ['hour', 'hours'],
  day: ['day', 'days'],
  month: ['month', 'months'],
}

/** How a chart names and paints its series. */
interface Series {
  /** The name of the counted things, such as lines. */
  readonly one: string
  readonly many: string
  /** The CSS class of each series; the last one is the class of all other lines. */
  readonly classes: readonly string[]
}

const LINES: Series = { one: 'line', many: 'lines', classes: ['c0', 'c1', 'c2', 'c3', 'c4'] }
const ERRORS: Series = { one: 'error', many: 'errors', classes: ['s4', 's5'] }
const ADDRESSES: Series = { one: 'address', many: 'addresses', classes: ['c0'] }

/** The card of lines by time, in UTC. `null` without a time, or with one bar only. */
export function timelineCard(timeline: Timeline | null, heading: Heading): Markup | null {
  if (timeline === null || timeline.buckets.length < 2) return null
  const { unit, series, buckets } = timeline
  const sums = buckets.map(totalOf)
  const all = sums.reduce((sum, each) => sum + each, 0)
  const peak = sums.indexOf(Math.max(...sums))
  const legend = [...series, ...(buckets.some(({ counts }) => (counts.at(-1) ?? 0) > 0) ? [null] : [])]
  return html`<section class="card timeline"><header class="head">${heading('timeline')}<p class="aside">UTC</p></header>
<p class="lead">${countOf(all, 'line', 'lines')} in ${countOf(buckets.length, ...UNITS[unit])}. The busiest ${UNITS[unit][0]} is ${nameOf(buckets[peak], unit)}, with ${shareText(sums[peak] ?? 0, all)} of the lines.</p>
${chart(timeline, LINES)}
<ul class="legend series">${legend.map((name, index) => html`<li><i class="key ${classOf(index, series, LINES)}"></i>${name === null ? 'Others and not located' : html`<bdi>${clipped(name, MAX_NAME_LENGTH)}</bdi>`}</li>`)}</ul></section>`
}

/** The card of distinct addresses by day. `null` without a time, or with one day only. */
export function daysCard(days: DailyAddresses | null, heading: Heading): Markup | null {
  if (days === null || days.buckets.length < 2) return null
  const sums = days.buckets.map(totalOf)
  const peak = sums.indexOf(Math.max(...sums))
  const most = countOf(sums[peak] ?? 0, 'address', 'addresses')
  return html`<section class="card days"><header class="head">${heading('days')}<p class="aside">UTC</p></header>
<p class="lead">${days.unit === 'month' ? 'Distinct addresses of a day, the mean of each month' : 'Distinct addresses of each day'}${days.isExact ? '' : ', estimated'}. The most are ${most}, ${days.unit === 'month' ? 'in' : 'on'} ${nameOf(days.buckets[peak], days.unit)}.</p>
${chart(days, ADDRESSES)}</section>`
}

/** The errors by time. `null` without one, or with one bar only. */
export function errorChart(errors: Timeline | null): Markup | null {
  if (errors === null || errors.buckets.length < 2) return null
  return html`<h3>Errors over time</h3>${chart(errors, ERRORS)}`
}

function chart(timeline: Timeline, series: Series): Markup {
  const { unit, buckets } = timeline
  const sums = buckets.map(totalOf)
  const highest = Math.max(...sums)
  const { ceiling, ticks } = niceScale(Math.max(1, highest))
  const width = 100 / buckets.length
  const titles = buckets.map(
    (bucket, index) => html`
<g><title>${`${nameOf(bucket, unit)} UTC: ${countOf(sums[index] ?? 0, series.one, series.many)}${detailsOf(bucket, timeline.series)}`}</title><rect x="${index}" width="1" height="${HEIGHT}"/></g>`,
  )
  const bars = html`<svg class="bars" viewBox="0 0 ${buckets.length} ${HEIGHT}" width="100%" height="100%" preserveAspectRatio="none">${titles}${pathsOf(timeline, series, ceiling)}</svg>`
  const names = namedBuckets(buckets, unit).map(
    (index, place) =>
      html`<text${place % 2 === 1 ? html` class="second"` : null} x="${twoDecimals((index + 0.5) * width)}%" y="20">${shortNameOf(buckets[index], unit)}</text>`,
  )
  return axis(
    ticks,
    ceiling,
    [bars],
    names,
    `Bar chart of ${series.many} by ${unit}, UTC. The highest bar has ${countText(highest)}.`,
  )
}

/**
 * A path for each series with its part of each bar: an element for each part would take four times the bytes. A bar has the
 * width 1, with its gap.
 */
function pathsOf({ buckets, series }: Timeline, names: Series, ceiling: number): Markup[] {
  const gap = buckets.length > MOST_WITH_GAPS ? 0 : GAP
  const paths: string[] = []
  for (const [index, { counts }] of buckets.entries()) {
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
  return paths.map((path, kind) => html`<path class="${classOf(kind, series, names)}" d="${path}"/>`)
}

/** The places of the bars with a name below. A name at the edge would be cut. */
function namedBuckets(buckets: readonly Bucket[], unit: Timeline['unit']): number[] {
  const edge = buckets.length > 2 * MAX_NAMES ? buckets.length / 30 : 0
  const inside = [...buckets.keys()].filter((index) => index >= edge && index < buckets.length - edge)
  const places = (step: number): number[] =>
    inside.filter((index) =>
      unit === 'hour' ? new Date(buckets[index]?.start ?? 0).getUTCHours() % step === 0 : index % step === 0,
    )
  for (const step of STEPS[unit]) if (places(step).length <= MAX_NAMES) return places(step)
  return places(Math.ceil(buckets.length / MAX_NAMES))
}

function classOf(index: number, series: readonly string[], { classes }: Series): string {
  return index === series.length ? 'cothers' : (classes[index] ?? 'cothers')
}

function totalOf({ counts }: Bucket): number {
  return counts.reduce((sum, count) => sum + count, 0)
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
  if (unit === 'hour' && date.getUTCHours() !== 0) return `${String(date.getUTCHours()).padStart(2, '0')}:00`
  return dateText(date, { day: 'numeric', month: 'short', timeZone: 'UTC' })
}

function monthText(date: Date): string {
  return dateText(date, { month: 'short', year: 'numeric', timeZone: 'UTC' })
}
