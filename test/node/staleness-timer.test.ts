import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest'
import { Resolver, type StaleEvent } from '../../src/index.ts'
import type { DatabaseInfo } from '../../src/location/vendors.ts'
import { StalenessTimer } from '../../src/node/watching.ts'
import { makeFile, temporaryFolder } from '../temporary.ts'
import { generation } from './watched-files.ts'

const DAY_MS = 86_400_000
const NOW = Date.UTC(2026, 5, 1)

/** A database that was built that many days ago. */
function database(daysAgo: number | null): DatabaseInfo {
  return {
    type: 'Sample',
    buildDate: daysAgo === null ? null : new Date(NOW - daysAgo * DAY_MS),
    ipVersion: 6,
    locales: [],
    nodeCount: 1,
    licence: null,
    attribution: null,
    path: null,
  }
}

describe('StalenessTimer', () => {
  beforeEach(() => void vi.useFakeTimers({ now: NOW }))
  afterEach(() => void vi.useRealTimers())

  /** A timer, and its reports by days from now. */
  function watched(days: number, databases: readonly DatabaseInfo[]) {
    const reports: [day: number, stale: readonly DatabaseInfo[]][] = []
    const timer = new StalenessTimer(days, (stale) => void reports.push([(Date.now() - NOW) / DAY_MS, stale]))
    timer.watch(databases)
    return { timer, reports }
  }

  it.each<[number | null, boolean]>([
    [29.9, false],
    [30, false], // exactly the limit is not stale
    [30.1, true],
    [-5, false], // a wrong clock
    [null, true],
  ])('has a limit of 30 days: a database of %s days is stale: %s', (age, expected) => {
    const one = database(age)
    const { timer, reports } = watched(30, [one])
    expect(timer.stale).toEqual(expected ? [one] : [])
    expect(reports).toEqual(expected ? [[0, [one]]] : [])
    timer.stop()
  })

  it('reports each database once, when it becomes stale', () => {
    const [old, young] = [database(10), database(5)]
    const { timer, reports } = watched(60, [old, young])
    vi.advanceTimersByTime(50 * DAY_MS)
    expect([reports, timer.stale]).toEqual([[], []])
    vi.advanceTimersByTime(1000)
    expect(reports.map(([, stale]) => stale)).toEqual([[old]])
    vi.advanceTimersByTime(100 * DAY_MS)
    expect(reports.map(([day, stale]) => [Math.floor(day), stale])).toEqual([
      [50, [old]],
      [55, [old, young]],
    ])
    expect(vi.getTimerCount()).toBe(0)
  })

  it('reports within a day when the clock is set forward', () => {
    const one = database(10)
    const { reports } = watched(60, [one])
    vi.setSystemTime(NOW + 100 * DAY_MS)
    vi.advanceTimersByTime(DAY_MS + 1)
    expect(reports.map(([, stale]) => stale)).toEqual([[one]])
  })

  it('only reports the databases that it watches now', () => {
    const { timer, reports } = watched(30, [database(20)])
    const newer = database(0)
    timer.watch([newer])
    vi.advanceTimersByTime(29 * DAY_MS)
    expect(reports).toEqual([])
    vi.advanceTimersByTime(2 * DAY_MS)
    expect(reports.map(([, stale]) => stale)).toEqual([[newer]])
  })

  it('reports nothing after it is stopped', () => {
    const { timer, reports } = watched(30, [database(20)])
    timer.stop()
    vi.advanceTimersByTime(100 * DAY_MS)
    expect([reports, vi.getTimerCount()]).toEqual([[], 0])
  })
})

describe('staleAfter', () => {
  const bytes = generation(0) // built on 2026-01-01
  const daysSince = (Date.now() - Date.UTC(2026, 0, 1)) / DAY_MS

  it('is checked while opening', async () => {
    const events: StaleEvent[] = []
    const options = { staleAfter: daysSince - 1, onStale: (event: StaleEvent) => void events.push(event) }
    const resolver = await Resolver.open(bytes, options)
    expect(events).toEqual([{ databases: resolver.databases }])
    expect(resolver.status.stale).toEqual(resolver.databases)
    resolver.close()
    expect(Resolver.openSync(bytes, options).databases).toEqual(events[1]?.databases)
  })

  it('is not checked any more when the resolver is closed', () => {
    vi.useFakeTimers()
    onTestFinished(() => void vi.useRealTimers())
    const resolver = Resolver.openSync(bytes, { staleAfter: daysSince + 1 })
    expect(vi.getTimerCount()).toBe(1)
    resolver.close()
    expect(vi.getTimerCount()).toBe(0)
  })

  it('makes opening fail if onStale throws', async () => {
    const onStale = (): never => {
      throw new Error('too old for us')
    }
    await expect(Resolver.open(bytes, { staleAfter: 0.001, onStale })).rejects.toThrow('too old for us')
  })

  it('is not checked after onReload has closed the resolver', async () => {
    const path = makeFile(join(temporaryFolder(), 'city.mmdb'), bytes)
    const events: string[] = []
    const resolver = await Resolver.open(path, {
      watch: true,
      watchInterval: 10,
      staleAfter: 0.001,
      onStale: () => void events.push('stale'),
      onReload: () => {
        resolver.close()
        // The next step of the reload runs before this.
        setImmediate(() => events.push('closed'))
      },
    })
    writeFileSync(path, generation(1))
    await vi.waitFor(() => expect(events).toContain('closed'), 10_000)
    expect(events).toEqual(['stale', 'closed'])
  })

  it('is checked again when the file is replaced', async () => {
    const path = makeFile(join(temporaryFolder(), 'city.mmdb'), bytes)
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
