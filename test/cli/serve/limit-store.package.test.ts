// `geofix serve --limits`: servers that count requests in one real Valkey or Redis.
import { describe, expect, it } from 'vitest'
import { freePort } from '../../../scripts/free-port.ts'
import { temporaryFolder } from '../../temporary.ts'
import { ask, LONDON, type Service, serve } from './running.ts'
import { ended, hasValkey, startValkey } from './valkey.ts'

/** A window of 1,000 seconds, which no test waits for: a budget is never full again. */
const PLANS = ['free', 'developer', 'business'].map((name) => ({ name, rate: 0.02, burst: 20, batch: 1 }))

const serverWith = (limits: string): Promise<Service> =>
  serve(temporaryFolder(), { limits, plan: PLANS, metricsPort: 0 })

async function statusesOf(all: readonly Service[], count: number): Promise<number[]> {
  const statuses: number[] = []
  for (let turn = 0; turn < count; turn++) {
    const { origin } = all[turn % all.length] ?? {}
    statuses.push((await ask(`${origin}${LONDON}`)).status)
  }
  return statuses
}

const times = (count: number, status: number): number[] => Array(count).fill(status)

async function isAlone({ metricsPort }: Service): Promise<string | undefined> {
  const text = await (await fetch(`http://127.0.0.1:${metricsPort}/metrics`)).text()
  return /^geofix_limits_alone (\d)$/m.exec(text)?.[1]
}

describe.skipIf(!hasValkey)('limits in a store, if valkey or redis is not installed this is skipped,', () => {
  it('are one budget of all servers; while the store is away or stuck, each server counts for itself', async () => {
    const port = await freePort()
    const store = await startValkey(port)
    const both = [
      await serverWith(`redis://127.0.0.1:${port}`),
      await serverWith(`redis://127.0.0.1:${port}`),
    ]
    for (const service of both) await service.until('limits-shared')
    expect(await statusesOf(both, 24)).toEqual([...times(20, 200), ...times(4, 429)])
    const [first] = both
    if (first === undefined) throw new Error('no server')
    expect(await isAlone(first)).toBe('0')

    await ended(store, 'SIGKILL')
    for (const service of both) await service.until('limits-alone')
    // Each has a budget of its own now.
    expect(await statusesOf(both, 42)).toEqual([...times(40, 200), ...times(2, 429)])
    expect(await isAlone(first)).toBe('1')

    const next = await startValkey(port)
    for (const service of both) await service.until('limits-shared', 2)
    expect(await statusesOf(both, 21)).toEqual([...times(20, 200), 429])

    next.kill('SIGSTOP')
    // Not one answer is lost while the store hangs.
    expect(new Set(await statusesOf(both, 8))).toEqual(new Set([429]))
    for (const service of both) expect(await service.until('limits-alone', 2)).toHaveProperty('message')
    next.kill('SIGCONT')
    for (const service of both) await service.until('limits-shared', 3)
  })

  it('begin when the store is there, and a server starts without it', async () => {
    const port = await freePort()
    const service = await serverWith(`redis://user:secret@127.0.0.1:${port}/2`)
    const { message } = await service.until('limits-alone')
    expect(message).toContain('ECONNREFUSED')
    expect(JSON.stringify(service.lines())).not.toContain('secret')
    expect(await statusesOf([service], 1)).toEqual([200])
  })
})
