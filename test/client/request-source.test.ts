import http from 'node:http'
import http2 from 'node:http2'
import { buffer } from 'node:stream/consumers'
import { describe, expect, it } from 'vitest'
import { createClientAddress } from '../../src/client/client-address.ts'
import type { DetectSource } from '../../src/client/request-source.ts'
import { AddressUnavailableError } from '../../src/errors.ts'
import { raw } from '../cli/serve/raw.ts'
import { started } from '../listening.ts'

const CALLERS_OWN = '81.2.69.142'
const BY_PROXY = '8.8.8.8'
const TRUNCATED = 'headers-truncated'

/** Returns the address of the client, or the reason why there is none. */
function clientOf(source: DetectSource, forwardedHeader = 'x-forwarded-for'): string {
  try {
    return createClientAddress({ trustedProxies: ['loopback'], forwardedHeader })(source).address
  } catch (error) {
    if (error instanceof AddressUnavailableError) return error.reason
    throw error
  }
}

const lines = (count: number): string[] => new Array<string[]>(count).fill(['a', '1']).flat()

describe('with', () => {
  const field = { 'x-forwarded-for': BY_PROXY }
  const socket = (maxHeadersCount?: unknown) => ({ remoteAddress: '127.0.0.1', server: { maxHeadersCount } })
  const two = ['X-Forwarded-For', CALLERS_OWN, 'x-FORWARDED-for', BY_PROXY]
  const refused = { remoteAddress: '127.0.0.1' }

  it.each<[string, object, string]>([
    // Limits that are numbers are tried in servers of Node, below.
    ['1,000 lines and the limit null', { rawHeaders: lines(1000), socket: socket(null) }, TRUNCATED],
    // Node ignores limits that are not numbers.
    ['1,000 lines and a string as the limit', { rawHeaders: lines(1000), socket: socket('5000') }, TRUNCATED],
    ['1,000 lines and no server', { rawHeaders: lines(1000), socket: refused }, TRUNCATED],
    ['1,000 lines and a higher limit', { rawHeaders: lines(1000), socket: socket(1001) }, BY_PROXY],
    ['5,000 lines and a negative limit', { rawHeaders: lines(5000), socket: socket(-1) }, BY_PROXY],
    ['one line and a fractional limit', { rawHeaders: lines(1), socket: socket(1.5) }, TRUNCATED],
    // Node refuses HTTP/2 requests with too many lines.
    ['5,000 lines over HTTP/2', { rawHeaders: lines(5000), httpVersionMajor: 2, socket: socket() }, BY_PROXY],
    ['1,000 lines, HTTP/1', { rawHeaders: lines(1000), httpVersionMajor: 1, socket: socket() }, TRUNCATED],
    ['rawHeaders that is not an array', { rawHeaders: 'x', socket: socket(1) }, BY_PROXY],
    // Programs and adapters may set headers. Their value is used.
    ['headers set by the program', { rawHeaders: two, socket: socket() }, BY_PROXY],
    ['no raw lines', { rawHeaders: [], socket: socket() }, BY_PROXY],
    [
      'repeated lines of other fields, which Node drops',
      {
        rawHeaders: ['Content-Type', 'a/b', 'Content-Type', 'c/d', 'Host', 'a', 'Host', 'b'],
        socket: socket(),
      },
      BY_PROXY,
    ],
    [
      'one line of two hops, of which the program kept the first',
      { rawHeaders: ['X-Forwarded-For', `${BY_PROXY}, ${CALLERS_OWN}`], socket: socket() },
      BY_PROXY,
    ],
  ])('%s, the client is the last hop of the field, or there is an error', (_, request, outcome) => {
    expect(clientOf(Object.assign({ headers: field, socket: socket() }, request))).toBe(outcome)
  })

  it.each([
    [1, TRUNCATED],
    [2, TRUNCATED],
    [3, BY_PROXY],
  ])('three lines of the field, of which headers has %j: %s', (shown, outcome) => {
    const values = ['1.1.1.1', CALLERS_OWN, BY_PROXY]
    const headers = { 'x-forwarded-for': values.slice(0, shown).join(', ') }
    const rawHeaders = values.flatMap((value) => ['X-Forwarded-For', value])
    expect(clientOf(Object.assign({ headers, rawHeaders }, { socket: socket() }))).toBe(outcome)
  })

  it('many lines, an untrusted peer is still the client', () => {
    const peer = { ...socket(50), remoteAddress: '8.8.4.4' }
    expect(clientOf(Object.assign({ headers: field, rawHeaders: lines(60) }, { socket: peer }))).toBe(
      '8.8.4.4',
    )
  })
})

