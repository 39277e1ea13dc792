// The worker of scripts/examples on NATS JetStream: workers are killed and paused, and the server is started again.
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { expect, it, onTestFinished } from 'vitest'
import { freePort } from '../../scripts/free-port.ts'
import { words } from '../cli/enrich/command-line.ts'
import { ROOT } from '../package/project.ts'
import { temporaryFolder } from '../temporary.ts'
import { describeEngine, engineFolder, hasCommand } from './engine.ts'

const MESSAGES = 20_000
/** A message that is not acknowledged comes again after this time. */
const ACK_WAIT_MS = 3000

const packages = hasCommand('nats-server')
  ? engineFolder('nats', { '@nats-io/jetstream': '3.4.0', '@nats-io/transport-node': '3.4.0' })
  : null

const WORKER = readFileSync(join(ROOT, 'scripts/examples/engines/nats-worker.mjs'), 'utf8')

/** What these tests use of the packages of NATS. */
interface StreamManager {
  readonly streams: {
    info(name: string): Promise<{ state: { messages: number } }>
  }
  readonly consumers: {
    info(stream: string, name: string): Promise<{ num_pending: number; num_ack_pending: number }>
  }
}
interface Stream {
  publish(subject: string, data: Uint8Array): Promise<unknown>
  readonly consumers: {
    get(stream: string): Promise<{
      fetch(options: { max_messages: number; expires: number }): Promise<AsyncIterable<{ data: Uint8Array }>>
    }>
  }
}
interface Connection {
  close(): Promise<void>
}
interface Nats {
  connect(options: { servers: string; maxReconnectAttempts: number }): Promise<Connection>
  jetstream(connection: Connection): Stream
  jetstreamManager(connection: Connection): Promise<StreamManager>
}

describeEngine('NATS JetStream', packages !== null, () => {
  const start = (file: string, args: readonly string[], env: Record<string, string> = {}): ChildProcess => {
    const child = spawn(file, args, {
      env: { ...process.env, ...env },
      stdio: ['ignore', 'ignore', 'inherit'],
    })
    onTestFinished(() => void child.kill('SIGKILL'))
    return child
  }

  it('is an example of at most 40 lines', () => {
    expect(WORKER.trimEnd().split('\n').length).toBeLessThanOrEqual(40)
  })

  it('loses and doubles no message', async () => {
    const folder = packages ?? ''
    writeFileSync(join(folder, 'worker.mjs'), WORKER)
    const load = createRequire(join(folder, 'any.js'))
    const { connect, jetstream, jetstreamManager }: Nats = {
      ...load('@nats-io/transport-node'),
      ...load('@nats-io/jetstream'),
    }
    const port = await freePort()
    const store = temporaryStore
    const serve = () =>
      start('nats-server', words`-js -a 127.0.0.1 -p ${String(port)} -sd ${store} -l ${join(store, 'log')}`)
    const servers = `nats://127.0.0.1:${port}`
    const work = () =>
      start(process.execPath, [join(folder, 'worker.mjs')], {
        NATS_URL: servers,
        ACK_WAIT_MS: String(ACK_WAIT_MS),
      })

    let server = serve()
    const connection = await retried(() => connect({ servers, maxReconnectAttempts: -1 }))
    const manager = await jetstreamManager(connection)
    const stream = jetstream(connection)
    const stored = async (): Promise<number> => (await manager.streams.info('LOCATED')).state.messages
    const until = async (share: number): Promise<void> => {
      while ((await retried(stored)) < share * MESSAGES) await wait(5)
      if (share < 1) expect(await stored()).toBeLessThan(MESSAGES)
    }

    // The first worker makes the streams, and stops until all messages are there.
    const killed = work()
    await retried(() => manager.consumers.info('EVENTS', 'geofix'))
    killed.kill('SIGSTOP')
    for (let first = 0; first < MESSAGES; first += 500) {
      const batch = Array.from({ length: 500 }, (_, index) => event(first + index))
      await Promise.all(batch.map((data) => stream.publish('events', data)))
    }
    const paused = work()
    killed.kill('SIGCONT')
    await until(0.4)
    killed.kill('SIGKILL')
    work()
    await until(0.5)
    paused.kill('SIGSTOP')
    await until(0.6)
    server.kill('SIGKILL')
    await once(server, 'exit')
    server = serve()
    await wait(2 * ACK_WAIT_MS)
    paused.kill('SIGCONT')

    await until(1)
    const isDone = async (): Promise<boolean> => {
      const { num_pending, num_ack_pending } = await manager.consumers.info('EVENTS', 'geofix')
      return num_pending === 0 && num_ack_pending === 0
    }
    while (!(await retried(isDone))) await wait(100)
    // A message that was delivered again would be stored by now.
    await wait(2 * ACK_WAIT_MS)
    expect(await isDone()).toBe(true)

    const numbers: number[] = []
    const consumer = await stream.consumers.get('LOCATED')
    while (numbers.length < (await stored())) {
      for await (const { data } of await consumer.fetch({ max_messages: 1000, expires: 2000 })) {
        const { id, location } = JSON.parse(new TextDecoder().decode(data))
        expect(location?.country.code ?? null).toBe(id % 3 === 0 ? 'GB' : null)
        numbers.push(id)
      }
    }
    expect(numbers).toHaveLength(MESSAGES)
    expect(new Set(numbers).size).toBe(MESSAGES)
    await connection.close()
  })
})

/** Outside the describe block, because hooks of a skipped one do not run. */
const temporaryStore = temporaryFolder()

/** An event with an address in London, a private one, or none. */
function event(id: number): Uint8Array {
  const ip = ['81.2.69.142', '10.0.0.1', null][id % 3]
  return new TextEncoder().encode(
    JSON.stringify({ id, client: { ip }, '@timestamp': '2026-07-01T12:00:00Z', text: 'x'.repeat(200) }),
  )
}

/** Calls a function until it succeeds: the server may not be there yet. */
async function retried<Result>(call: () => Promise<Result>): Promise<Result> {
  const end = performance.now() + 60_000
  for (;;) {
    try {
      return await call()
    } catch (error) {
      if (performance.now() > end) throw error
      await wait(200)
    }
  }
}
