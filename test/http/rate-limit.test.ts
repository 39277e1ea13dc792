import fc from 'fast-check'
import { RateLimiterMemory } from 'rate-limiter-flexible'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { WindowCounts } from '../../src/http/rate-limit.ts'
import type { HandlerOptions, MakeLimiter } from '../../src/http.ts'
import { limitedAsker, openSample, statuses } from './service.ts'

const geo = await openSample({ trustedProxies: ['10.0.0.0/8'] })
const limited = (options: Partial<HandlerOptions> = {}) => limitedAsker(geo, options)

afterEach(() => void vi.useRealTimers())

describe('limits', () => {
  it('are those of the plan, and full again after its window', async () => {
    vi.useFakeTimers()
    const ask = limited()
    const first = await ask('/v1/ip')
    expect(first.headers.get('ratelimit-policy')).toBe('"developer";q=4;w=2')
    expect(first.headers.get('ratelimit')).toBe('"developer";r=3;t=2')
    expect(await statuses(4, () => ask('/v1/ip'))).toEqual([200, 200, 200, 429])
    const refused = await ask('/v1/ip')
    expect(refused.status).toBe(429)
    expect(refused.headers.get('retry-after')).toBe('2')
    expect(refused.headers.get('ratelimit')).toBe('"developer";r=0;t=2')
    expect(await refused.json()).toMatchObject({ code: 'RATE_LIMITED', status: 429 })
    vi.advanceTimersByTime(2001)
    expect((await ask('/v1/ip')).status).toBe(200)
  })

  it('are of each key, and for refused plans and addresses too', async () => {
    const ask = limited()
    expect(await statuses(3, () => ask('/v1/ip/81.2.69.142', { key: 'free-key' }))).toEqual([403, 403, 429])
    expect(await statuses(5, () => ask('/v1/ip/nonsense'))).toEqual([400, 400, 400, 400, 429])
    for (const key of ['other-developer-key', 'business-key'])
      expect((await ask('/v1/ip', { key })).status).toBe(200)
  })

  it('count the peer if there is no valid key', async () => {
    const ask = limited()
    const wrong = (peer: string | null, key: string | null = 'wrong') => ask('/v1/ip', { key, peer })
    expect(await statuses(3, () => wrong('81.2.69.142'))).toEqual([401, 401, 429])
    expect((await wrong('81.2.69.142', null)).status).toBe(429)
    expect((await wrong('81.2.69.143')).status).toBe(401)
    expect((await ask('/v1/ip')).status).toBe(200)
    expect(await statuses(3, () => wrong(null))).toEqual([401, 401, 429])
  })

  it('count an IPv6 host by its network', async () => {
    const ask = limited()
    let host = 0
    const next = () => ask('/v1/ip', { key: null, peer: `2001:4860:0:1::${++host}` })
    expect(await statuses(3, next)).toEqual([401, 401, 429])
    expect((await ask('/v1/ip', { key: null, peer: '2001:4860:0:2::1' })).status).toBe(401)
  })

  it('count the client behind a trusted proxy', async () => {
    const ask = limited({ authenticate: null })
    const from = (client: string) =>
      ask('/v1/ip', { peer: '10.0.0.1', headers: { 'x-forwarded-for': client } })
    expect(await statuses(6, () => from('81.2.69.142'))).toEqual([200, 200, 200, 200, 200, 429])
    expect((await from('81.2.69.143')).status).toBe(200)
  })

  it('can be those of rate-limiter-flexible', async () => {
    const limiter: MakeLimiter = ({ burst }, window) =>
      new RateLimiterMemory({ points: burst, duration: window })
    const ask = limited({ limiter })
    expect(await statuses(5, () => ask('/v1/ip'))).toEqual([200, 200, 200, 200, 429])
    expect((await ask('/v1/ip')).headers.get('ratelimit')).toMatch(/^"developer";r=0;t=[12]$/)
  })

  it('fail with their store', async () => {
    const onError = vi.fn()
    const ask = limited({ onError, limiter: () => ({ consume: () => Promise.reject(new Error('store')) }) })
    expect((await ask('/v1/ip')).status).toBe(500)
    expect(onError).toHaveBeenCalledWith(new Error('store'))
  })

  it.each([
    { remainingPoints: Number.NaN, msBeforeNext: 1 },
    { remainingPoints: 1, msBeforeNext: '1' },
    { remainingPoints: 1 },
    undefined,
    'OK',
  ])('are not what a store made of %j', async (budget) => {
    const onError = vi.fn()
    for (const consume of [async () => budget, () => Promise.reject(budget)]) {
      // A limiter in JavaScript can give anything.
      const limiter = () => ({ consume }) as unknown as ReturnType<MakeLimiter>
      const answer = await limited({ onError, limiter })('/v1/ip')
      expect([answer.status, answer.headers.get('ratelimit')]).toEqual([500, null])
    }
    expect(onError).toHaveBeenCalledWith(expect.objectContaining({ name: 'TypeError' }))
  })

  it.each([-10_800_000, 10_800_000])(
    'do not depend on the clock of the system, which changes by %d ms',
    async (change) => {
      const ask = limited()
      expect(await statuses(5, () => ask('/v1/ip'))).toEqual([200, 200, 200, 200, 429])
      vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + change })
      const refused = await ask('/v1/ip')
      expect(refused.status).toBe(429)
      expect(Number(refused.headers.get('retry-after'))).toBeLessThanOrEqual(2)
      expect(refused.headers.get('ratelimit')).toMatch(/^"developer";r=0;t=[12]$/)
    },
  )

  it.each([
    [10_801_000, 2],
    [0, 1],
  ])(
    'are waited for up to a window, at least a second: the store says %d ms',
    async (msBeforeNext, seconds) => {
      const consume = () => Promise.reject({ remainingPoints: 0, msBeforeNext })
      const refused = await limited({ limiter: () => ({ consume }) })('/v1/ip')
      expect(refused.headers.get('retry-after')).toBe(`${seconds}`)
      expect(refused.headers.get('ratelimit')).toBe(`"developer";r=0;t=${seconds}`)
    },
  )
})

describe('counts of windows', () => {
  it('are those of a window that starts with its first request, for every key', () => {
    const requests = fc.array(fc.record({ who: fc.constantFrom('a', 'b', 'c'), wait: fc.nat(3000) }))
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 2000 }), requests, (ms, all) => {
        vi.useFakeTimers({ toFake: ['performance'] })
        const counts = new WindowCounts(ms)
        // Keeps everything.
        const starts = new Map<string, { start: number; count: number }>()
        let now = 0
        for (const { who, wait } of all) {
          vi.advanceTimersByTime(wait)
          now += wait
          let window = starts.get(who)
          if (window === undefined || now - window.start >= ms) {
            window = { start: now, count: 0 }
            starts.set(who, window)
          }
          window.count++
          expect(counts.add(who)).toEqual({ count: window.count, msBeforeNext: window.start + ms - now })
        }
        vi.useRealTimers()
      }),
    )
  })
})
