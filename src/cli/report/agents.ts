// Which browsers, systems and crawlers lines name in their field of the user agent.
import Bowser from 'bowser'
import { isbot } from 'isbot'
import type { GroupTotals } from '../../enrich/counting/totals.ts'
import { addValue, type Ranked, Tally } from './ranked.ts'

/** The programs that asked, as they name themselves. */
export interface Agents {
  readonly browsers: Ranked
  readonly systems: Ranked
  readonly crawlers: Ranked
  /** Lines of people: their agents are not those of crawlers and programs. */
  readonly people: number
  /** Lines with an agent. */
  readonly all: number
}

/** The product of `Mozilla/5.0 (compatible; Product/1.0; …)`, or of `Product/1.0 …`. */
const PRODUCT = /^(?:.*?\bcompatible; *)?([^;/()]+)/
/** Agents name versions after a slash or a space: `Feedbin - 1 subscribers`. */
const VERSION = /(?: -)?(?: v?\d[\w.]*.*)?$/

/**
 * @param totals groups of a user agent; `undefined` if the log has none
 * @param shown what may be shown of a text
 */
export function agentsOf(totals: GroupTotals | undefined, shown: (text: string) => string): Agents | null {
  if (totals === undefined) return null
  const [browsers, systems, crawlers] = [new Tally<string>(), new Tally<string>(), new Tally<string>()]
  let [people, all] = [0, 0]
  for (const { values, count } of totals.groups()) {
    const [agent] = values
    if (typeof agent !== 'string') continue
    all += count
    const text = decoded(agent)
    if (isbot(text)) crawlers.add(shown(crawlerOf(text)), count)
    else {
      people += count
      const { browser, os } = Bowser.parse(text)
      addValue(
        browsers,
        browser.name === undefined || browser.name === '' ? null : shown(browser.name),
        count,
      )
      addValue(systems, os.name, count)
    }
  }
  if (all === 0) return null
  const [isExact, other] = [totals.other === 0, totals.other]
  const ranked = (tally: Tally<string>): Ranked => ({ ...tally.ranked(), isExact })
  return {
    browsers: ranked(browsers),
    systems: ranked(systems),
    crawlers: ranked(crawlers),
    people,
    all: all + other,
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
