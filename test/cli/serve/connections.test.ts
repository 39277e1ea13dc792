import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import { describe, expect, it, onTestFinished } from 'vitest'
import { connectionLimit } from '../../../src/cli/serve/connections.ts'
import {
  type AnswerFunction,
  makeServer,
  plain,
  type ServerOptions,
  stop,
} from '../../../src/cli/serve/http-server.ts'
import { portOf } from '../../listening.ts'
import { raw, statusesOf } from './raw.ts'

/** More than the system keeps for a connection whose client does not read: about 6 MB on loopback. */
const LARGE = new Uint8Array(16 * 2 ** 20)
const SMALL = new Uint8Array(1)

/** Answers with many bytes, with the body of the request, or with one byte. */
const echo: AnswerFunction = async (asked) => {
  const body = asked.method === 'POST' ? await asked.body(2 ** 20).catch(() => null) : null
  return plain(null, { status: 200, headers: [], body: asked.url === '/large' ? LARGE : (body ?? SMALL) })
}

/** A server with these limits, and why it has closed connections. */
async function served(limits: ServerOptions, answer = echo) {
  const reasons: string[] = []
  const server = makeServer(answer, { ...limits, closed: (why) => reasons.push(why) })
  const port = await portOf(server)
  onTestFinished(() => stop(server, 0))
  const open = (localAddress = '127.0.0.1'): Socket => {
    const socket = connect({ port, host: '127.0.0.1', localAddress })
    socket.on('error', () => {})
    onTestFinished(() => void socket.destroy())
    return socket
  }
  return { server, port, open, reasons, cuts: () => reasons.length }
}

const get = (path: string) => `GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`

/** Reads to the end of a connection. */
async function lengthOf(socket: Socket): Promise<number> {
  let length = 0
  socket.on('data', (chunk) => {
    length += chunk.length
  })
  await once(socket, 'close')
  return length
}

/** Asks and does not read. */
function askOnly(socket: Socket): Socket {
  socket.pause()
  socket.write(get('/large'))
  return socket
}

describe('clients that do not read', () => {
  it('lose their oldest connections if all together hold too much; one that reads does not', async () => {
    const { open, cuts } = await served({ maxHeldBytes: 3.5 * LARGE.length })
    const stuck = Array.from({ length: 8 }, () => askOnly(open('127.0.0.2')))
    while (cuts() < 5) await delay(10)
    const reader = open()
    const read = lengthOf(reader)
    reader.write(`${get('/large').replace('Host', 'Connection: close\r\nHost')}`)
    expect(await read).toBeGreaterThan(LARGE.length)
    // The newest ones remain.
    expect(cuts()).toBeLessThanOrEqual(6)
    for (const socket of stuck) socket.destroy()
  })

  it('lose their connection if they take too long', async () => {
    const { open, cuts } = await served({ slowMs: 20, minRate: 2 ** 40 })
    const socket = askOnly(open())
    while (cuts() < 1) await delay(10)
    expect(await lengthOf(socket.resume())).toBeLessThan(LARGE.length)
  })

  it('get no other answer on a connection that holds too much', async () => {
    const { open, cuts } = await served({})
    const socket = open()
    socket.pause()
    socket.write(get('/large') + get('/small'))
    while (cuts() < 1) await delay(10)
    expect(await lengthOf(socket.resume())).toBeLessThan(LARGE.length)
  })

  it('hold nothing more once they have read', async () => {
    // Each client has read its answer when it asks again. More than three such answers at once would be too much.
    const { open, cuts } = await served({ maxHeldBytes: 3.5 * LARGE.length })
    const [first, second] = [open(), open()]
    for (let round = 0; round < 4; round++) {
      for (const socket of [first, second]) {
        let length = 0
        const count = (chunk: Uint8Array) => {
          length += chunk.length
        }
        socket.on('data', count)
        socket.resume()
        socket.write(get('/large'))
        while (length < LARGE.length) await delay(1)
        await delay(20)
        socket.off('data', count)
        socket.pause()
      }
    }
    expect(cuts()).toBe(0)
  })
})

