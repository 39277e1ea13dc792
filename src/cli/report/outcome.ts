import {
  type BadLineGroup,
  type Counts,
  type FailureReason,
  failuresOf,
} from '../../enrich/counting/counts.ts'
import { atLeast, bytesText, countOf, countText, daysText, minuteText, shareText } from '../figures.ts'
import type { Activity } from './activity.ts'
import { errorChart } from './charts.ts'
import { type Content, card, clipped, html, MAX_NAME_LENGTH, type Markup, twoDecimals } from './markup.ts'
import type { ReportCounts } from './places.ts'
import { linesOf, ranked, sumOf, type Tallied } from './ranked.ts'
import { namedCountries } from './rankings.ts'
import type { Requests } from './requests.ts'
import type { Heading } from './words.ts'

const REASONS: Readonly<Record<FailureReason, readonly [label: string, meaning: string]>> = {
  missing: ['No address', 'the field is missing or empty'],
  malformed: ['Not an address', 'the text is not an IP address'],
  'not-found': ['Not in the database', 'a public address without a known location'],
  'invalid-database': ['Database damaged', 'the record of this address cannot be read'],
  private: ['Private network', 'such as 10.0.0.0/8, 192.168.0.0/16, fc00::/7'],
  shared: ['Carrier’s shared space', '100.64.0.0/10, behind a carrier’s NAT'],
  loopback: ['Loopback', 'the machine itself: 127.0.0.0/8, ::1'],
  'link-local': ['Link-local', '169.254.0.0/16, fe80::/10'],
  multicast: ['Multicast', '224.0.0.0/4, ff00::/8'],
  documentation: ['Documentation', 'reserved for examples, such as 192.0.2.0/24'],
  benchmarking: ['Benchmarking', 'reserved for network tests'],
  reserved: ['Reserved', 'not in use on the internet'],
  unspecified: ['Unspecified', '0.0.0.0/8 or ::'],
  unidentified: ['Withheld', 'a proxy did not give the address'],
  'trusted-proxy': ['Only proxies', 'every address is a trusted proxy'],
}

const DAY_MS = 86_400_000

/** Limit for the message about an unreadable line, in characters. */
const MAX_MESSAGE_LENGTH = 300

/** The result in one or two sentences. */
export function lead(counts: ReportCounts): Markup {
  const readable = counts.lines - counts.blank
  const failure = mainFailure(counts)
  if (counts.lines === 0) return html`The input had no lines.`
  if (counts.resolved === 0) {
    return readable === 0
      ? html`All lines are blank: ${countOf(counts.lines, 'line', 'lines')}.`
      : html`None of the ${countOf(readable, 'line', 'lines')} could be located.${failure === null ? null : html` Of <b>${shareText(failure.count, readable)}</b> the reason is: ${failure.label} (${failure.meaning ?? ''}).`}`
  }
  const countries = namedCountries(counts)
  const [first] = ranked(countries)
  const share = html`${failure === null ? null : html`<b>${shareText(failure.count, readable)}</b> of the lines have no location: ${failure.label} (${failure.meaning ?? ''}). `}<b>${shareText(counts.resolved, readable)}</b> of ${countOf(readable, 'line', 'lines')} could be located`
  if (first === undefined) return html`${share}.`
  const name = html`<bdi>${clipped(first.name, MAX_NAME_LENGTH)}</bdi>`
  if (first.count === counts.resolved) return html`${share}, all in one country: <b>${name}</b>.`
  return html`${share}, in <b>${atLeast(countOf(countries.length, 'country', 'countries'), counts.unlisted)}</b>. The most frequent is <b>${name}</b>, with ${shareText(first.count, counts.resolved)} of the located lines.`
}

/** Why most lines have no location; `null` if most have one. */
export function mainFailure(counts: Counts): Part | null {
  const [first] = outcomesOf(counts).filter(({ kind }) => kind !== 'located')
  return first !== undefined && first.count > (counts.lines - counts.blank) / 2 ? first : null
}

