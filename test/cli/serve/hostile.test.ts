import { connect, type Socket } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { effort, TRIES_ALL } from '../../effort.ts'
import { temporaryFolder } from '../../temporary.ts'
import { KEYS, type Service, serve } from './running.ts'

const folder = temporaryFolder()
let service: Service
beforeAll(async () => {
  service = await serve(folder)
})
afterAll(() => service.stop())

const HOST = 'Host: geo.example\r\n'
const KEY = `Authorization: Bearer ${KEYS.developer}\r\n`
const LONDON = '/v1/ip/81.2.69.142'

function open(): Socket {
  const socket = connect(service.port, '127.0.0.1')
  socket.on('error', () => {})
  return socket
}

/**
 * Sends bytes as they are. Gives what comes back until the server closes, or is silent for some time after `count`
 * answers.
 */
async function raw(text: string | Uint8Array, count = 1): Promise<string> {
  const socket = open()
  let answer = ''
  let last = Date.now()
  let isClosed = false
  socket.on('data', (chunk) => {
    answer += chunk.toString('latin1')
    last = Date.now()
  })
  socket.on('close', () => {
    isClosed = true
  })
  socket.write(text)
  const silence = () => Date.now() - last
  while (!isClosed && silence() < (statusesOf(answer).length < count ? 10_000 : 150)) await delay(5)
  socket.destroy()
  return answer
}

const statusesOf = (answer: string) =>
  Array.from(answer.matchAll(/HTTP\/1\.1 (\d{3}) /g), ([, status]) => Number(status))
const recordsIn = (answer: string) => answer.split('"ip":"').length - 1