describe('clients that send bodies slowly', () => {
  it.each(['Content-Length: 1000000', 'Transfer-Encoding: chunked'])(
    'with %s lose their oldest connections if all together hold too much',
    async (framing) => {
      const { open, cuts } = await served({ maxHeldBytes: 2_000_000 })
      const head = `POST /small HTTP/1.1\r\nHost: x\r\n${framing}\r\n\r\n`
      const size = 900_000
      const part = framing.startsWith('T') ? `${size.toString(16)}\r\n${' '.repeat(size)}` : ' '.repeat(size)
      for (let index = 0; index < 6; index++) open().write(head + part)
      while (cuts() < 4) await delay(10)
      await delay(50)
      expect(cuts()).toBe(4)
    },
  )

  it('hold nothing after their answers', async () => {
    const { open, cuts } = await served({ maxHeldBytes: 1_500_000 })
    const socket = open()
    socket.resume()
    let length = 0
    socket.on('data', (chunk) => {
      length += chunk.length
    })
    for (let round = 1; round <= 5; round++) {
      socket.write(`POST /small HTTP/1.1\r\nHost: x\r\nContent-Length: 900000\r\n\r\n${' '.repeat(900_000)}`)
      while (length < 900_000 * round) await delay(1)
    }
    expect(cuts()).toBe(0)
  })
})

describe('connections', () => {
  /** Asks over a connection, so that the server has it. @returns whether it answers */
  const isAnswered = (socket: Socket): Promise<boolean> =>
    new Promise((resolve) => {
      socket.once('data', () => resolve(true)).once('close', () => resolve(false))
      socket.write(get('/small'))
    })

  it('of one client are limited, and those of a trusted proxy are not', async () => {
    const { open, reasons } = await served({ maxPerClient: 3 })
    const first = open()
    expect(await isAnswered(first)).toBe(true)
    for (const isOne of [true, true, false, false]) expect(await isAnswered(open())).toBe(isOne)
    expect(reasons).toEqual(['refused', 'refused'])
    const closed = once(first, 'close')
    first.end()
    await closed
    while (!(await isAnswered(open()))) await delay(1)
    const proxied = await served({ maxPerClient: 3, isProxy: () => true })
    for (let count = 0; count < 5; count++) expect(await isAnswered(proxied.open())).toBe(true)
  })

  it('of one client are a tenth of all by default', async () => {
    const { open } = await served({ max: 20 })
    for (const isOne of [true, true, false]) expect(await isAnswered(open())).toBe(isOne)
  })

  it('that are idle give way, so that health is answered though one client holds all', async () => {
    const { open, reasons } = await served({ max: 20, maxPerClient: 1000 })
    const held = Array.from({ length: 20 }, () => open())
    for (const socket of held) await isAnswered(socket)
    expect(reasons).toEqual([])
    const closed = once(held[0] ?? expect.fail(), 'close')
    expect(await isAnswered(open())).toBe(true)
    expect(reasons).toEqual(['evicted'])
    await closed // The longest idle.
    expect(held[1]?.destroyed).toBe(false)
  })

  it('whose clients do not send their requests give way, even if all are like that', async () => {
    const { server, port, reasons } = await served({ max: 5, maxPerClient: 1000 })
    const held: Promise<string>[] = []
    let begun = 0
    server.on('request', () => begun++)
    for (let count = 0; count < 5; count++) {
      held.push(raw({ port }, 'POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\n['))
      while (begun <= count) await delay(5)
    }
    expect(statusesOf(await raw({ port }, get('/small'), 1))).toEqual([200])
    expect(reasons).toEqual(['evicted'])
    expect(await held[0]).toBe('')
  })

  it('that are busy do not give way', async () => {
    const waiting: (() => void)[] = []
    const { port, reasons } = await served({ max: 2, maxPerClient: 10 }, async (asked) => {
      await new Promise<void>((resolve) => waiting.push(resolve))
      return echo(asked, '')
    })
    const ask = () => raw({ port }, get('/small'), 1).then(statusesOf)
    const busy = [ask(), ask()]
    while (waiting.length < 2) await delay(5)
    expect(await ask()).toEqual([])
    expect(reasons).toEqual(['refused'])
    for (const finish of waiting) finish()
    expect(await Promise.all(busy)).toEqual([[200], [200]])
  })

  it.each([
    // Few descriptors: a fourth.
    [64, 16],
    [128, 32],
    // The usual soft limit.
    [1024, 928],
    // The unit file of the guide.
    [16_384, 10_000],
    // Windows.
    [Number.POSITIVE_INFINITY, 10_000],
  ])('of %d descriptors take at most %d', (limit, most) => {
    expect(connectionLimit(10_000, limit)).toBe(most)
  })

  it('are limited in this process too', () => {
    expect(connectionLimit(10_000)).toBeGreaterThan(0)
    expect(connectionLimit(1)).toBe(1)
  })
})
