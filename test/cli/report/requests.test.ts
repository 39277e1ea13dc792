import { describe, expect, it } from 'vitest'
import type { Tables } from '../../../src/cli/report/ranked.ts'
import { agentsOf } from '../../../src/cli/report/requests.ts'
import { plainPlan } from '../../../src/enrich/count-plan.ts'
import { GroupTotals } from '../../../src/enrich/counting/totals.ts'
import { NOTHING_ELSE } from '../../enrich/counted.ts'

const PLAN = plainPlan([{ kind: 'field', columns: ['agent'], field: 0 }], { fields: ['agent'] })

/** The tables of the agents of as many lines as each number says; `null` for lines without one. */
function agentsIn(lines: readonly (readonly [agent: string | null, count: number])[]): Tables {
  const totals = new GroupTotals(PLAN)
  totals.add({
    values: [lines.map(([agent]) => [agent])],
    groups: Int32Array.from(lines.keys()),
    counts: Float64Array.from(lines, ([, count]) => count),
    ...NOTHING_ELSE,
  })
  return agentsOf(totals, (text) => text)
}

// As they stand in logs.
const CHROME =
  'Mozilla/5.0 (Windows NT 6.1; WOW64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/32.0.1700.107 Safari/537.36'
const SAFARI =
  'Mozilla/5.0 (iPhone; CPU iPhone OS 7_0_6 like Mac OS X) AppleWebKit/537.51.1 (KHTML, like Gecko) Version/7.0 Mobile/11B651 Safari/9537.53'
const GOOGLEBOT = 'Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)'

describe('the agents of a report', () => {
  it.each([
    [CHROME, 'Chrome', 'Windows'],
    [SAFARI, 'Safari', 'iOS'],
    ['Mozilla/5.0 (X11; Linux x86_64; rv:27.0) Gecko/20100101 Firefox/27.0', 'Firefox', 'Linux'],
    [CHROME.replaceAll(' ', '+'), 'Chrome', 'Windows'],
    [CHROME.replaceAll(' ', '%20'), 'Chrome', 'Windows'],
    [CHROME.replaceAll(' ', '%2520'), 'Chrome', 'Windows'],
    [`${CHROME.replaceAll(' ', '+')}+100%`, 'Chrome', 'Windows'],
  ])('%s is a browser', (agent, browser, system) => {
    const agents = agentsIn([[agent, 3]])
    expect(agents.browsers?.rows.map(({ name, count }) => [name, count])).toEqual([[browser, 3]])
    expect(agents.operatingSystems?.rows.map(({ name }) => name)).toEqual([system])
    expect([agents.crawlers?.all, agents.browsers?.lines]).toEqual([0, 3])
  })

  it.each([
    [GOOGLEBOT, 'Googlebot'],
    ['UniversalFeedParser/4.2-pre-314-svn +http://feedparser.org/', 'UniversalFeedParser'],
    ['Mozilla/5.0 (compatible; Yahoo! Slurp; http://help.yahoo.com/help/us/ysearch/slurp)', 'Yahoo! Slurp'],
    ['msnbot-media/1.1 (+http://search.msn.com/msnbot.htm)', 'msnbot-media'],
    ['Feedbin - 1 subscribers', 'Feedbin'],
    ['Tiny Tiny RSS/1.11 (http://tt-rss.org/)', 'Tiny Tiny RSS'],
    ['curl/8.5.0', 'curl'],
    ['Mozilla/4.0 (compatible;)', 'Mozilla'],
  ])('%s is a crawler or a program', (agent, crawler) => {
    const agents = agentsIn([[agent, 2]])
    expect(agents.crawlers?.rows.map(({ name, count }) => [name, count])).toEqual([[crawler, 2]])
    expect([agents.browsers?.all, agents.browsers?.lines]).toEqual([0, 0])
  })

  it('are absent if no line has one', () => {
    expect(Object.values(agentsIn([[null, 5]])).map(({ all }) => all)).toEqual([0, 0, 0])
    expect(agentsOf(undefined, (text) => text)).toEqual({})
  })
})
