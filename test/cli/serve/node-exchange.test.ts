import { once } from 'node:events'
import { createServer, type IncomingMessage } from 'node:http'
import { connect } from 'node:net'
import { getRequestListener } from '@hono/node-server'
import { afterAll, describe, expect, it } from 'vitest'
import { NodeServiceRequest } from '../../../src/cli/serve/node-exchange.ts'
import { portOf } from '../../listening.ts'

/** What Node's server and the Fetch adapter each make of the bytes of a request. `null`: the adapter refuses it. */
interface Seen {
  readonly incoming: IncomingMessage
  readonly request: { url: string; method: string; get: (name: string) => string | null } | null
}

let seen: Seen | undefined
const adapter = (incoming: IncomingMessage, outgoing: Parameters<ReturnType<typeof getRequestListener>>[1]) =>
  getRequestListener(
    (request) => {
      const { url, method, headers } = request
      seen = { incoming, request: { url, method, get: (name) => headers.get(name) } }
      return new Response()
    },
    { hostname: 'localhost', errorHandler: () => new Response(null, { status: 400 }) },
  )(incoming, outgoing)
const server = createServer((incoming, outgoing) => {
  seen = { incoming, request: null }
  void adapter(incoming, outgoing)
})
afterAll(() => server.close())

async function sent(head: string): Promise<Seen> {
  const socket = connect(await portOf(server), '127.0.0.1')
  socket.write(`${head}\r\n\r\n`)
  await once(socket, 'data')
  socket.destroy()
  if (seen === undefined) throw new Error('no request came')
  return seen
}

const HOST = '\r\nHost: geo.example'
const LENGTH = '\r\nContent-Length: 0'

describe('a request of Node', () => {
  it.each<[isRead: boolean, head: string]>([
    [true, `GET /v1/ip/81.2.69.142 HTTP/1.1${HOST}`],
    [true, `HEAD /v1/ip/2001:4860::1?locale=de&x=1.5 HTTP/1.1${HOST}:8080`],
    [true, 'GET /v1/ip HTTP/1.1\r\nHost: 127.0.0.1'],
    [true, `POST /v1/ip/batch HTTP/1.1${HOST}${LENGTH}`],
    [true, `GET /healthz HTTP/1.1\r\nHOST: Localhost\r\nX: a\r\nx: b`],
    [true, `GET / HTTP/1.1${HOST}`],
    [true, `GET /v1/ip/ HTTP/1.1${HOST}`],
    [true, `GET //v1/ip HTTP/1.1${HOST}`],
    [false, `GET /v1/ip/. HTTP/1.1${HOST}`],
    [false, `GET /v1/ip/../ip HTTP/1.1${HOST}`],
    [true, `GET /v1/ip/fe80::1%25eth0 HTTP/1.1${HOST}`],
    [false, `GET /v1/ip#x HTTP/1.1${HOST}`],
    [true, `GET /v1/ip?locale=%64e HTTP/1.1${HOST}`],
    [false, `GET /v1\\ip HTTP/1.1${HOST}`],
    [true, `GET http://other.example/v1/ip HTTP/1.1${HOST}`],
    [true, `GET /v1/ip HTTP/1.0`],
    [false, 'GET /v1/ip HTTP/1.1\r\nHost: a b'],
    [false, 'GET /v1/ip HTTP/1.1\r\nHost: a/v1/ip/1.1.1.1?'],
    [true, 'GET /v1/ip HTTP/1.1\r\nHost: [::1]'],
    [true, 'GET /v1/ip HTTP/1.1\r\nHost:'],
    [true, `GET /v1/ip HTTP/1.1${HOST}${LENGTH}`],
    [true, `GET /v1/ip HTTP/1.1${HOST}\r\nTransfer-Encoding: chunked\r\n\r\n0`],
    [true, `POST /v1/ip/batch HTTP/1.1${HOST}\r\nTransfer-Encoding: chunked\r\n\r\n0`],
    [true, `POST /v1/ip/batch HTTP/1.1${HOST}`],
    [true, `DELETE /v1/ip HTTP/1.1${HOST}${LENGTH}`],
    [false, `OPTIONS * HTTP/1.1${HOST}`],
  ])('is read as a Fetch Request: %s, in %j', async (isRead, head) => {
    const { incoming, request } = await sent(head)
    const asked = new NodeServiceRequest(incoming)
    expect(asked.problem === null).toBe(isRead)
    if (!isRead) return
    const pathOf = (url: string | undefined) => url?.replace(/^http:\/\/[^/]+/, '')
    expect(pathOf(asked.url)).toBe(pathOf(request?.url))
    expect(asked.method).toBe(request?.method)
    for (const name of ['host', 'x', 'content-length', 'missing']) {
      expect(asked.get(name)).toBe(request?.get(name))
    }
  })

  it('has all lines of a field', async () => {
    const lines = ['Authorization: Bearer a', 'authorization: Bearer b', 'X-Forwarded-For: 1.1.1.1', 'Empty:']
    const { incoming, request } = await sent(`GET /v1/ip HTTP/1.1${HOST}\r\n${lines.join('\r\n')}`)
    const asked = new NodeServiceRequest(incoming)
    for (const name of ['authorization', 'x-forwarded-for', 'empty']) {
      expect(asked.get(name)).toBe(request?.get(name))
    }
    expect(asked.get('authorization')).toBe('Bearer a, Bearer b')
  })

  it('has no body when it says that the body is longer than the limit', async () => {
    const { incoming } = await sent(`POST /v1/ip/batch HTTP/1.1${HOST}\r\nContent-Length: 4\r\n\r\nabcd`)
    const asked = new NodeServiceRequest(incoming)
    expect(await asked.body(3)).toBeNull()
    expect(await asked.body(4)).not.toBeNull()
  })
})
