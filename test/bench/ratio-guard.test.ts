import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, describe, expect, it } from 'vitest'
import { randomIPv4, seeded } from '../../scripts/bench/addresses.ts'
import { buildWorker } from '../../scripts/bench/build-worker.ts'
import { answerOf } from '../../scripts/bench/child.ts'
import { type BenchDatabase, embeddedCity } from '../../scripts/bench/databases.ts'
import { race } from '../../scripts/bench/race.ts'

/** Inside the project, from where the worker finds its dependencies. */
const FOLDER = join(import.meta.dirname, '../../.cache/bench/guard')

/**
 * Slower code is told from a busy machine by ratios within one run, with wide margins and three tries; the
 * benchmark shows several times as much.
 */
const GUARD = { retry: 2, timeout: 120_000 }

describe('speed', () => {
  const list = join(FOLDER, 'addresses.txt')
  let database: BenchDatabase
  let worker: string

  beforeAll(async () => {
    database = embeddedCity(FOLDER)
    worker = await buildWorker(FOLDER)
    const addresses = randomIPv4(20_000, seeded(20260605))
    writeFileSync(list, addresses.map((address) => `${address}\n`).join(''))
  })

  it('is many times that of the plain peer, alone, cached and in bulk', GUARD, async () => {
    const runner = (name: string, remembers: boolean) => {
      return { name, file: process.execPath, args: [worker, 'rounds', name, database.path, list], remembers }
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
    // A reader that remembers every record, as the fastest of the peers does.
    expect(rate('lookup') / rate('mmdb-lib-map')).toBeGreaterThan(1.5)
    expect(rate('lookupMany') / rate('lookup')).toBeGreaterThan(0.7)
  })

  it('comes with few allocations: the record, and little else', GUARD, async () => {
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