/** Sends lines between the field that the caller wrote and the one of the proxy, which comes last. Returns the answer. */
async function ask(port: number, between: string, field = 'X-Forwarded-For'): Promise<string> {
  const head = `GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n${field}: ${CALLERS_OWN}\r\n`
  return (await raw({ port }, `${head}${between}${field}: ${BY_PROXY}\r\n\r\n`)).split('\r\n\r\n')[1] ?? ''
}

/** The number of other lines that `ask` sends. */
const OTHER_LINES = 4

describe('in a server of Node', () => {
  const handler: http.RequestListener = (request, response) => response.end(clientOf(request))

  // Node reads 31 lines at once. If the limit is a multiple of 31, dropped lines are missing from rawHeaders too.
  it.each([10, 31, 32, 50, 62, 64, 93, 961, 1000, undefined])(
    'with maxHeadersCount %j, a caller cannot choose its address by sending many lines',
    async (limit) => {
      const server = http.createServer(handler)
      if (limit !== undefined) server.maxHeadersCount = limit
      const port = await started(server)
      const most = limit ?? 1000
      const counts = [0, 1, 2 * most, 3000, ...[-2, -1, 0, 1, 30, 31, 62].map((more) => most + more)]
      for (const count of counts.map((all) => Math.max(all - OTHER_LINES, 0))) {
        expect(await ask(port, 'a: 1\r\n'.repeat(count)), `${count} lines`).toBe(
          count + OTHER_LINES < most ? BY_PROXY : TRUNCATED,
        )
      }
    },
  )

  it('without a limit, all lines are read', async () => {
    const server = http.createServer(handler)
    server.maxHeadersCount = 0
    expect(await ask(await started(server), 'a: 1\r\n'.repeat(2000))).toBe(BY_PROXY)
  })

  it.each([true, false])(
    'other fields that Node drops or joins do not matter, joinDuplicateHeaders %j',
    async (joinDuplicateHeaders) => {
      const port = await started(http.createServer({ joinDuplicateHeaders }, handler))
      const lines = 'Content-Type: a/b|User-Agent: x|Cookie: a=b|Set-Cookie: a=b|Age: 1|__proto__: 1|'
      expect(await ask(port, lines.replaceAll('|', '\r\n').repeat(2))).toBe(BY_PROXY)
    },
  )

  it('a field of which Node keeps only the first line is refused if it was sent twice', async () => {
    const port = await started(
      http.createServer((request, response) => response.end(clientOf(request, 'from'))),
    )
    expect(await ask(port, '', 'From')).toBe(TRUNCATED)
  })

  it('the limit is still known after an upgrade', async () => {
    const server = http.createServer()
    server.maxHeadersCount = 50
    server.on('upgrade', (request, socket) => socket.end(`HTTP/1.1 101 X\r\n\r\n${clientOf(request)}`))
    const port = await started(server)
    const between = (count: number) => `Connection: upgrade\r\nUpgrade: x\r\n${'a: 1\r\n'.repeat(count)}`
    expect(await ask(port, between(40))).toBe(BY_PROXY)
    expect(await ask(port, between(60))).toBe(TRUNCATED)
  })
})

describe('over HTTP/2', () => {
  async function askHttp2(maxHeaderListPairs: number, count: number): Promise<string> {
    const server = http2.createServer({ maxHeaderListPairs }, (request, response) =>
      response.end(clientOf(request)),
    )
    const session = http2.connect(`http://127.0.0.1:${await started(server)}`)
    try {
      const stream = session.request({
        a: new Array<string>(count).fill('1'),
        'x-forwarded-for': [CALLERS_OWN, BY_PROXY],
      })
      return (await buffer(stream)).toString()
    } catch (error) {
      return error instanceof Error ? error.message : String(error)
    } finally {
      session.destroy()
    }
  }

  it('Node refuses requests with too many lines, so none is missing', async () => {
    expect(await askHttp2(128, 100)).toBe(BY_PROXY)
    expect(await askHttp2(128, 122)).toBe(BY_PROXY)
    expect(await askHttp2(128, 123)).toContain('NGHTTP2_ENHANCE_YOUR_CALM')
    expect(await askHttp2(5000, 1500)).toBe(BY_PROXY)
  })
})