/** The row of key figures. */
export function totals(
  counts: ReportCounts,
  { addresses, requests }: Activity,
  bytes: number | null,
): Markup {
  const countries = namedCountries(counts).length
  const details = [
    atLeast(countOf(counts.regions.size, 'region', 'regions'), counts.unlisted),
    atLeast(countOf(counts.cities.size, 'city', 'cities'), counts.unlisted),
  ].join(', ')
  return html`<dl class="totals">
${tile('Lines', countText(counts.lines), bytes === null ? null : bytesText(bytes))}
${tile('Located', shareText(counts.resolved, counts.lines - counts.blank), countOf(counts.resolved, 'line', 'lines'))}
${tile('Addresses', atLeast(countText(addresses.total), addresses.isExact ? 0 : 1), 'distinct: lines are not visitors')}
${tile('Not located', countText(sumOf(failuresOf(counts).map(([, count]) => count))), counts.bad === 0 ? 'and none unreadable' : `and ${countText(counts.bad)} unreadable`)}
${tile('Countries', atLeast(countText(countries), counts.unlisted), details)}
${timeTile(counts)}
${errorTile(requests)}
</dl>`
}

/** `null` for a log without statuses. */
function errorTile(requests: Requests | null): Markup | null {
  const statuses = requests?.statuses.filter(({ name }) => name.length === 3) ?? []
  const all = linesOf(statuses)
  if (requests === null || all === 0) return null
  const [ofClients = 0, ofServer = 0] = ['4', '5'].map((kind) =>
    linesOf(statuses.filter(({ name }) => name.startsWith(kind))),
  )
  const sent = requests.bytes === null ? '' : `; ${bytesText(requests.bytes)} sent`
  return tile(
    'Errors',
    shareText(ofClients + ofServer, all),
    `${countText(ofClients)} with 4xx, ${countText(ofServer)} with 5xx${sent}`,
  )
}

function tile(label: string, value: Content, detail: Content): Markup {
  return html`<div class="tile"><dt>${label}</dt><dd><span class="value">${value}</span>${
    detail === null ? null : html`<span class="detail">${detail}</span>`
  }</dd></div>`
}

function timeTile({ span, clock }: ReportCounts): Markup {
  if (span === null) return tile('Time', '–', 'no times in located lines')
  const [first, last] = [new Date(span[0]), new Date(span[1])]
  return tile(
    'Time',
    lengthText(...span),
    html`<span title="${`${minuteText(first) ?? ''} to ${minuteText(last) ?? ''} ${clock}`}">${daysText(first, last)}, ${clock}</span>`,
  )
}

/** `3 days`, `5 hours`, `under a minute`. Whole days are counted as dates, as a reader of the dates counts them. */
function lengthText(first: number, last: number): string {
  const minutes = (last - first) / 60_000
  if (minutes < 1) return 'under a minute'
  if (minutes < 90) return countOf(Math.round(minutes), 'minute', 'minutes')
  if (minutes < 36 * 60) return countOf(Math.round(minutes / 60), 'hour', 'hours')
  return countOf(Math.floor(last / DAY_MS) - Math.floor(first / DAY_MS) + 1, 'day', 'days')
}

/** Lines with the same outcome, or requests with a class of statuses. */
interface Part {
  /** Its CSS class. */
  readonly kind: string
  readonly label: string
  readonly meaning: string | null
  readonly count: number
  readonly more?: Markup
}

function outcomesOf(counts: Counts): Part[] {
  const failed = failuresOf(counts).map(([reason, count]) => {
    const [name, meaning] = REASONS[reason]
    return { name, meaning, count }
  })
  const all: Part[] = [
    { kind: 'located', label: 'Located', meaning: null, count: counts.resolved },
    ...ranked(failed).map(({ name: label, ...rest }) => ({ kind: 'failed', label, ...rest })),
    { kind: 'bad', label: 'Unreadable', meaning: 'not a line of this format', count: counts.bad },
  ]
  return all.filter(({ count }) => count > 0)
}

/** The card that says how many lines were located, and why the others were not. Shares exclude blank lines. `null` if all were. */
export function outcome(counts: ReportCounts, heading: Heading): Markup | null {
  const all = counts.lines - counts.blank
  if (counts.resolved === all) return null
  const body = html`
${breakdown(outcomesOf(counts), all, ['Outcome', 'Lines'])}${
  counts.bad === 0 ? null : badLineList(counts.badLineGroups ?? [], counts.bad)
}${
  counts.blank === 0
    ? null
    : html`<p class="note">${countOf(counts.blank, 'blank line is', 'blank lines are')} not counted here.</p>`
}`
  return card(heading('outcome'), null, body)
}

