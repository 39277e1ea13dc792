import { countOf, countText, dayText, minuteText, shareText } from '../figures.ts'
import type { Bucket, Timeline } from './activity.ts'
import { axis, niceScale } from './axis.ts'
import { clipped, html, MAX_NAME_LENGTH, type Markup, twoDecimals } from './markup.ts'
import type { Heading } from './words.ts'

/** Of the chart, in units of its bars. */
const HEIGHT = 1000
/** Between two bars, whose distance is 1. More than {@link MOST_WITH_GAPS} bars have none. */
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

/** The card of lines by time, in UTC. `null` without a time, or with one bar only. */
export function timelineCard(timeline: Timeline | null, heading: Heading): Markup | null {
  if (timeline === null || timeline.buckets.length < 2) return null
  const { unit, countries, buckets } = timeline
  const sums = buckets.map(totalOf)
  const all = sums.reduce((sum, each) => sum + each, 0)
  const peak = sums.indexOf(Math.max(...sums))
  const { ceiling, ticks } = niceScale(sums[peak] ?? 1)
  const width = 100 / buckets.length
  const titles = buckets.map(
    (bucket, index) => html`
<g><title>${`${nameOf(bucket, unit)} UTC: ${countOf(sums[index] ?? 0, 'line', 'lines')}${detailsOf(bucket, countries)}`}</title><rect x="${index}" width="1" height="${HEIGHT}"/></g>`,
  )
  const bars = html`<svg class="bars" viewBox="0 0 ${buckets.length} ${HEIGHT}" width="100%" height="100%" preserveAspectRatio="none">${titles}${pathsOf(buckets, countries, ceiling)}</svg>`
  const named = namedBuckets(buckets, unit)
  const names = named.map(
    (index, place) =>
      html`<text${place % 2 === 1 ? html` class="second"` : null} x="${twoDecimals((index + 0.5) * width)}%" y="20">${shortNameOf(buckets[index], unit)}</text>`,
  )
  const busiest = buckets[peak]
  const legend = [...countries, ...(buckets.some(({ counts }) => (counts.at(-1) ?? 0) > 0) ? [null] : [])]
  return html`<section class="card timeline"><header class="head">${heading('timeline')}<p class="aside">UTC</p></header>
<p class="lead">${countOf(all, 'line', 'lines')} in ${countOf(buckets.length, ...UNITS[unit])}. The busiest ${UNITS[unit][0]} is ${busiest === undefined ? '' : nameOf(busiest, unit)}, with ${shareText(sums[peak] ?? 0, all)} of the lines.</p>
${axis(ticks, ceiling, [bars], names, `Bar chart of lines by ${unit}, UTC. The busiest ${unit} has ${countText(sums[peak] ?? 0)} lines.`)}
<ul class="legend countries">${legend.map((name, index) => html`<li><i class="key c${kindOf(index, countries)}"></i>${name === null ? 'Others and not located' : html`<bdi>${clipped(name, MAX_NAME_LENGTH)}</bdi>`}</li>`)}</ul></section>`
}

/**
 * A path for each country with its part of each bar: an element for each part would take four times the bytes. A bar has the
 * width 1, with its gap.
 */
function pathsOf(buckets: readonly Bucket[], countries: readonly string[], ceiling: number): Markup[] {
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
  return paths.map((path, kind) => html`<path class="c${kindOf(kind, countries)}" d="${path}"/>`)
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

/** The number of a colour: the last one is that of all others. */
function kindOf(index: number, countries: readonly string[]): number | string {
  return index === countries.length ? 'others' : index
}

function totalOf({ counts }: Bucket): number {
  return counts.reduce((sum, count) => sum + count, 0)
}

function detailsOf({ counts }: Bucket, countries: readonly string[]): string {
  const parts = counts.flatMap((count, index) =>
    count === 0 ? [] : [`${clipped(countries[index] ?? 'others', MAX_NAME_LENGTH)} ${countText(count)}`],
  )
  return parts.length === 0 ? '' : ` (${parts.join(', ')})`
}

function nameOf({ start }: Bucket, unit: Timeline['unit']): string {
  const date = new Date(start)
  if (unit === 'hour') return minuteText(date) ?? ''
  if (unit === 'day') return dayText(date) ?? ''
  return monthText(date)
}

/** Midnight has the name of its day. */
function shortNameOf(bucket: Bucket | undefined, unit: Timeline['unit']): string {
  const date = new Date(bucket?.start ?? 0)
  if (unit === 'month') return monthText(date)
  if (unit === 'hour' && date.getUTCHours() !== 0) return `${String(date.getUTCHours()).padStart(2, '0')}:00`
  return date.toLocaleDateString('en-GB', { day: 'numeric', month: 'short', timeZone: 'UTC' })
}

function monthText(date: Date): string {
  return date.toLocaleDateString('en-GB', { month: 'short', year: 'numeric', timeZone: 'UTC' })
}
