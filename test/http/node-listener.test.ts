import { once } from 'node:events'
import { createServer } from 'node:http'
import http2 from 'node:http2'
import { connect } from 'node:net'
import { join } from 'node:path'
import { buffer } from 'node:stream/consumers'
import { afterAll, describe, expect, it, vi } from 'vitest'
import { createHandler, createNodeListener } from '../../src/http.ts'
import { temporaryFolder } from '../temporary.ts'
import { AMPLE, authenticate, openSample } from './service.ts'

const geo = await openSample({ trustedProxies: ['loopback', 'unix:'] })
const errors: unknown[] = []
const onError = (error: unknown) => errors.push(error)
const handle = createHandler(geo, { authenticate, plans: AMPLE, onError, maxBodyBytes: 1000 })
const listener = createNodeListener(handle)
const server = createServer(listener)
server.listen(0, '127.0.0.1')
await once(server, 'listening')
afterAll(() => {
  server.close()
  expect(errors).toEqual([])
})

const KEY = 'Authorization: Bearer developer-key\r\nConnection: close\r\n'
const HOST = 'Host: geo.example\r\n'
const JSON_BODY = 'Content-Type: application/json\r\n'
const LONDON = '/v1/ip/81.2.69.142'

async function sent(bytes: string): Promise<string> {
  const address = server.address()
  const socket = connect(typeof address === 'object' && address !== null ? address.port : 0, '127.0.0.1')
  socket.on('error', () => {})
  socket.write(Buffer.from(bytes, 'latin1'))
  return (await buffer(socket)).toString()
}

