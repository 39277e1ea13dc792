import { once } from 'node:events'
import { createServer } from 'node:http'
import http2 from 'node:http2'
import { connect } from 'node:net'
import { buffer } from 'node:stream/consumers'
import { afterAll, describe, expect, it, vi } from 'vitest'
import { createHandler, createNodeListener } from '../../src/http.ts'
import { raw } from '../cli/serve/raw.ts'
import { portOf, started } from '../listening.ts'
import { AMPLE, authenticate, openSample } from './service.ts'

const geo = await openSample({ trustedProxies: ['loopback', 'unix:'] })
const errors: unknown[] = []
const onError = (error: unknown) => errors.push(error)
const handle = createHandler(geo, { authenticate, plans: AMPLE, onError, maxBodyBytes: 1000 })
const listener = createNodeListener(handle)
const server = createServer(listener)
afterAll(() => {
  server.close()
  expect(errors).toEqual([])
})

const KEY = 'Authorization: Bearer developer-key\r\nConnection: close\r\n'
const HOST = 'Host: geo.example\r\n'
const JSON_BODY = 'Content-Type: application/json\r\n'
const LONDON = '/v1/ip/81.2.69.142'

const sent = async (text: string): Promise<string> => raw({ port: await portOf(server) }, text)

describe('a handler in a server of Node', () => {
  const get = (target = LONDON, lines = HOST) => `GET ${target} HTTP/1.1\r\n${lines}${KEY}\r\n`
  const post = (lines: string, body: string) =>
    `POST /v1/ip/batch HTTP/1.1\r\n${HOST}${KEY}${JSON_BODY}${lines}\r\n\r\n${body}`
  const CHUNKED = 'Transfer-Encoding: chunked'
  it.each<[what: string, request: string, status: number]>([
    ['a lookup', get(), 200],
    ['HEAD', get().replace('GET', 'HEAD'), 200],
    ['a body on GET', `${get(LONDON, `${HOST}Content-Length: 5\r\n`)}GET /`, 200],
    ['an encoded address', get('/v1/ip/2001%3A4860::1'), 200],
    ['HTTP/1.0', `GET ${LONDON} HTTP/1.0\r\n${KEY}\r\n`, 200],
    ['an absolute target', get(`http://other.example${LONDON}`), 200],
    ['an IPv6 host', get(LONDON, 'Host: [::1]:8080\r\n'), 200],
    ['bytes above ASCII', get(LONDON, `${HOST}X: \u00e4\r\n`), 200],
    ['dots', get('/v1/ip/../../etc/passwd'), 400],
    ['encoded dots', get('/v1/ip/x/%2E%2e/81.2.69.142'), 400],
    ['a backslash', get('/v1\\ip'), 400],
    ['a malformed Host', get(LONDON, 'Host: a b\r\n'), 400],
    ['a Host with a path', get(LONDON, 'Host: x/v1/ip/1.1.1.1?\r\n'), 400],
    ['two names in Host', get(LONDON, 'Host: a,b\r\n'), 400],
    ['a port that is none', get(LONDON, 'Host: a:99999\r\n'), 400],
    ['an asterisk', get('*').replace('GET', 'OPTIONS'), 400],
    ['TRACE', get().replace('GET', 'TRACE'), 405],
    ['another method', get().replace('GET', 'DELETE'), 405],
    ['two keys', get(LONDON, HOST + KEY), 401],
    ['a batch in chunks', post(CHUNKED, '1\r\n[\r\n1\r\n]\r\n0\r\n\r\n'), 200],
    ['a body that is too long', post('Content-Length: 2000', ' '.repeat(2000)), 413],
    ['chunks that do not end', post(CHUNKED, `100\r\n${' '.repeat(256)}\r\n`.repeat(8)), 413],
  ])('answers %s', async (_, request, status) => {
    const answer = await sent(request)
    expect(answer).toContain(`HTTP/1.1 ${status} `)
    if (status === 405) expect(answer).toMatch(/^allow: GET/im)
  })

  it('answers over HTTP/2', async () => {
    const port = await started(http2.createServer(listener))
    const session = http2.connect(`http://127.0.0.1:${port}`)
    const stream = session.request({ ':path': LONDON, authorization: 'Bearer developer-key' })
    const [headers] = await once(stream, 'response')
    expect(headers[':status']).toBe(200)
    expect((await buffer(stream)).toString()).toBe(JSON.stringify(geo.lookup('81.2.69.142')))
    session.destroy()
  })

  it('reports no fault when a client resets its connection', async () => {
    const port = await portOf(server)
    for (let index = 0; index < 20; index++) {
      const socket = connect(port, '127.0.0.1')
      socket.on('error', () => {})
      socket.write(get('/v1/ip'), () => socket.resetAndDestroy())
      await once(socket, 'close')
    }
    expect(await sent(get())).toContain('200 OK')
  })

  it('keeps a connection for the next request', async () => {
    const port = await portOf(server)
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
    const reading = createServer(async (incoming, outgoing) => {
      await buffer(incoming)
      listener(incoming, outgoing)
    })
    const url = `http://127.0.0.1:${await started(reading)}/v1/ip/batch`
    const answer = await fetch(url, { method: 'POST', body: '["81.2.69.142"]' })
    expect(await answer.json()).toMatchObject({ status: 500, code: 'INTERNAL_ERROR' })
    expect(print.mock.calls).toEqual([
      [expect.objectContaining({ message: expect.stringContaining('before express.json()') })],
    ])
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
