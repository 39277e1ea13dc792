import { setImmediate, setTimeout } from 'node:timers/promises'
import { Resolver } from '../../../src/index.ts'
import { randomPublicIPv4, seeded } from '../addresses.ts'
import { answer } from './pass.ts'
import { peakBytes } from './peak.ts'

/** After this time other threads have ended and the garbage collector has run. */
const SETTLE_MS = 1500

const SAMPLES = 8

/**
 * Measures resident memory after a database was opened, and during many lookups of random addresses. These are created
 * one by one, as in a server.
 */
export async function measureMemory(path = '', lookups = ''): Promise<void> {
  const geo = await Resolver.open(path)
  await setTimeout(SETTLE_MS)
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
