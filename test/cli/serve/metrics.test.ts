import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { JsonLog } from '../../../src/cli/serve/log.ts'
import { Metrics } from '../../../src/cli/serve/metrics.ts'
import { NodeResolver } from '../../../src/node/node-resolver.ts'
import { encode, handMade } from '../../mmdb/hand-made.ts'
import { makeFile, temporaryFolder } from '../../temporary.ts'

const RECORD = encode(new Map([['country', new Map([['iso_code', 'GB']])]]))

/** The metrics of a database that was built at a time in seconds. */
async function metricsOf(buildEpoch: bigint, staleAfter?: number): Promise<Metrics> {
  const path = makeFile(join(temporaryFolder(), 'a.mmdb'), handMade(RECORD, { build_epoch: buildEpoch }))
  const resolver = await NodeResolver.open(path, { staleAfter })
  return new Metrics({ resolver, keys: null, log: new JsonLog(null), store: null })
}

async function gaugeOf(metrics: Metrics, name: string): Promise<number> {
  const line = new RegExp(`^geofix_${name} (.*)$`, 'm').exec(await metrics.registry.metrics())
  return Number(line?.[1])
}

describe('the metrics', () => {
  it('have the age of the database in seconds, since 1970 if it is unknown', async () => {
    const age = Date.now() / 1000 - 1_700_000_000
    const found = await gaugeOf(await metricsOf(1_700_000_000n), 'database_age_seconds')
    expect(found).toBeGreaterThanOrEqual(age)
    expect(found).toBeLessThan(age + 100)
    const unknown = await gaugeOf(await metricsOf(2n ** 64n - 1n), 'database_age_seconds')
    expect(unknown).toBeGreaterThan(age + 1_699_999_000)
  })

  it.each([
    ['older than the limit', 1_700_000_000n, 30, 1],
    ['younger than the limit', 1_700_000_000n, 36_500, 0],
    ['without a date', 2n ** 64n - 1n, 36_500, 1],
  ])('say whether a database is stale: %s', async (_, buildEpoch, staleAfter, stale) => {
    expect(await gaugeOf(await metricsOf(buildEpoch, staleAfter), 'database_stale')).toBe(stale)
  })
})