describe('hostile requests', () => {
  it.each<[what: string, request: string, statuses: number[]]>([
    ['no Host', `GET ${LONDON} HTTP/1.1\r\n${KEY}\r\n`, [400]],
    ['a malformed Host', `GET ${LONDON} HTTP/1.1\r\nHost: a b\r\n${KEY}\r\n`, [400]],
    ['a Host with a path', `GET ${LONDON} HTTP/1.1\r\nHost: x/v1/ip/1.1.1.1?\r\n${KEY}\r\n`, [400]],
    ['two lines Host', `GET ${LONDON} HTTP/1.1\r\n${HOST}${HOST}${KEY}\r\n`, [400]],
    ['two names in Host', `GET ${LONDON} HTTP/1.1\r\nHost: a,b\r\n${KEY}\r\n`, [400]],
    ['no HTTP', 'hello\r\n\r\n', [400]],
    ['TLS', '\u0016\u0003\u0001\u0002\u0000\u0001\u0000\u0001\u00fc\u0003\u0003', [400]],
    [
      'both lengths',
      `POST /v1/ip/batch HTTP/1.1\r\n${HOST}${KEY}Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`,
      [400],
    ],
    [
      'two lengths',
      `POST /v1/ip/batch HTTP/1.1\r\n${HOST}${KEY}Content-Length: 2\r\nContent-Length: 3\r\n\r\n[]`,
      [400],
    ],
    [
      'a length that is none',
      `POST /v1/ip/batch HTTP/1.1\r\n${HOST}${KEY}Content-Length: 0x2\r\n\r\n[]`,
      [400],
    ],
    ['a negative length', `POST /v1/ip/batch HTTP/1.1\r\n${HOST}${KEY}Content-Length: -1\r\n\r\n`, [400]],
    [
      'an obfuscated coding',
      `POST /v1/ip/batch HTTP/1.1\r\n${HOST}${KEY}Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n`,
      [400],
    ],
    [
      'a coding before chunked',
      `POST /v1/ip/batch HTTP/1.1\r\n${HOST}${KEY}Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n`,
      [501],
    ],
    [
      'a coding before chunked, in two lines',
      `POST /v1/ip/batch HTTP/1.1\r\n${HOST}${KEY}Transfer-Encoding: gzip\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`,
      [501],
    ],
    [
      'a coding in HTTP/1.0',
      `POST /v1/ip/batch HTTP/1.0\r\n${HOST}${KEY}Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n`,
      [400],
    ],
    [
      'a coding on GET',
      `GET ${LONDON} HTTP/1.1\r\n${HOST}${KEY}Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n`,
      [501],
    ],
    [
      'a space before a colon',
      `GET ${LONDON} HTTP/1.1\r\n${HOST}Authorization : Bearer ${KEYS.developer}\r\n\r\n`,
      [400],
    ],
    ['a folded line', `GET ${LONDON} HTTP/1.1\r\n${HOST}X: a\r\n b\r\n${KEY}\r\n`, [400]],
    ['a NUL in a field', `GET ${LONDON} HTTP/1.1\r\n${HOST}X: \u0000\r\n${KEY}\r\n`, [400]],
    ['a bare line feed', `GET ${LONDON} HTTP/1.1\nHost: x\n${KEY.trim()}\n\n`, [400]],
    [
      'a wrong chunk',
      `POST /v1/ip/batch HTTP/1.1\r\n${HOST}${KEY}Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n[]\r\n0\r\n\r\n`,
      [400],
    ],
    ['a header too long', `GET ${LONDON} HTTP/1.1\r\n${HOST}X: ${'x'.repeat(20_000)}\r\n${KEY}\r\n`, [431]],
    ['a target too long', `GET /v1/ip/${'1'.repeat(20_000)} HTTP/1.1\r\n${HOST}${KEY}\r\n`, [431]],
    ['many fields', `GET ${LONDON} HTTP/1.1\r\n${HOST}${KEY}${'a:b\r\n'.repeat(3000)}\r\n`, [200]],
    ['an expectation', `GET ${LONDON} HTTP/1.1\r\n${HOST}${KEY}Expect: something\r\n\r\n`, [417]],
    [
      '100-continue',
      `POST /v1/ip/batch HTTP/1.1\r\n${HOST}${KEY}Content-Type: application/json\r\nContent-Length: 2\r\nExpect: 100-continue\r\n\r\n[]`,
      [100, 200],
    ],
    ['CONNECT', `CONNECT example.com:443 HTTP/1.1\r\n${HOST}${KEY}\r\n`, [501]],
    ['TRACE', `TRACE ${LONDON} HTTP/1.1\r\n${HOST}${KEY}\r\n`, [405]],
    [
      'an upgrade',
      `GET ${LONDON} HTTP/1.1\r\n${HOST}${KEY}Connection: upgrade\r\nUpgrade: websocket\r\n\r\n`,
      [200],
    ],
    ...[
      '/v1\\ip',
      '/v1/ip/../../etc/passwd',
      '/v1/ip/%2e%2e/%2E./healthz',
      '/v1/./ip/81.2.69.142',
      '/v1/ip/x/%2e%2e/81.2.69.142',
      '/healthz/.',
      'http://other.example/v1/./ip/81.2.69.142',
      `${LONDON}#/../x`,
      '/v1/ip%2f81.2.69.142',
      '/v1%2Fip/81.2.69.142',
      '/v1%5cip/81.2.69.142',
      '/healthz%2f',
    ].map((target): [string, string, number[]] => [
      `the target ${target}`,
      `GET ${target} HTTP/1.1\r\n${HOST}${KEY}\r\n`,
      [400],
    ]),
    ['HTTP/2.0', `GET ${LONDON} HTTP/2.0\r\n${HOST}${KEY}\r\n`, [505]],
    ['HTTP/3.0', `GET ${LONDON} HTTP/3.0\r\n${HOST}${KEY}\r\n`, [505]],
    ['HTTP/1.2', `GET ${LONDON} HTTP/1.2\r\n${HOST}${KEY}\r\n`, [505]],
    ['HTTP/0.9', `GET ${LONDON} HTTP/0.9\r\n${HOST}${KEY}\r\n`, [400]],
    ['no version', `GET ${LONDON}\r\n${HOST}${KEY}\r\n`, [400]],
    ['dots in the query', `GET ${LONDON}?x=/../%2f HTTP/1.1\r\n${HOST}${KEY}\r\n`, [200]],
    ['a NUL', `GET ${LONDON}%00 HTTP/1.1\r\n${HOST}${KEY}\r\n`, [400]],
    ['an absolute target', `GET http://other.example${LONDON} HTTP/1.1\r\n${HOST}${KEY}\r\n`, [200]],
    ['an absolute target without a key', `GET http://other.example${LONDON} HTTP/1.1\r\n${HOST}\r\n`, [401]],
    ['an asterisk', `OPTIONS * HTTP/1.1\r\n${HOST}${KEY}\r\n`, [400]],
    ['two keys', `GET ${LONDON} HTTP/1.1\r\n${HOST}${KEY}${KEY}\r\n`, [401]],
    [
      'a wrong and a right key',
      `GET ${LONDON} HTTP/1.1\r\n${HOST}Authorization: Bearer x\r\n${KEY}\r\n`,
      [401],
    ],
    ['HTTP/1.0', `GET ${LONDON} HTTP/1.0\r\n${KEY}\r\n`, [200]],
    ['a body on GET', `GET ${LONDON} HTTP/1.1\r\n${HOST}${KEY}Content-Length: 5\r\n\r\nGET /`, [200]],
  ])('%s: %#', async (_, request, statuses) => {
    const answer = await raw(Buffer.from(request, 'latin1'), statuses.length)
    expect(statusesOf(answer), answer).toEqual(statuses)
    if (statuses[0] !== 200) expect(recordsIn(answer)).toBe(0)
    // Each refusal is a problem, and closes the connection if it is not certain what follows.
    if (Number(statuses[0]) >= 400) {
      const [, body = ''] = answer.split('\r\n\r\n')
      expect(JSON.parse(body).status).toBe(statuses[0])
      expect(answer).toMatch(/^x-content-type-options: nosniff\r$/im)
    }
    if (statuses[0] === 417 || statuses[0] === 501) expect(answer).toMatch(/^connection: close\r$/im)
  })

  it('in one connection are answered in their order, each by its own key', async () => {
    const get = (path: string, key: string) => `GET ${path} HTTP/1.1\r\n${HOST}${key}\r\n`
    const answer = await raw(
      get(LONDON, KEY) +
        get(LONDON, '') +
        get('/v1/ip/133.11.93.3', KEY) +
        get('/v1/ip/10.0.0.1', KEY) +
        get(LONDON, ''),
      5,
    )
    expect(statusesOf(answer)).toEqual([200, 401, 200, 422, 401])
    expect(Array.from(answer.matchAll(/"ip":"([^"]+)"/g), ([, ip]) => ip)).toEqual([
      '81.2.69.142',
      '133.11.93.3',
    ])
  })

  it('with a body shorter than its Content-Length get no answer to the bytes that follow', async () => {
    const smuggled = `GET ${LONDON} HTTP/1.1\r\n${HOST}${KEY}\r\n`
    const post = `POST /v1/ip/batch HTTP/1.1\r\n${HOST}Content-Type: application/json\r\nContent-Length: ${smuggled.length}\r\n\r\n`
    const answer = await raw(post + smuggled)
    expect(statusesOf(answer)).toEqual([401])
    expect(recordsIn(answer)).toBe(0)
  })

  it('whose connection was reset are no faults', async () => {
    const before = service.lines().length
    for (let index = 0; index < 50; index++) {
      const socket = open()
      socket.write(`GET /v1/ip HTTP/1.1\r\n${HOST}${KEY}\r\n`.repeat(3), () => socket.resetAndDestroy())
    }
    await delay(200)
    expect(await raw(`GET ${LONDON} HTTP/1.1\r\n${HOST}${KEY}\r\n`)).toContain('200 OK')
    const statuses = service
      .lines()
      .slice(before)
      .flatMap(({ status }) => status ?? [])
    // The peer is known since it connected: no line is missing, and none is a fault.
    expect(statuses.every((status) => status === 200 || status === 422)).toBe(true)
  })

  it('with an endless body are cut off', async () => {
    const socket = open()
    let answer = ''
    socket.on('data', (chunk) => {
      answer += chunk.toString()
    })
    const closed = new Promise((resolve) => socket.on('close', resolve))
    socket.write(
      `POST /v1/ip/batch HTTP/1.1\r\n${HOST}${KEY}Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n`,
    )
    const chunk = `10000\r\n${' '.repeat(65_536)}\r\n`
    let sent = 0
    const feed = setInterval(() => {
      if (socket.writableLength < 2 ** 20 && !socket.destroyed) {
        socket.write(chunk)
        sent += 65_536
      }
    }, 1)
    await closed
    clearInterval(feed)
    expect(statusesOf(answer)).toEqual([413])
    expect(sent).toBeLessThan(70 * 2 ** 20)
  })
})

