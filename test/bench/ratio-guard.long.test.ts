import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, describe, expect, it } from 'vitest'
import { randomIPv4, seeded } from '../../scripts/bench/addresses.ts'
import { type BenchDatabase, buildBenchWorker, embeddedCity } from '../../scripts/bench/artifacts.ts'
import { answerOf } from '../../scripts/bench/child.ts'
import { race } from '../../scripts/bench/race.ts'

/** Inside the project, so that the worker finds its dependencies. */
const FOLDER = join(import.meta.dirname, '../../.cache/bench/guard')

/**
 * Ratios within one run, wide margins and three tries distinguish slower code from a busy machine. The ratios of the
 * benchmark are several times larger.
 */
const GUARD = { retry: 2, timeout: 120_000 }

describe('speed', () => {
  const list = join(FOLDER, 'addresses.txt')
  let database: BenchDatabase
  let worker: string

  beforeAll(async () => {
    database = embeddedCity(FOLDER)
    worker = await buildBenchWorker(FOLDER)
    const addresses = randomIPv4(20_000, seeded(20260605))
    writeFileSync(list, addresses.map((address) => `${address}\n`).join(''))
  })

  it('is many times that of mmdb-lib, with single lookups, with caches and in batches', GUARD, async () => {
    const runner = (name: string, hasCache: boolean) => {
      return { name, file: process.execPath, args: [worker, 'rounds', name, database.path, list], hasCache }
    }
    const runners = [
      runner('lookup', true),
      runner('lookupMany', true),
      runner('mmdb-lib', false),
      runner('mmdb-lib-map', true),
    ]
    const finishes = await race(runners, { rounds: 7, milliseconds: 60 }, (error) => {
      throw error
    })
    const rate = (name: string): number => finishes.get(name)?.figure.median ?? Number.NaN
    expect(finishes.get('lookup')?.figure.found).toBe(1)
    expect(rate('lookup') / rate('mmdb-lib')).toBeGreaterThan(8)
    // A reader that caches every record, like the fastest peer.
    expect(rate('lookup') / rate('mmdb-lib-map')).toBeGreaterThan(1.5)
    expect(rate('lookupMany') / rate('lookup')).toBeGreaterThan(0.7)
  })

  it('needs few allocations besides the record', GUARD, async () => {
    const flags = ['--expose-gc', '--min-semi-space-size=64', '--max-semi-space-size=64']
    const { bytes, found } = await answerOf<{ bytes: number; found: number }>({
      name: 'allocation',
      file: process.execPath,
      args: [...flags, worker, 'allocation', database.path, list],
    })
    expect(found).toBe(20_000)
    expect(bytes).toBeGreaterThan(50)
    expect(bytes).toBeLessThan(300)
  })
})
