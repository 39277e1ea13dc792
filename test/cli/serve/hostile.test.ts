import { connect, type Socket } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import { afterAll, describe, expect, it } from 'vitest'
import { effort, TRIES_ALL } from '../../effort.ts'
import { temporaryFolder } from '../../temporary.ts'
import { CHUNKED, CLOSE, fieldOf, HOST, JSON_TYPE, raw as send, statusesOf } from './raw.ts'
import { KEY, LONDON, serve } from './running.ts'

const folder = temporaryFolder()
const service = await serve(folder, {}, afterAll)

function open(): Socket {
  const socket = connect(service.port, '127.0.0.1')
  socket.on('error', () => {})
  return socket
}

/** At most one answer is expected, but more are noticed. */
const raw = (text: string, count = 1): Promise<string> => send(service, text, count)

const recordsIn = (answer: string) => answer.split('"ip":"').length - 1

const get = (target = LONDON, lines = '', version = 'HTTP/1.1') =>
  `GET ${target} ${version}\r\n${HOST}${KEY}${lines}\r\n`
const post = (lines: string, body = '') => `POST /v1/ip/batch HTTP/1.1\r\n${HOST}${KEY}${lines}\r\n${body}`
const NOTHING = '0\r\n\r\n'
const GZIP_CHUNKED = 'Transfer-Encoding: gzip, chunked\r\n'

/** Sends a request whose one answer is a problem with its line in the log. @returns the answer */
async function refused(request: string, status: number): Promise<string> {
  const answer = await raw(request)
  expect(statusesOf(answer), answer).toEqual([status])
  expect(recordsIn(answer)).toBe(0)
  expect(JSON.parse(answer.split('\r\n\r\n')[1] ?? '').status).toBe(status)
  expect(fieldOf(answer, 'content-type')).toBe('application/problem+json')
  expect(fieldOf(answer, 'x-content-type-options')).toBe('nosniff')
  const id = fieldOf(answer, 'x-request-id')
  expect(service.lines().find((line) => line.id === id)).toMatchObject({ event: 'request', status })
  return answer
}

