import { once } from 'node:events'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { Agent } from 'undici'
import { describe, expect, it } from 'vitest'
import { DATABASE } from '../../http/service.ts'
import { replaceFile, temporaryFolder } from '../../temporary.ts'
import { outcomeOf, start } from '../enrich/child.ts'
import { startServe } from './process.ts'
import { ask, LONDON, writeFiles } from './running.ts'

const folder = temporaryFolder()
const { database, keys } = writeFiles(folder)
const started = (...args: string[]) => startServe('--db', database, ...args)

/** Each worker has its turn: no connection is kept. */
const dispatcher = new Agent({ pipelining: 0 })
const get = (url: string) => ask(url, { dispatcher })

describe('geofix serve', () => {
  it('outlives the reader of its log', async () => {
    const { child, origin, outcome } = await started('--keys', keys, '--grace', '1')
    outcome.catch(() => {}) // It has no whole output.
    child.stdout.destroy()
    for (let index = 0; index < 3; index++) {
      expect(await get(origin + LONDON)).toMatchObject({ status: 200 })
      await delay(150) // The log is written every 100 ms.
    }
    const exit = once(child, 'exit')
    child.kill('SIGTERM')
    expect(await exit).toEqual([0, null])
  })
})

describe('geofix serve --workers', () => {
  it('replaces a worker that dies, and no other request fails', async () => {
    const service = await started('--keys', keys, '--workers', '2', '--metrics-port', '0', '--log', 'json')
    const { pid } = await service.until('worker-started')
    process.kill(Number(pid), 'SIGKILL')
    const statuses = new Set<number>()
    for (let index = 0; index < 20; index++) statuses.add((await get(service.origin + LONDON)).status)
    expect([...statuses]).toEqual([200])
    await service.until('worker-died')
    await service.until('worker-started', 3)
    await delay(1000)
    // ServiceRequest for at once, they are collected once.
    const texts = await Promise.all(Array.from({ length: 12 }, () => get(`${service.metrics}/metrics`)))
    for (const { text } of texts)
      expect(text).toMatch(/^geofix_requests_total\{operation="lookup",status="200"\} \d+$/m)
    service.child.kill('SIGTERM')
    expect(await service.outcome).toMatchObject({ status: 0, err: expect.not.stringContaining('Warning') })
    const pids = service
      .lines()
      .filter(({ event }) => event === 'worker-started')
      .map((line) => Number(line.pid))
    for (const each of pids) expect(() => process.kill(each, 0)).toThrow('ESRCH')
  })

  it('count a replaced file once, and keep the counts of a worker that died', async () => {
    const followed = join(folder, 'followed-by-two.mmdb')
    const replace = (bytes: string | Uint8Array) => replaceFile(followed, bytes)
    replace(DATABASE)
    const more = ['--watch', '--workers', '2', '--metrics-port', '0', '--log', 'json']
    const service = await started('--keys', keys, '--db', followed, ...more)
    const metrics = async () => (await get(`${service.metrics}/metrics`)).text
    replace(DATABASE)
    await service.until('reload', 2)
    replace('damaged')
    await service.until('reload-refused', 2)
    for (let index = 0; index < 20; index++) await get(service.origin + LONDON)
    const requests = 'geofix_requests_total{operation="lookup",status="200"} 20\n'
    const text = await metrics()
    expect(text).toContain(requests)
    expect(text).toMatch(/^geofix_database_reloads 1$/m)
    expect(text).toMatch(/^geofix_database_refusals 1$/m)
    replace(DATABASE)
    await service.until('reload', 4)
    // All workers die, one after another.
    for (let died = 1; died <= 2; died++) {
      process.kill(Number((await service.until('worker-started', died)).pid), 'SIGKILL')
      await service.until('worker-died', died)
      expect(await metrics()).toContain(requests)
    }
    expect(await service.stop()).toBe(0)
  })

  it('share one budget', async () => {
    const plan = ['--plan', 'free=1,1,0', '--plan', 'developer=0.2,4,1', '--plan', 'business=1,1,1']
    const service = await started('--keys', keys, '--workers', '2', ...plan)
    const statuses: number[] = []
    for (let index = 0; index < 8; index++) statuses.push((await get(service.origin + LONDON)).status)
    expect(statuses.filter((status) => status === 200)).toHaveLength(4)
    expect(statuses.filter((status) => status === 429)).toHaveLength(4)
    expect(await service.stop('SIGINT')).toBe(0)
  })

  it('end if none of them can start', async () => {
    const missing = join(folder, 'none.mmdb')
    const child = start(['serve', '--open', '--workers', '2', '--port', '0', '--db', missing])
    expect(await outcomeOf(child)).toMatchObject({ status: 1, err: expect.stringContaining('none.mmdb') })
  })
})
