import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { Redis } from 'ioredis'
import { RateLimiterRedis } from 'rate-limiter-flexible'
import { afterAll, describe, expect, it } from 'vitest'
import type { HandlerOptions, MakeLimiter } from '../../src/http.ts'
import { temporaryFolder } from '../temporary.ts'
import { limitedAsker, openSample, statuses } from './service.ts'

const geo = await openSample({ trustedProxies: ['10.0.0.0/8'] })
const limited = (options: Partial<HandlerOptions> = {}) => limitedAsker(geo, options)

const server = ['valkey-server', 'redis-server'].find((name) => spawnSync(name, ['--version']).status === 0)
if (server === undefined) console.warn('valkey is not installed: tests of a shared budget are skipped')

describe.skipIf(server === undefined)(
  'several machines, where valkey is not installed this is skipped,',
  () => {
    const stops: (() => void)[] = []
    afterAll(() => {
      for (const stop of stops) stop()
    })

    it('share one budget in Valkey or Redis', async () => {
      const socket = join(temporaryFolder(), 'valkey')
      const child = spawn(server ?? '', ['--port', '0', '--unixsocket', socket, '--save', ''], {
        stdio: 'pipe',
      })
      stops.push(() => child.kill())
      for await (const line of child.stdout) if (String(line).includes('accept connections')) break
      const storeClient = new Redis({ path: socket, enableOfflineQueue: false, lazyConnect: true })
      await storeClient.connect()
      stops.push(() => storeClient.disconnect())
      const limiter: MakeLimiter = ({ name, burst }, window) =>
        new RateLimiterRedis({ storeClient, points: burst, duration: window, keyPrefix: name })
      const machines = [limited({ limiter }), limited({ limiter })]
      let turn = 0
      const next = async () => {
        const ask = machines[turn++ % machines.length]
        if (ask === undefined) throw new Error('no machine')
        return ask('/v1/ip')
      }
      expect(await statuses(6, next)).toEqual([200, 200, 200, 200, 429, 429])
      await delay(2100)
      const again = await next()
      expect(again.status).toBe(200)
      expect(again.headers.get('ratelimit')).toBe('"developer";r=3;t=2')
      child.kill()
      await once(child, 'exit')
      expect((await next()).status).toBe(500)
    })
  },
)