describe('hostile requests', () => {
  it.each<[what: string, request: string, status: number]>([
    ['no Host', `GET ${LONDON} HTTP/1.1\r\n${KEY}\r\n`, 400],
    ['no HTTP', 'hello\r\n\r\n', 400],
    ['TLS', '\u0016\u0003\u0001\u0002\u0000\u0001\u0000\u0001\u00fc\u0003\u0003', 400],
    ['both lengths', post(`Content-Length: 5\r\n${CHUNKED}`, NOTHING), 400],
    ['two lengths', post('Content-Length: 2\r\nContent-Length: 3\r\n', '[]'), 400],
    ['a length that is none', post('Content-Length: 0x2\r\n', '[]'), 400],
    ['a negative length', post('Content-Length: -1\r\n'), 400],
    ['an obfuscated coding', post('Transfer-Encoding: xchunked\r\n', NOTHING), 400],
    ['a coding before chunked', post(GZIP_CHUNKED, NOTHING), 501],
    ['a coding before chunked, in two lines', post(`Transfer-Encoding: gzip\r\n${CHUNKED}`, NOTHING), 501],
    ['a coding after chunked', post('Transfer-Encoding: chunked, gzip\r\n'), 400],
    ['a coding in HTTP/1.0', post(CHUNKED, NOTHING).replace('/1.1', '/1.0'), 400],
    ['a coding in HTTP/1.0 on GET', get(LONDON, CHUNKED, 'HTTP/1.0') + NOTHING, 400],
    ['a coding on GET', get(LONDON, GZIP_CHUNKED) + NOTHING, 501],
    ['a space before a colon', get().replace('Authorization:', 'Authorization :'), 400],
    ['a folded line', get(LONDON, 'X: a\r\n b\r\n'), 400],
    ['a NUL in a field', get(LONDON, 'X: \u0000\r\n'), 400],
    ['a bare line feed', get().replaceAll('\r', ''), 400],
    ['a header too long', get(LONDON, `X: ${'x'.repeat(20_000)}\r\n`), 431],
    ['a target too long', get(`/v1/ip/${'1'.repeat(20_000)}`), 431],
    ['CONNECT', `CONNECT example.com:443 HTTP/1.1\r\n${HOST}${KEY}\r\n`, 501],
    ['an expectation', get(LONDON, 'Expect: something\r\n'), 417],
    ['HTTP/0.9', get(LONDON, '', 'HTTP/0.9'), 400],
    ['no version', `GET ${LONDON}\r\n${HOST}${KEY}\r\n`, 400],
  ])(
    'of which nobody knows where they end are refused, and the connection closed: %s',
    async (_, request, status) => {
      expect(fieldOf(await refused(request, status), 'connection')).toBe('close')
    },
  )

  it.each<[what: string, request: string, status: number]>([
    ['two lines Host', get(LONDON, HOST), 400],
    ['HTTP/2.0', get(LONDON, '', 'HTTP/2.0'), 505],
    ['HTTP/1.2', get(LONDON, '', 'HTTP/1.2'), 505],
    ['a NUL', get(`${LONDON}%00`), 400],
    ['an absolute target without a key', get(`http://other.example${LONDON}`).replace(KEY, ''), 401],
    ['a wrong and a right key', get().replace(KEY, `Authorization: Bearer x\r\n${KEY}`), 401],
    ...(
      `/v1\\ip /v1/ip/../../etc/passwd /v1/ip/%2e%2e/%2E./healthz /v1/./ip/81.2.69.142 ` +
      '/v1/ip/x/%2e%2e/81.2.69.142 /healthz/. http://other.example/v1/./ip/81.2.69.142 ' +
      `${LONDON}#/../x /v1/ip%2f81.2.69.142 /v1%2Fip/81.2.69.142 /v1%5cip/81.2.69.142 ` +
      '/healthz%2f'
    )
      .split(' ')
      .map((target): [string, string, number] => [`the target ${target}`, get(target), 400]),
  ])('are refused: %s', async (_, request, status) => {
    await refused(request, status)
  })

  it.each<[what: string, request: string]>([
    ['many fields', get(LONDON, 'a:b\r\n'.repeat(3000))],
    ['an upgrade', get(LONDON, 'Connection: upgrade\r\nUpgrade: websocket\r\n')],
    ['dots in the query', get(`${LONDON}?x=/../%2f`)],
  ])('that are odd and allowed get one answer: %s', async (_, request) => {
    expect(statusesOf(await raw(request))).toEqual([200])
  })

  it('in one connection are answered in their order, each by its own key', async () => {
    const keyless = get().replace(KEY, '')
    const answer = await raw(
      get() + keyless + get('/v1/ip/133.11.93.3') + get('/v1/ip/10.0.0.1') + keyless,
      5,
    )
    expect(statusesOf(answer)).toEqual([200, 401, 200, 422, 401])
    expect(Array.from(answer.matchAll(/"ip":"([^"]+)"/g), ([, ip]) => ip)).toEqual([
      '81.2.69.142',
      '133.11.93.3',
    ])
  })

  it('with a body shorter than its Content-Length get no answer to the bytes that follow', async () => {
    const smuggled = get()
    const answer = await raw(post(`Content-Length: ${smuggled.length}\r\n`).replace(KEY, '') + smuggled)
    expect(statusesOf(answer)).toEqual([401])
    expect(recordsIn(answer)).toBe(0)
  })

  it('whose connection was reset are no faults', async () => {
    const before = service.lines().length
    for (let index = 0; index < 50; index++) {
      const socket = open()
      socket.write(get('/v1/ip').repeat(3), () => socket.resetAndDestroy())
    }
    await delay(200)
    expect(await raw(get())).toContain('200 OK')
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
    socket.write(post(JSON_TYPE + CHUNKED))
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
    for (const socket of slow) socket.write(post('Content-Length: 100\r\n', '['))
    const answer = await raw(get(LONDON, CLOSE))
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
    const answer = await raw(get(LONDON, CLOSE))
    expect(statusesOf(answer)).toEqual([200])
  })
})
