import { setImmediate, setTimeout } from 'node:timers/promises'
import { Resolver } from '../../../src/index.ts'
import { randomPublicIPv4, seeded } from '../addresses.ts'
import { answer } from './answer.ts'
import { peakBytes } from './peak.ts'

/** What follows opening is over by then: other threads end, the collector runs. */
const MOMENT = 1500

const SAMPLES = 8

/**
 * Resident memory after a database was opened, after a moment, and in the course of many lookups of random
 * addresses, which are made up one by one as requests bring them.
 */
export async function measureMemory(path = '', lookups = ''): Promise<void> {
  const geo = await Resolver.open(path)
  await setTimeout(MOMENT)
  const opened = process.memoryUsage.rss()
  const peak = peakBytes()
  const random = seeded(7)
  const samples: number[] = []
  let found = 0
  while (samples.length < (Number(lookups) > 0 ? SAMPLES : 0)) {
    for (let count = Number(lookups) / SAMPLES; count > 0; count--) {
      try {
        if (geo.lookup(randomPublicIPv4(random)).ip !== '') found++
      } catch {}
    }
    samples.push(process.memoryUsage.rss())
    await setImmediate()
  }
  answer({ opened, peak, samples, found })
}
