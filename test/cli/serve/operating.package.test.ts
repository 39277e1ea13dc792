import { setTimeout as delay } from 'node:timers/promises'
import { Agent } from 'undici'
import { describe, expect, it, onTestFinished } from 'vitest'
import { temporaryFolder } from '../../temporary.ts'
import { startServe } from './process.ts'
import { ask, LONDON, writeFiles } from './running.ts'

const folder = temporaryFolder()

describe('draining', () => {
  it('of several processes loses no request of clients with kept connections', async () => {
    const { database, keys } = writeFiles(folder)
    const ample = ['free', 'developer', 'business'].flatMap((plan) => ['--plan', `${plan}=100000,100000,10`])
    const files = ['--db', database, '--keys', keys]
    const service = await startServe(...files, ...ample, '--workers', '2', '--drain', '3600')
    const client = new Agent({ connections: 4 })
    onTestFinished(() => client.destroy())
    const connectionAfter = async (path: string) => {
      const { status, headers } = await ask(service.origin + path, { dispatcher: client })
      return { status, connection: headers.connection }
    }
    let kept = 0
    let closed = 0
    // Each client asks on and on, before and after the signal. A request that fails fails the test.
    const clients = Array.from({ length: 8 }, async () => {
      while (closed < 400) {
        const { status, connection } = await connectionAfter(LONDON)
        expect(status).toBe(200)
        if (connection === 'keep-alive') kept++
        else closed++
      }
    })
    while (kept < 100) await delay(10)
    expect(closed).toBe(0)
    service.child.kill('SIGTERM')
    await Promise.all(clients)
    await service.until('stopping', 3) // Of both workers, and of their primary process.
    expect(await connectionAfter('/readyz')).toEqual({ status: 503, connection: 'close' })
    expect(await connectionAfter('/healthz')).toEqual({ status: 200, connection: 'close' })
    expect(
      service.lines().filter(({ event, status }) => event === 'request' && status === 200).length,
    ).toBeGreaterThan(400)
    // A second signal ends it at once.
    expect(await service.stop()).toBe(1)
  })
})

describe('the metrics of several processes', () => {
  it('are given while one of them dies', async () => {
    const { database, keys } = writeFiles(folder)
    const args = ['--db', database, '--keys', keys, '--workers', '2', '--metrics-port', '0']
    const service = await startServe(...args, '--log', 'json')
    const client = new Agent({ connections: 1 })
    onTestFinished(() => client.destroy())
    const askMetrics = () => ask(`${service.metrics}/metrics`, { dispatcher: client })
    expect((await askMetrics()).status).toBe(200)
    const { pid } = await service.until('worker-started')
    // The primary process wakes up with the request before it, and with a worker that it cannot ask.
    service.child.kill('SIGSTOP')
    const asked = askMetrics()
    await delay(300)
    process.kill(Number(pid), 'SIGKILL')
    await delay(300)
    service.child.kill('SIGCONT')
    expect((await asked).status).toBe(200)
    await service.until('worker-died')
  })
})
