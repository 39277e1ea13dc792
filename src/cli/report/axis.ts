import { shortCountText } from '../figures.ts'
import { html, type Markup, twoDecimals } from './markup.ts'

/** Width of a digit, and of the gap after a label. All other widths are percentages. */
const DIGIT_PX = 7
const GAP_PX = 8

/** A chart of bars above names, with a scale of counts on its left. Without scripts or style attributes. */
export function axis(
  ticks: readonly number[],
  ceiling: number,
  bars: readonly Markup[],
  names: readonly (Markup | null)[],
  label: string,
): Markup {
  const labels = ticks.map(shortCountText)
  const gutter = Math.max(...labels.map(({ length }) => length)) * DIGIT_PX + GAP_PX
  const y = (count: number): number => twoDecimals(100 * (1 - count / ceiling))
  return html`<div class="chart"><svg class="scale" width="${gutter}" aria-hidden="true">${ticks.map(
    (tick, index) => html`<text x="${gutter - GAP_PX}" y="${y(tick)}%" dy="4">${labels[index] ?? ''}</text>`,
  )}</svg><svg class="plot" role="img" aria-label="${label}">${ticks.map(
    (tick) => html`<line x1="0" x2="100%" y1="${y(tick)}%" y2="${y(tick)}%"/>`,
  )}${bars}</svg><svg class="names" aria-hidden="true">${names}</svg></div>`
}

/**
 * The ticks of a scale, from 0 to at least `highest`. Their distance is 1, 2 or 5 times a power of ten, so that there are two
 * to five of them above zero. At least 1, because counts are whole numbers.
 */
export function niceScale(highest: number): { readonly ceiling: number; readonly ticks: readonly number[] } {
  const power = 10 ** Math.floor(Math.log10(highest / 2))
  const step = Math.max(
    1,
    [5, 2, 1].map((factor) => factor * power).find((each) => each * 2 <= highest) ?? power,
  )
  const ceiling = step * Math.ceil(highest / step)
  return {
    ceiling,
    ticks: Array.from({ length: Math.round(ceiling / step) + 1 }, (_, index) => index * step),
  }
}
