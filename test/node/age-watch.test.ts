import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { Resolver, type StaleEvent } from '../../src/index.ts'
import type { DatabaseInfo } from '../../src/location/database-info.ts'
import { AgeWatch } from '../../src/node/age-watch.ts'
import { hasShared, sharedBytes } from '../shared.ts'
import { temporaryFolder } from '../temporary.ts'
import { generation } from './watched-files.ts'

const DAY = 86_400_000
const NOW = Date.UTC(2026, 5, 1)

/** A database that was built some days ago. */
function database(daysAgo: number | null): DatabaseInfo {
  return {
    type: 'Sample',
    buildDate: daysAgo === null ? null : new Date(NOW - daysAgo * DAY),
    ipVersion: 6,
    locales: [],
    nodeCount: 1,
    licence: null,
    attribution: null,
    path: null,
  }
}

describe('the age of databases', () => {
  beforeEach(() => void vi.useFakeTimers({ now: NOW }))
  afterEach(() => void vi.useRealTimers())

  /** Judges, and tells when it was told of what, in days from now. */
  function judged(days: number, databases: readonly DatabaseInfo[]) {
    const told: [day: number, stale: readonly DatabaseInfo[]][] = []
    const ages = new AgeWatch(days, (stale) => void told.push([(Date.now() - NOW) / DAY, stale]))
    ages.judge(databases)
    return { ages, told }
  }

  it.each<[number | null, boolean]>([
    [29.9, false],
    [30, false], // to the day is not older
    [30.1, true],
    [-5, false], // a clock that is wrong
    [null, true],
  ])('of %s days is above 30: %s', (age, expected) => {
    const one = database(age)
    const { ages, told } = judged(30, [one])
    expect(ages.stale).toEqual(expected ? [one] : [])
    expect(told).toEqual(expected ? [[0, [one]]] : [])
    ages.stop()
  })

  it('is told when the day comes, once', () => {
    const [old, young] = [database(10), database(5)]
    const { ages, told } = judged(60, [old, young])
    vi.advanceTimersByTime(50 * DAY)
    expect([told, ages.stale]).toEqual([[], []])
    vi.advanceTimersByTime(1000)
    expect(told.map(([, stale]) => stale)).toEqual([[old]])
    vi.advanceTimersByTime(100 * DAY)
    expect(told.map(([day, stale]) => [Math.floor(day), stale])).toEqual([
      [50, [old]],
      [55, [old, young]],
    ])
    expect(vi.getTimerCount()).toBe(0)
  })

  it('is judged within a day when the clock is set forward', () => {
    const one = database(10)
    const { told } = judged(60, [one])
    vi.setSystemTime(NOW + 100 * DAY)
    vi.advanceTimersByTime(DAY + 1)
    expect(told.map(([, stale]) => stale)).toEqual([[one]])
  })

  it('is that of what was judged last', () => {
    const { ages, told } = judged(30, [database(20)])
    const newer = database(0)
    ages.judge([newer])
    vi.advanceTimersByTime(29 * DAY)
    expect(told).toEqual([])
    vi.advanceTimersByTime(2 * DAY)
    expect(told.map(([, stale]) => stale)).toEqual([[newer]])
  })

  it('is judged no more after the end', () => {
    const { ages, told } = judged(30, [database(20)])
    ages.stop()
    vi.advanceTimersByTime(100 * DAY)
    expect([told, vi.getTimerCount()]).toEqual([[], 0])
  })
})

describe('staleAfter', () => {
  const bytes = generation(0) // built on 2026-01-01
  const daysSince = (Date.now() - Date.UTC(2026, 0, 1)) / DAY

  it('is judged when a database is opened', async () => {
    const events: StaleEvent[] = []
    const options = { staleAfter: daysSince - 1, onStale: (event: StaleEvent) => void events.push(event) }
    const resolver = await Resolver.open(bytes, options)
    expect(events).toEqual([{ databases: resolver.databases }])
    expect(resolver.status.stale).toEqual(resolver.databases)
    resolver.close()
    expect(Resolver.openSync(bytes, options).databases).toEqual(events[1]?.databases)
  })

  it('needs no function: status says it too', async () => {
    const resolver = await Resolver.open(bytes, { staleAfter: daysSince - 1 })
    expect(resolver.status.stale).toHaveLength(1)
    resolver.close()
    const fresh = await Resolver.open(bytes, { staleAfter: daysSince + 1 })
    expect(fresh.status.stale).toEqual([])
    fresh.close()
  })

  it('makes opening fail, if the function throws', async () => {
    const onStale = (): never => {
      throw new Error('too old for us')
    }
    await expect(Resolver.open(bytes, { staleAfter: 0.001, onStale })).rejects.toThrow('too old for us')
  })

  it.skipIf(!hasShared)('takes a build date that is none as stale', async () => {
    const damaged = sharedBytes('fixtures/mmdb-bad/libmaxminddb-uint64-max-epoch.mmdb')
    const resolver = await Resolver.open(damaged, { staleAfter: 36_500 })
    expect(resolver.status.stale).toEqual(resolver.databases)
    resolver.close()
  })

  it('is judged anew when the file is replaced', async () => {
    const path = join(temporaryFolder(), 'city.mmdb')
    writeFileSync(path, bytes)
    const events: StaleEvent[] = []
    const resolver = await Resolver.open(path, {
      watch: true,
      watchInterval: 10,
      staleAfter: daysSince - 1,
      onStale: (event) => void events.push(event),
    })
    writeFileSync(path, generation(0))
    await vi.waitFor(() => expect(events).toHaveLength(2), 10_000)
    writeFileSync(path, generation(Math.floor(daysSince)))
    await vi.waitFor(() => expect(resolver.status.reloads).toBe(2), 10_000)
    expect([events.length, resolver.status.stale]).toEqual([2, []])
    resolver.close()
  })
})
