// The figures of a report about requests: their statuses, methods, paths and referrers, and the programs that sent them.
import Bowser from 'bowser'
import { isbot } from 'isbot'
import type { GroupTotals } from '../../enrich/counting/totals.ts'
import type { ReportTotals } from './places.ts'
import { type Ranked, type Tables, type Tallied, Tally } from './ranked.ts'
import { errorsOf, type Timeline } from './times.ts'

/** The requests of a run. Only logs of requests have them. */
export interface Requests {
  readonly statuses: readonly Tallied[]
  readonly methods: readonly Tallied[]
  /** Bytes of all answers; `null` if the log does not say. */
  readonly bytes: number | null
  /** Answers with errors, by time; `null` if the log has no times, or no answer is an error. */
  readonly errors: Timeline | null
}

const NOT_FOUND = '404'
/** Endings of the files that pages load. */
const ASSET =
  /\.(?:css|m?js|map|json|png|jpe?g|gif|svg|ico|webp|avif|bmp|woff2?|ttf|otf|eot|mp[34]|webm|ogg|wav|wasm)$/i
/** Later lines can have something else in a field of this name. */
const STATUS = /^\d{1,3}$/
/** The authority of a URI (RFC 3986, section 3.2), without the user. As text: logs write bytes beyond ASCII as they like. */
const HOST = /^[a-z][a-z\d+.-]*:\/\/(?:[^/?#@]*@)?([^/?#@]+)/i

/**
 * The requests, and tables of the following. A log without statuses and paths has none.
 * - `pages`: paths without their query
 * - `assets`: paths of what pages load, such as images and style sheets, in the same way
 * - `notFound`: paths that were answered with 404
 * - `referrers`: the hosts of the pages that led here
 * - `browsers`, `operatingSystems` and `crawlers`, as they name themselves
 *
 * @param shown what may be shown of a text
 */
export function requestsOf(
  { statuses: byStatus, pages: byPage, referrers: byReferrer, ...totals }: ReportTotals,
  shown: (text: string) => string,
): { readonly requests: Requests | null; readonly tables: Tables } {
  if (byStatus === undefined && byPage === undefined) return { requests: null, tables: {} }
  const [statuses, methods, referrers] = [new Tally(), new Tally(), new Tally()]
  for (const { values, count } of byStatus?.groups() ?? []) {
    const status = values.at(-1)
    if (STATUS.test(String(status))) statuses.addValue(status, count)
  }
  for (const { values, count } of totals.methods?.groups() ?? [])
    methods.addValue(typeof values[0] === 'string' ? shown(values[0]) : values[0], count)
  for (const { values, count } of byReferrer?.groups() ?? []) {
    const host = HOST.exec(String(values[0]))?.[1]?.toLowerCase()
    if (host !== undefined) referrers.add(shown(host), count)
  }
  const [pages, assets, notFound] = [new Tally(), new Tally(), new Tally()]
  const sums = byPage?.sums ?? null
  let group = 0
  for (const { values, count } of byPage?.groups() ?? []) {
    const bytes = sums === null ? null : (sums[group] ?? 0)
    group++
    const [path, status] = values
    const page = typeof path === 'string' ? shown(path.split('?', 1)[0] ?? '') : path
    const kind = typeof page === 'string' && ASSET.test(page) ? assets : pages
    kind.addValue(page, count, bytes)
    if (String(status) === NOT_FOUND) notFound.addValue(page, count)
  }
  const requests = {
    statuses: statuses.ranked().rows,
    methods: methods.ranked().rows,
    bytes: totals.times?.sum ?? null,
    errors: errorsOf(byStatus),
  }
  const tables = {
    ...(byPage && { pages: pages.ranked(byPage.other), assets: partOf(assets, byPage) }),
    // The tally does not say which of the paths beyond its bound were not found.
    ...(byPage && byStatus && { notFound: partOf(notFound, byPage) }),
    ...(byReferrer && { referrers: partOf(referrers, byReferrer) }),
    ...agentsOf(totals.agents, shown),
  }
  return { requests, tables }
}

/** Ranks the rows of a part of the lines. The lines beyond the bound of the tally may not belong to this part. */
function partOf(tally: Tally, { other }: GroupTotals): Ranked {
  return { ...tally.ranked(), isExact: other === 0 }
}

/** The product of `Mozilla/5.0 (compatible; Product/1.0; …)`, or of `Product/1.0 …`. */
const PRODUCT = /^(?:.*?\bcompatible; *)?([^;/()]+)/
/** Agents name versions after a slash or a space: `Feedbin - 1 subscribers`. */
const VERSION = /(?: -)?(?: v?\d[\w.]*.*)?$/

/**
 * @param totals groups of a user agent; `undefined` if the log has none
 * @param shown what may be shown of a text
 */
export function agentsOf(totals: GroupTotals | undefined, shown: (text: string) => string): Tables {
  if (totals === undefined) return {}
  const [browsers, systems, crawlers] = [new Tally(), new Tally(), new Tally()]
  let people = 0
  for (const { values, count } of totals.groups()) {
    const [agent] = values
    if (typeof agent !== 'string') continue
    const text = decoded(agent)
    if (isbot(text)) crawlers.add(shown(crawlerOf(text)), count)
    else {
      people += count
      const parser = Bowser.getParser(text, true)
      browsers.addValue(shown(parser.getBrowserName()) || null, count)
      systems.addValue(parser.getOSName() || null, count)
    }
  }
  // Shares of browsers and systems are those of people: their agents are not those of crawlers and programs.
  return {
    browsers: { ...partOf(browsers, totals), lines: people },
    operatingSystems: { ...partOf(systems, totals), lines: people },
    crawlers: partOf(crawlers, totals),
  }
}

/** IIS writes spaces as `+`, and CloudFront writes them as `%20`. */
function decoded(agent: string): string {
  if (agent.includes(' ')) return agent
  try {
    return decodeURIComponent(agent.replaceAll('+', ' ').replaceAll('%25', '%'))
  } catch {
    // A percent sign of the agent itself.
    return agent.replaceAll('+', ' ')
  }
}

function crawlerOf(agent: string): string {
  const product = PRODUCT.exec(agent)?.[1]?.replace(VERSION, '').trim()
  return product === undefined || product === '' ? agent : product
}
