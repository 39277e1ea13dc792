import { once } from 'node:events'
import { connect } from 'node:net'
import { afterAll, describe, expect, it } from 'vitest'
import { temporaryFolder } from '../../temporary.ts'
import { CHUNKED, CLOSE, fieldOf, HOST, JSON_TYPE, raw, statusesOf } from './raw.ts'
import { KEY, KEYS, LONDON, serve } from './running.ts'

const folder = temporaryFolder()
const service = await serve(folder, {}, afterAll)

const LINE = { time: expect.any(String), event: 'request', key: null, peer: '127.0.0.1' }

/** The line of the log that an answer belongs to. */
function lineOf(answer: string): Record<string, unknown> | undefined {
  const id = fieldOf(answer, 'x-request-id')
  return service.lines().find((line) => line.id === id)
}

const FREE = `Authorization: Bearer ${KEYS.free}\r\n`

describe('the log', () => {
  it.each<[what: string, request: string, line: object]>([
    ['the page', 'GET / HTTP/1.1', { operation: 'page', status: 200, method: 'GET' }],
    ['a question on the page', 'GET /?ip=81.2.69.142 HTTP/1.1', { operation: 'lookup', status: 401 }],
    ['health', 'GET /healthz HTTP/1.1', { operation: 'health', status: 200 }],
    ['readiness', 'HEAD /readyz HTTP/1.1', { operation: 'ready', status: 200, method: 'HEAD' }],
    ['the description', 'GET /openapi.json HTTP/1.1', { operation: 'openapi', status: 200 }],
    ['what there is not', 'GET /nothing HTTP/1.1', { operation: null, status: 404 }],
    ['no HTTP', 'hello', { operation: null, status: 400, method: null, ms: null }],
  ])('has a line for %s', async (_, request, line) => {
    const answer = await raw(service, `${request}\r\n${HOST}${CLOSE}\r\n`)
    expect(fieldOf(answer, 'x-request-id')).toMatch(/^[0-9a-f-]{36}$/)
    expect(lineOf(answer)).toMatchObject({ ...LINE, ...line })
  })

  it('has one line for a request whose body is not one', async () => {
    const before = service.lines().length
    const head = `POST /v1/ip/batch HTTP/1.1\r\n${HOST}${KEY}${JSON_TYPE}${CHUNKED}\r\n`
    const answer = await raw(service, `${head}zz\r\n[]\r\n0\r\n\r\n`)
    expect(statusesOf(answer)).toEqual([400])
    while (service.lines().length === before) await new Promise((resolve) => setTimeout(resolve, 5))
    expect(service.lines().slice(before)).toEqual([
      expect.objectContaining({ status: 400, operation: 'batch', key: 'key_developer' }),
    ])
  })

  it.each<[sent: string, isTaken: boolean]>([
    ['f47ac10b-58cc-4372-a567-0e02b2c3d479', true],
    ['1-67891233-abcdef012345678912345678', true],
    ['Root=1:2/3+4@5_6.7==', true],
    ['x'.repeat(128), true],
    ['x'.repeat(129), false],
    ['a b', false],
    ['a"b', false],
    ['{"event":"stopped"}', false],
    ['\u00e9', false],
    ['', false],
  ])('takes the identifier %s of a request if it is well formed', async (sent, isTaken) => {
    const answer = await raw(
      service,
      `GET ${LONDON} HTTP/1.1\r\n${HOST}${KEY}${CLOSE}X-Request-Id: ${sent}\r\n\r\n`,
    )
    const id = fieldOf(answer, 'x-request-id')
    if (isTaken) expect(id).toBe(sent)
    else expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f-]{27}$/)
    expect(lineOf(answer)).toMatchObject({ id, operation: 'lookup' })
  })

  it.each<[forwarded: string | null, client: string | null]>([
    ['203.0.113.9', '203.0.113.9'],
    ['1.1.1.1, ::ffff:81.2.69.142', '81.2.69.142'],
    ['10.1.2.3', '10.1.2.3'],
    ['unknown', null],
    ['not an address', null],
    [null, '127.0.0.1'],
  ])('has the client behind a trusted proxy: %s', async (forwarded, client) => {
    const field = forwarded === null ? '' : `X-Forwarded-For: ${forwarded}\r\n`
    const answer = await raw(service, `GET ${LONDON} HTTP/1.1\r\n${HOST}${KEY}${CLOSE}${field}\r\n`)
    expect(lineOf(answer)).toMatchObject({ peer: '127.0.0.1', client, status: 200 })
  })

  it('has no address with --log-client none', async () => {
    const other = await serve(folder, { logClient: 'none', metricsPort: 0 })
    await raw(other, `GET ${LONDON} HTTP/1.1\r\n${HOST}${KEY}${CLOSE}\r\n`)
    await raw(other, 'hello\r\n\r\n')
    await raw({ port: Number(other.metricsPort) }, `GET /metrics HTTP/1.1\r\n${HOST}${CLOSE}\r\n`)
    const lines = other.lines().filter(({ event }) => event === 'request')
    expect(lines.map(({ operation }) => operation)).toEqual(['lookup', null, 'metrics'])
    expect(JSON.stringify(lines)).not.toMatch(/127\.0\.0\.1|peer|client/)
  })
})

describe('100 Continue', () => {
  const EXPECT = 'Expect: 100-continue\r\n'
  const batch = (key: string, more: string) =>
    `POST /v1/ip/batch HTTP/1.1\r\n${HOST}${key}${JSON_TYPE}${EXPECT}${more}\r\n`

  it.each<[what: string, request: string, status: number]>([
    ['without a key', batch('', 'Content-Length: 2\r\n'), 401],
    ['without a key, in chunks', batch('', CHUNKED), 401],
    ['without a plan', batch(FREE, 'Content-Length: 2\r\n'), 403],
    ['too long', batch(KEY, 'Content-Length: 99999999\r\n'), 413],
    ['of another type', batch(KEY, 'Content-Length: 2\r\n').replace('/json', '/xml'), 415],
    ['where there is nothing', batch(KEY, 'Content-Length: 2\r\n').replace('/batch', '/batch/x'), 404],
  ])('is not said to a request %s, which is closed', async (_, request, status) => {
    // Without "Connection: close" of the client: what follows may be the body or not.
    const answer = await raw(service, request)
    expect(statusesOf(answer)).toEqual([status])
    expect(fieldOf(answer, 'connection')).toBe('close')
  })

  it.each([
    ['', 'Content-Length: 2\r\n', '[]'],
    ['in chunks, ', CHUNKED, '2\r\n[]\r\n0\r\n\r\n'],
  ])('is said before a body %sthat is read, and the connection stays', async (_, more, body) => {
    const socket = connect(service.port, '127.0.0.1').setEncoding('latin1')
    socket.write(batch(KEY, more))
    const [first] = await once(socket, 'data')
    expect(first).toBe('HTTP/1.1 100 Continue\r\n\r\n')
    socket.write(body)
    const [second] = await once(socket, 'data')
    expect(statusesOf(second)).toEqual([200])
    expect(fieldOf(second, 'connection')).not.toBe('close')
    socket.destroy()
  })
})
