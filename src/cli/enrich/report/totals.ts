import { failuresOf, type Tally } from '../../../enrich/tally.ts'
import { clipped, NAME_LENGTH } from './clipped.ts'
import type { ReportFacts } from './facts.ts'
import {
  atLeast,
  bytesText,
  countOf,
  countText,
  daysText,
  durationText,
  minuteText,
  shareText,
  shortCountText,
  spanText,
} from './figures.ts'
import { type Content, html, type Markup } from './markup.ts'
import { namedCountries, ranked } from './ranking.ts'

/** The report in two sentences. */
export function lead(tally: Tally): Markup {
  const readable = tally.lines - tally.blank
  if (tally.lines === 0) return html`The input had no lines.`
  if (tally.resolved === 0) {
    return readable === 0
      ? html`All lines are blank: ${countOf(tally.lines, 'line', 'lines')}.`
      : html`None of the ${countOf(readable, 'line', 'lines')} could be located.`
  }
  const countries = namedCountries(tally)
  const [first] = ranked(countries)
  const share = html`<b>${shareText(tally.resolved, readable)}</b> of ${countOf(readable, 'line', 'lines')} could be located`
  if (first === undefined) return html`${share}.`
  const name = html`<bdi>${clipped(first.name, NAME_LENGTH)}</bdi>`
  if (first.count === tally.resolved) return html`${share}, all in one country: <b>${name}</b>.`
  return html`${share}, in <b>${atLeast(countOf(countries.length, 'country', 'countries'), tally.unlisted.countries)}</b>. The most come from <b>${name}</b>: ${shareText(first.count, tally.resolved)} of the located lines.`
}

/** The numbers that are read first. */
export function totals(tally: Tally, facts: ReportFacts): Markup {
  const failed = failuresOf(tally).reduce((sum, [, count]) => sum + count, 0)
  const countries = namedCountries(tally).length
  const details = [
    atLeast(countOf(tally.regions.size, 'region', 'regions'), tally.unlisted.regions),
    atLeast(countOf(tally.cities.size, 'city', 'cities'), tally.unlisted.cities),
  ].join(', ')
  return html`<dl class="totals">
${tile('Lines', countText(tally.lines), facts.bytes === null ? null : bytesText(facts.bytes))}
${tile('Located', shareText(tally.resolved, tally.lines - tally.blank), countOf(tally.resolved, 'line', 'lines'))}
${tile('Not located', countText(failed), tally.bad === 0 ? 'and none unreadable' : `and ${countText(tally.bad)} unreadable`)}
${tile('Countries', atLeast(countText(countries), tally.unlisted.countries), details)}
${timeTile(tally)}
${tile('Speed', tally.lines > 0 && facts.seconds > 0 ? `${shortCountText(tally.lines / facts.seconds)}/s` : '–', `lines; ${durationText(facts.seconds)} on ${countOf(facts.threads, 'thread', 'threads')}`)}
</dl>`
}

function tile(label: string, value: Content, detail: Content): Markup {
  return html`<div class="tile"><dt>${label}</dt><dd><span class="value">${value}</span>${
    detail === null ? null : html`<span class="detail">${detail}</span>`
  }</dd></div>`
}

function timeTile({ firstInstant, lastInstant }: Tally): Markup {
  if (firstInstant === null || lastInstant === null) return tile('Time', '–', 'no times in the lines')
  const [first, last] = [new Date(firstInstant), new Date(lastInstant)]
  const days = daysText(first, last)
  if (days === null) return tile('Time', '–', 'times beyond the calendar')
  return tile(
    'Time',
    spanText(lastInstant - firstInstant),
    html`<span title="${`${minuteText(first) ?? ''} to ${minuteText(last) ?? ''} UTC`}">${days}, UTC</span>`,
  )
}
