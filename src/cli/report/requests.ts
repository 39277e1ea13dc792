import { bytesText, countOf, countText, shareText } from '../figures.ts'
import type { Requests } from './activity.ts'
import { clipped, html, type Markup, twoDecimals } from './markup.ts'
import type { Ranked, Tallied } from './ranked.ts'
import { rankedTable, type TableOptions } from './rankings.ts'
import { errorChart } from './timeline.ts'
import type { Heading } from './words.ts'

/** A method of the request line: others are what attackers send. */
const MAX_METHODS = 6
const MAX_METHOD_LENGTH = 20

const CLASSES: Readonly<Record<string, string>> = {
  1: 'informational',
  2: 'answered',
  3: 'redirected or not modified',
  4: 'an error of the client',
  5: 'an error of the server',
}

/** The cards of the requests and of the programs that sent them. Empty for logs without requests. */
export function requestCards(requests: Requests | null, options: TableOptions): (Markup | null)[] {
  if (requests === null) return []
  const { statuses, pages, assets, notFound, referrers, agents } = requests
  const all = statuses.reduce((sum, { count }) => sum + count, 0)
  const linesIn = (table: Ranked | null): number =>
    table === null ? 0 : table.rows.reduce((sum, { count }) => sum + count, table.otherLines)
  return [
    all === 0 ? null : statusCard(requests, all, options.heading),
    rankedTable('pages', ['page', 'pages'], pages, linesIn(pages), options),
    rankedTable('assets', ['file', 'files'], assets, linesIn(assets), options),
    rankedTable('notFound', ['path', 'paths'], notFound, linesIn(notFound), options),
    rankedTable('referrers', ['site', 'sites'], referrers, linesIn(referrers), options),
    ...(agents === null
      ? []
      : [
          rankedTable('browsers', ['browser', 'browsers'], agents.browsers, agents.people, options),
          rankedTable('operatingSystems', ['system', 'systems'], agents.systems, agents.people, options),
          rankedTable(
            'crawlers',
            ['crawler', 'crawlers'],
            agents.crawlers,
            linesIn(agents.crawlers),
            options,
          ),
        ]),
  ]
}

function statusCard({ statuses, methods, bytes, errors }: Requests, all: number, heading: Heading): Markup {
  const classes = new Map<string, number>()
  for (const { name, count } of statuses) {
    const kind = /^[1-5]\d\d$/.test(name) ? name.slice(0, 1) : ''
    classes.set(kind, (classes.get(kind) ?? 0) + count)
  }
  const sorted = [...classes].sort(([a], [b]) => (a < b ? -1 : 1))
  let from = 0
  const parts = sorted.map(([kind, count]) => {
    const width = (100 * count) / all
    const part = html`<rect class="s${kind === '' ? 'others' : kind}" x="${twoDecimals(from)}%" width="${twoDecimals(width)}%" height="100%"/>`
    from += width
    return part
  })
  const codesOf = (kind: string): string =>
    statuses
      .filter(({ name }) => name.startsWith(kind))
      .slice(0, 4)
      .map(({ name, count }) => `${name}: ${countText(count)}`)
      .join(', ')
  const rows = sorted.map(
    ([kind, count]) => html`
<tr><th scope="row"><span class="name"><i class="key s${kind === '' ? 'others' : kind}"></i>${kind === '' ? 'No status' : `${kind}xx`} <span class="within">${CLASSES[kind] ?? ''}</span></span>${
      kind === '' ? null : html`<span class="within codes">${codesOf(kind)}</span>`
    }</th><td>${countText(count)}</td><td>${shareText(count, all)}</td></tr>`,
  )
  return html`<section class="card"><header class="head">${heading('requests')}<p class="aside">${countText(all)}</p></header>
<svg class="stack" aria-hidden="true">${parts}</svg>
<table class="ranking outcome"><thead><tr><th scope="col"><span class="unseen">Status</span><th scope="col">Requests<th scope="col">Share</thead><tbody>${rows}</tbody></table>
${errorChart(errors)}
<p class="note">${methodsText(methods)}${bytes === null ? null : html` ${bytesText(bytes)} were sent.`}</p></section>`
}

function methodsText(methods: readonly Tallied[]): Markup {
  const shown = methods.slice(0, MAX_METHODS)
  const others = methods.slice(MAX_METHODS)
  if (shown.length === 0) return html``
  const texts = shown.map(
    ({ name, count }) => html`<bdi>${clipped(name, MAX_METHOD_LENGTH)}</bdi> ${countText(count)}`,
  )
  const list = texts.map((text, index) => (index === 0 ? text : html`, ${text}`))
  const rest = others.reduce((sum, { count }) => sum + count, 0)
  return html`Methods: ${list}${rest === 0 ? null : `, and ${countOf(rest, 'line', 'lines')} with ${countOf(others.length, 'other', 'others')}`}.`
}