describe('slow clients', () => {
  // Waits for the ten seconds that the server gives a header.
  if (TRIES_ALL) {
    it('with an unfinished header are cut off in bounded time', async () => {
      const socket = open()
      const closed = new Promise((resolve) => socket.on('close', resolve))
      let answer = ''
      socket.on('data', (chunk) => {
        answer += chunk.toString()
      })
      socket.write('GET / HTTP/1.1\r\n')
      const drip = setInterval(() => socket.write('X: y\r\n'), 500)
      await closed
      clearInterval(drip)
      expect(statusesOf(answer)).toEqual([408])
    })
  }

  it('do not keep others waiting', async () => {
    const slow = Array.from({ length: 200 }, open)
    for (const socket of slow)
      socket.write(`POST /v1/ip/batch HTTP/1.1\r\n${HOST}${KEY}Content-Length: 100\r\n\r\n[`)
    const answer = await raw(`GET ${LONDON} HTTP/1.1\r\n${HOST}${KEY}Connection: close\r\n\r\n`)
    expect(statusesOf(answer)).toEqual([200])
    for (const socket of slow) socket.destroy()
  })
})

describe('many connections', () => {
  const many = effort({ short: 500, long: 20_000 })
  it('opened and left in turn leave nothing behind', { timeout: 1_200_000 }, async () => {
    const visit = () =>
      new Promise<void>((resolve) => {
        const socket = open()
        socket.on('close', () => resolve())
        socket.on('connect', () => socket.resetAndDestroy())
      })
    const visits = async (count: number) => {
      for (let done = 0; done < count; done += 50) await Promise.all(Array.from({ length: 50 }, visit))
    }
    await visits(effort({ short: 500, long: 2000 }))
    globalThis.gc?.()
    const before = process.memoryUsage().heapUsed
    await visits(many)
    globalThis.gc?.()
    expect(process.memoryUsage().heapUsed - before).toBeLessThan(32 * 2 ** 20)
    const answer = await raw(`GET ${LONDON} HTTP/1.1\r\n${HOST}${KEY}Connection: close\r\n\r\n`)
    expect(statusesOf(answer)).toEqual([200])
  })
})
