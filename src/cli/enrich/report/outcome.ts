import { type BadLine, type FailureReason, failuresOf, type Tally } from '../../../enrich/tally.ts'
import { clipped } from './clipped.ts'
import { countOf, countText, shareText } from './figures.ts'
import { html, type Markup } from './markup.ts'

/** Every reason in words. */
const REASONS: Readonly<Record<FailureReason, readonly [label: string, meaning: string]>> = {
  missing: ['No address', 'the line has none where it should be'],
  malformed: ['Not an address', 'what stands there is not an IP address'],
  'not-found': ['Not in the database', 'a public address without a known place'],
  'invalid-database': ['Database damaged', 'the record of this address cannot be read'],
  private: ['Private network', 'such as 10.0.0.0/8, 192.168.0.0/16, fc00::/7'],
  shared: ['Carrier’s shared space', '100.64.0.0/10, behind a carrier’s NAT'],
  loopback: ['Loopback', 'the machine itself: 127.0.0.0/8, ::1'],
  'link-local': ['Link-local', '169.254.0.0/16, fe80::/10'],
  multicast: ['Multicast', '224.0.0.0/4, ff00::/8'],
  documentation: ['Documentation', 'reserved for examples, such as 192.0.2.0/24'],
  benchmarking: ['Benchmarking', 'reserved for tests of networks'],
  reserved: ['Reserved', 'not in use on the internet'],
  unspecified: ['Unspecified', '0.0.0.0/8 or ::'],
  unidentified: ['Withheld', 'a proxy names no address'],
  'trusted-proxy': ['Only proxies', 'no address but those of trusted proxies'],
}

/** Characters of what is said of an unreadable line. */
const MESSAGE_LENGTH = 300

/** One part of all lines. */
interface Part {
  /** Also the class that colours it. */
  readonly kind: 'located' | 'failed' | 'bad'
  readonly label: string
  readonly meaning: string | null
  readonly count: number
}

function partsOf(tally: Tally): Part[] {
  const failed = failuresOf(tally)
    .map(([reason, count]): Part => {
      const [label, meaning] = REASONS[reason]
      return { kind: 'failed', label, meaning, count }
    })
    .sort((a, b) => b.count - a.count || (a.label < b.label ? -1 : 1))
  const all: Part[] = [
    { kind: 'located', label: 'Located', meaning: null, count: tally.resolved },
    ...failed,
    { kind: 'bad', label: 'Unreadable', meaning: 'not a line of this format', count: tally.bad },
  ]
  return all.filter(({ count }) => count > 0)
}

/** What became of the lines, with the reasons. Blank ones are no part of the whole. */
export function outcome(tally: Tally): Markup {
  const all = tally.lines - tally.blank
  const rows = partsOf(tally).map(
    ({ kind, label, meaning, count }) => html`
<tr><th scope="row"><span class="name"><i class="key ${kind}"></i>${label}${
      meaning === null ? null : html` <span class="within">${meaning}</span>`
    }</span></th><td>${countText(count)}</td><td class="share">${shareText(count, all)}</td></tr>`,
  )
  return html`<section class="card"><header class="head"><h2>What became of the lines</h2></header>
${stack(tally)}
<table class="ranking outcome"><thead class="unseen"><tr><th scope="col">Outcome</th><th scope="col">Lines</th><th scope="col">Share</th></tr></thead><tbody>${rows}</tbody></table>${
    tally.badLines.length === 0 ? null : badLines(tally.badLines, tally.bad)
  }${
    tally.blank === 0
      ? null
      : html`<p class="note">${countOf(tally.blank, 'blank line is', 'blank lines are')} not counted here.</p>`
  }</section>`
}

/** One bar of all lines, told apart by colour; the table beside it has the same in numbers. */
function stack(tally: Tally): Markup {
  const failed = failuresOf(tally).reduce((sum, [, count]) => sum + count, 0)
  const kinds = [
    ['located', tally.resolved],
    ['failed', failed],
    ['bad', tally.bad],
  ] as const
  let from = 0
  const parts = kinds
    .filter(([, count]) => count > 0)
    .map(([kind, count]) => {
      const width = (count / (tally.lines - tally.blank)) * 100
      const part = html`<rect class="${kind}" x="${decimals(from)}%" width="${decimals(width)}%" height="100%"/>`
      from += width
      return part
    })
  return html`<svg class="stack" aria-hidden="true">${parts}</svg>`
}

function decimals(number: number): number {
  return Math.round(number * 100) / 100
}

function badLines(shown: readonly BadLine[], all: number): Markup {
  const items = shown.map(
    ({ line, message }) => html`
<li><span class="line">Line ${countText(line)}</span> <bdi>${clipped(message, MESSAGE_LENGTH)}</bdi></li>`,
  )
  return html`<h3>${shown.length < all ? 'The first unreadable lines' : 'Unreadable lines'}</h3><ul class="faults">${items}</ul>`
}