/** A bar of the shares by kind, and a table. The bar is hidden from screen readers, because the table has the same numbers. */
function breakdown(parts: readonly Part[], all: number, [what, many]: readonly [string, string]): Markup {
  const kinds = new Map<string, number>()
  for (const { kind, count } of parts) kinds.set(kind, (kinds.get(kind) ?? 0) + count)
  let from = 0
  const bar = Array.from(kinds, ([kind, count]) => {
    const width = (count / all) * 100
    const part = html`<rect class="${kind}" x="${twoDecimals(from)}%" width="${twoDecimals(width)}%" height="100%"/>`
    from += width
    return part
  })
  const rows = parts.map(
    ({ kind, label, meaning, count, more = null }) => html`
<tr><th scope="row"><span class="name"><i class="key ${kind}"></i>${label}${
      meaning === null ? null : html` <span class="within">${meaning}</span>`
    }</span>${more}</th><td>${countText(count)}</td><td>${shareText(count, all)}</td></tr>`,
  )
  return html`<svg class="stack" aria-hidden="true">${bar}</svg>
<table class="ranking outcome"><thead><tr><th scope="col"><span class="unseen">${what}</span><th scope="col">${many}<th scope="col">Share</thead><tbody>${rows}</tbody></table>`
}

/** The largest groups first. Beyond the groups that a run keeps, a group can have more lines than were counted. */
function badLineList(groups: readonly BadLineGroup[], all: number): Markup | null {
  if (groups.length === 0) return null
  const known = linesOf(groups)
  const items = [...groups]
    .sort((a, b) => b.count - a.count || a.line - b.line)
    .map(
      ({ line, message, text, count }) => html`
<li><span class="line">${count === 1 ? `Line ${countText(line)}` : `${known < all ? 'At least ' : ''}${countText(count)} lines, the first is ${countText(line)}`}</span> <bdi>${clipped(message, MAX_MESSAGE_LENGTH)}</bdi>${
        text === null ? null : html`<br><code dir="auto">${clipped(text, MAX_MESSAGE_LENGTH)}</code>`
      }</li>`,
    )
  return html`<h3>${known < all ? 'The first unreadable lines' : 'Unreadable lines'}</h3><ul class="faults">${items}</ul>`
}

/** The most methods that are listed, and the longest name of one. Attackers send many more. */
const MAX_METHODS = 6
const MAX_METHOD_LENGTH = 20
/** The most frequent statuses of a class that are listed. */
const MAX_CODES = 4

const CLASSES: Readonly<Record<string, string>> = {
  1: 'informational',
  2: 'answered',
  3: 'redirected or not modified',
  4: 'an error of the client',
  5: 'an error of the server',
}

/** The card of statuses and methods. `null` without a status. */
export function statusCard(requests: Requests | null, heading: Heading): Markup | null {
  if (requests === null) return null
  const { statuses, methods, bytes, errors } = requests
  const all = linesOf(statuses)
  if (all === 0) return null
  const classes = new Map<string, Tallied[]>()
  for (const status of statuses) {
    const kind = /^[1-5]\d\d$/.test(status.name) ? status.name.slice(0, 1) : ''
    classes.set(kind, [...(classes.get(kind) ?? []), status])
  }
  const parts = [...classes]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([kind, of]): Part => {
      const codes = of.slice(0, MAX_CODES).map(({ name, count }) => `${name}: ${countText(count)}`)
      return {
        kind: `s${kind || 'others'}`,
        label: kind === '' ? 'No status' : `${kind}xx`,
        meaning: CLASSES[kind] ?? '',
        count: linesOf(of),
        ...(kind !== '' && { more: html`<span class="within codes">${codes.join(', ')}</span>` }),
      }
    })
  const body = html`
${breakdown(parts, all, ['Status', 'Requests'])}
${errorChart(errors)}
<p class="note">${methodsText(methods)}${bytes === null ? null : html` ${bytesText(bytes)} were sent.`}</p>`
  return card(heading('requests'), countText(all), body)
}

function methodsText(methods: readonly Tallied[]): Markup | null {
  const others = methods.slice(MAX_METHODS)
  if (methods.length === 0) return null
  const list = methods
    .slice(0, MAX_METHODS)
    .map(
      ({ name, count }, index) =>
        html`${index === 0 ? '' : ', '}<bdi>${clipped(name, MAX_METHOD_LENGTH)}</bdi> ${countText(count)}`,
    )
  const rest = linesOf(others)
  return html`Methods: ${list}${rest === 0 ? null : `, and ${countOf(rest, 'line', 'lines')} with ${countOf(others.length, 'other', 'others')}`}.`
}
