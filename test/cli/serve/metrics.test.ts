import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { JsonLog } from '../../../src/cli/serve/log.ts'
import { Metrics } from '../../../src/cli/serve/metrics.ts'
import { NodeResolver } from '../../../src/node/node-resolver.ts'
import { encode, handMade } from '../../mmdb/hand-made.ts'
import { temporaryFolder } from '../../temporary.ts'

const RECORD = encode(new Map([['country', new Map([['iso_code', 'GB']])]]))

/** The metrics of a database that was built at a time in seconds. */
async function metricsOf(buildEpoch: bigint): Promise<Metrics> {
  const path = join(temporaryFolder(), 'a.mmdb')
  writeFileSync(path, handMade(RECORD, { build_epoch: buildEpoch }))
  return new Metrics({ resolver: await NodeResolver.open(path), keys: null, log: new JsonLog(null) })
}

async function gaugeOf(metrics: Metrics, name: string): Promise<number> {
  const line = new RegExp(`^geofix_${name} (.*)$`, 'm').exec(await metrics.registry.metrics())
  return Number(line?.[1])
}

describe('the metrics', () => {
  it('count the connections beyond the limit', async () => {
    const metrics = await metricsOf(1_700_000_000n)
    expect(await gaugeOf(metrics, 'connections_refused_total')).toBe(0)
    metrics.refused()
    metrics.refused()
    expect(await gaugeOf(metrics, 'connections_refused_total')).toBe(2)
  })

  it('have the age of the database in seconds, and 0 if it is unknown', async () => {
    const age = Date.now() / 1000 - 1_700_000_000
    const found = await gaugeOf(await metricsOf(1_700_000_000n), 'database_age_seconds')
    expect(found).toBeGreaterThanOrEqual(age)
    expect(found).toBeLessThan(age + 100)
    expect(await gaugeOf(await metricsOf(2n ** 64n - 1n), 'database_age_seconds')).toBe(0)
  })
})
