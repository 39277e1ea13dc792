import { monitorEventLoopDelay } from 'node:perf_hooks'
import { setTimeout } from 'node:timers/promises'
import { Resolver } from '../../../src/index.ts'
import { answer } from './answer.ts'

/** Before and behind, so that the clocks are warm and nothing that follows is missed. */
const MARGIN = 200

/**
 * The longest that the event loop stood still while a database was opened, or nothing done; and how long the
 * first lookup took, for which the platform loads what it knows of time zones.
 */
export async function measureEventLoop(how = '', path = '', address = ''): Promise<void> {
  const histogram = monitorEventLoopDelay({ resolution: 1 })
  let longest = 0
  let last = performance.now()
  let running = true
  const look = (): void => {
    const now = performance.now()
    longest = Math.max(longest, now - last)
    last = now
    if (running) setImmediate(look)
  }
  await setTimeout(MARGIN)
  histogram.enable()
  last = performance.now()
  look()
  await setTimeout(MARGIN)
  const geo = how === 'open' ? await Resolver.open(path) : null
  await setTimeout(MARGIN)
  running = false
  histogram.disable()
  const started = performance.now()
  geo?.lookup(address)
  answer({ longest, histogram: histogram.max / 1e6, firstLookup: performance.now() - started })
}