describe('a handler in a server of Node', () => {
  it.each<[what: string, request: string, status: number]>([
    ['a lookup', `GET ${LONDON} HTTP/1.1\r\n${HOST}${KEY}\r\n`, 200],
    ['HEAD', `HEAD ${LONDON} HTTP/1.1\r\n${HOST}${KEY}\r\n`, 200],
    ['a body on GET', `GET ${LONDON} HTTP/1.1\r\n${HOST}${KEY}Content-Length: 5\r\n\r\nGET /`, 200],
    ['an encoded address', `GET /v1/ip/2001%3A4860::1 HTTP/1.1\r\n${HOST}${KEY}\r\n`, 200],
    ['HTTP/1.0', `GET ${LONDON} HTTP/1.0\r\n${KEY}\r\n`, 200],
    ['an absolute target', `GET http://other.example${LONDON} HTTP/1.1\r\n${HOST}${KEY}\r\n`, 200],
    ['an IPv6 host', `GET ${LONDON} HTTP/1.1\r\nHost: [::1]:8080\r\n${KEY}\r\n`, 200],
    ['bytes above ASCII', `GET ${LONDON} HTTP/1.1\r\n${HOST}${KEY}X: \u00e4\r\n\r\n`, 200],
    ['dots', `GET /v1/ip/../../etc/passwd HTTP/1.1\r\n${HOST}${KEY}\r\n`, 400],
    ['encoded dots', `GET /v1/ip/x/%2E%2e/81.2.69.142 HTTP/1.1\r\n${HOST}${KEY}\r\n`, 400],
    ['a backslash', `GET /v1\\ip HTTP/1.1\r\n${HOST}${KEY}\r\n`, 400],
    ['a malformed Host', `GET ${LONDON} HTTP/1.1\r\nHost: a b\r\n${KEY}\r\n`, 400],
    ['a Host with a path', `GET ${LONDON} HTTP/1.1\r\nHost: x/v1/ip/1.1.1.1?\r\n${KEY}\r\n`, 400],
    ['two names in Host', `GET ${LONDON} HTTP/1.1\r\nHost: a,b\r\n${KEY}\r\n`, 400],
    ['a port that is none', `GET ${LONDON} HTTP/1.1\r\nHost: a:99999\r\n${KEY}\r\n`, 400],
    ['an asterisk', `OPTIONS * HTTP/1.1\r\n${HOST}${KEY}\r\n`, 400],
    ['TRACE', `TRACE ${LONDON} HTTP/1.1\r\n${HOST}${KEY}\r\n`, 405],
    ['another method', `DELETE ${LONDON} HTTP/1.1\r\n${HOST}${KEY}\r\n`, 405],
    ['two keys', `GET ${LONDON} HTTP/1.1\r\n${HOST}${KEY}${KEY}\r\n`, 401],
    [
      'a batch in chunks',
      `POST /v1/ip/batch HTTP/1.1\r\n${HOST}${KEY}${JSON_BODY}Transfer-Encoding: chunked\r\n\r\n1\r\n[\r\n1\r\n]\r\n0\r\n\r\n`,
      200,
    ],
    [
      'a body that is too long',
      `POST /v1/ip/batch HTTP/1.1\r\n${HOST}${KEY}${JSON_BODY}Content-Length: 2000\r\n\r\n${' '.repeat(2000)}`,
      413,
    ],
    [
      'chunks that do not end',
      `POST /v1/ip/batch HTTP/1.1\r\n${HOST}${KEY}${JSON_BODY}Transfer-Encoding: chunked\r\n\r\n${`100\r\n${' '.repeat(256)}\r\n`.repeat(8)}`,
      413,
    ],
  ])('answers %s', async (_, request, status) => {
    const answer = await sent(request)
    expect(answer).toContain(`HTTP/1.1 ${status} `)
    if (status === 405) expect(answer).toMatch(/^allow: GET/im)
  })

  it('answers over a Unix socket, whose peer can be trusted', async () => {
    const path = join(temporaryFolder(), 'socket')
    const local = createServer(listener)
    local.listen(path)
    await once(local, 'listening')
    const socket = connect(path)
    socket.write(`GET /v1/ip HTTP/1.1\r\n${HOST}${KEY}X-Forwarded-For: 81.2.69.142\r\n\r\n`)
    expect((await buffer(socket)).toString()).toContain('"ip":"81.2.69.142"')
    local.close()
  })

  it('answers over HTTP/2', async () => {
    const local = http2.createServer(listener)
    local.listen(0, '127.0.0.1')
    await once(local, 'listening')
    const address = local.address()
    const port = typeof address === 'object' && address !== null ? address.port : 0
    const session = http2.connect(`http://127.0.0.1:${port}`)
    const stream = session.request({ ':path': LONDON, authorization: 'Bearer developer-key' })
    const [headers] = await once(stream, 'response')
    expect(headers[':status']).toBe(200)
    expect((await buffer(stream)).toString()).toBe(JSON.stringify(geo.lookup('81.2.69.142')))
    session.destroy()
    local.close()
  })

  it('reports no fault when a client resets its connection', async () => {
    const address = server.address()
    for (let index = 0; index < 20; index++) {
      const socket = connect(typeof address === 'object' && address !== null ? address.port : 0, '127.0.0.1')
      socket.on('error', () => {})
      socket.write(`GET /v1/ip HTTP/1.1\r\n${HOST}${KEY}\r\n`, () => socket.resetAndDestroy())
      await once(socket, 'close')
    }
    expect(await sent(`GET ${LONDON} HTTP/1.1\r\n${HOST}${KEY}\r\n`)).toContain('200 OK')
  })

  it('keeps a connection for the next request', async () => {
    const address = server.address()
    const port = typeof address === 'object' && address !== null ? address.port : 0
    const headers = { authorization: 'Bearer developer-key', 'content-type': 'application/json' }
    for (const init of [{ headers }, { headers, method: 'POST', body: '["81.2.69.142"]' }]) {
      const path = 'body' in init ? '/v1/ip/batch' : LONDON
      const answer = await fetch(`http://127.0.0.1:${port}${path}`, init)
      expect([answer.status, answer.headers.get('connection')]).toEqual([200, 'keep-alive'])
      await answer.text()
    }
    server.closeIdleConnections()
  })

  it('says that a parser has read the body, instead of closing the connection', async () => {
    const print = vi.spyOn(console, 'error').mockImplementation(() => {})
    const local = createServer(async (incoming, outgoing) => {
      await buffer(incoming)
      listener(incoming, outgoing)
    })
    local.listen(0, '127.0.0.1')
    await once(local, 'listening')
    const address = local.address()
    const port = typeof address === 'object' && address !== null ? address.port : 0
    const url = `http://127.0.0.1:${port}/v1/ip/batch`
    const answer = await fetch(url, { method: 'POST', body: '["81.2.69.142"]' })
    expect(await answer.json()).toMatchObject({ status: 500, code: 'INTERNAL_ERROR' })
    expect(print.mock.calls).toEqual([
      [expect.objectContaining({ message: expect.stringContaining('before express.json()') })],
    ])
    print.mockRestore()
    local.closeAllConnections()
    local.close()
  })

  it('throws for the request and reply of a framework, which ended the process', () => {
    const [request, reply] = [
      { raw: {}, headers: {} },
      { raw: {}, send() {} },
    ]
    for (const args of [[request, reply], [], [request]]) {
      expect(() => Reflect.apply(listener, null, args)).toThrow('listener(request.raw, reply.raw) in Fastify')
    }
  })

  it('takes only a handler', () => {
    expect(() => Reflect.apply(createNodeListener, null, [geo])).toThrow(TypeError)
  })
})
