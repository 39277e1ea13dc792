import { once } from 'node:events'
import http from 'node:http'
import http2 from 'node:http2'
import https from 'node:https'
import net from 'node:net'
import { join } from 'node:path'
import { Duplex } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { setTimeout as delay } from 'node:timers/promises'
import tls from 'node:tls'
import { serve } from '@hono/node-server'
import express from 'express'
import fastify from 'fastify'
import { type Context, Hono } from 'hono'
import Koa from 'koa'
import { describe, expect, it, onTestFinished } from 'vitest'
import { createClientAddress } from '../../src/client/client-address.ts'
import {
  type DetectOptions,
  type DetectSource,
  isGeofixError,
  type OpenOptions,
  Resolver,
} from '../../src/index.ts'
import { raw } from '../cli/serve/raw.ts'
import { started as listening, portOf } from '../listening.ts'
import { databaseOf } from '../own-databases.ts'
import { temporaryFolder } from '../temporary.ts'

const bytes = databaseOf({
  '81.2.69.0/24': { country: { iso_code: 'GB' } },
  '2001:4860::/32': { country: { iso_code: 'US' } },
})

/** The answer of a handler: the country, or the reason why there is none. */
function answer(geo: Resolver, source: DetectSource, options?: DetectOptions): object {
  try {
    const { ip, country } = geo.detect(source, options)
    return { ip, country: country.code }
  } catch (error) {
    if (!isGeofixError(error)) throw error
    const { code, reason, address, via } = { reason: undefined, address: undefined, via: undefined, ...error }
    return { code, reason, address, via }
  }
}

/** Starts a server until the end of the test, and gives its port. */
type Start = (geo: Resolver) => Promise<number>

/** Handles requests of Node and of HTTP/2. */
const answering =
  (geo: Resolver) =>
  (request: DetectSource, response: { end(text: string): unknown }): void =>
    void response.end(JSON.stringify(answer(geo, request)))

const FETCH = 'a Fetch Request with the peer given'

/** A server for each framework, as a program would write it. */
const FRAMEWORKS: Record<string, Start> = {
  'node:http': (geo) => listening(http.createServer(answering(geo))),
  'Express 5': (geo) => {
    const app = express().set('trust proxy', true)
    app.get('/', (req, res) => void res.json(answer(geo, req)))
    return listening(http.createServer(app))
  },
  'Fastify 5': async (geo) => {
    const app = fastify({ trustProxy: true })
    app.get('/', (request) => answer(geo, request))
    await app.listen({ port: 0, host: '127.0.0.1' })
    onTestFinished(() => app.close())
    return portOf(app.server)
  },
  'Koa 3': (geo) => {
    const app = new Koa({ proxy: true })
    app.use((ctx) => {
      ctx.body = answer(geo, ctx)
    })
    return listening(http.createServer(app.callback()))
  },
  'Hono on @hono/node-server': (geo) => hono((c) => answer(geo, c.env.incoming)),
  [FETCH]: (geo) =>
    hono((c) => answer(geo, c.req.raw, { remoteAddress: c.env.incoming.socket.remoteAddress ?? null })),
}

type Bindings = { Bindings: { incoming: http.IncomingMessage } }

async function hono(answerOf: (context: Context<Bindings>) => object): Promise<number> {
  const app = new Hono<Bindings>()
  app.get('/', (c) => c.json(answerOf(c)))
  const server = serve({ fetch: app.fetch, port: 0, hostname: '127.0.0.1' })
  await once(server, 'listening')
  onTestFinished(() => void server.close())
  return portOf(server)
}

const temporary = temporaryFolder()

async function get(port: number, headers: Record<string, string>): Promise<object> {
  const [response] = await once(http.get({ port, host: '127.0.0.1', headers, agent: false }), 'response')
  return JSON.parse((await buffer(response)).toString())
}

const started = async (start: Start, options?: OpenOptions) => start(await Resolver.open(bytes, options))

describe.each(Object.entries(FRAMEWORKS))('%s', (name, start) => {
  it('ignores the fields of an untrusted peer, whatever the framework itself trusts', async () => {
    const port = await started(start)
    const honest = await get(port, {})
    expect(honest).toEqual({
      code: 'UNRESOLVABLE_ADDRESS',
      reason: 'loopback',
      address: '127.0.0.1',
      via: 'socket',
    })
    for (const field of ['X-Forwarded-For', 'Forwarded', 'X-Real-IP']) {
      for (const value of ['81.2.69.142', 'for=81.2.69.142']) {
        expect(await get(port, { [field]: value }), field).toEqual(honest)
      }
    }
  })

  it('reads only the one field of a trusted proxy', async () => {
    const port = await started(start, { trustedProxies: ['loopback'] })
    const spoofed = {
      'X-Forwarded-For': '1.1.1.1, 81.2.69.142',
      'X-Real-IP': '1.1.1.1',
      Forwarded: 'for=1.1.1.1',
    }
    expect(await get(port, spoofed)).toEqual({ ip: '81.2.69.142', country: 'GB' })
    expect(await get(port, { 'X-Forwarded-For': '[2001:4860::1]:443' })).toEqual({
      ip: '2001:4860::1',
      country: 'US',
    })
    expect(await get(port, {})).toMatchObject({ reason: 'trusted-proxy', address: '127.0.0.1' })
    expect(await get(port, { 'X-Forwarded-For': '8.8.8.8' })).toEqual({
      code: 'UNRESOLVABLE_ADDRESS',
      reason: 'not-found',
      address: '8.8.8.8',
      via: 'x-forwarded-for',
    })
  })

  // A Fetch Request does not show how many lines were sent: programs should pass the request of Node, as with Hono.
  if (name !== FETCH)
    it('does not use the line of the caller if Node drops that of the proxy', async () => {
      const port = await started(start, { trustedProxies: ['loopback'] })
      const own = 'GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\nX-Forwarded-For: 81.2.69.142\r\n'
      const ask = (between: number): Promise<string> =>
        raw({ port }, `${own}${'a: 1\r\n'.repeat(between)}X-Forwarded-For: 2001:4860::1\r\n\r\n`)
      expect(await ask(995)).toContain('"ip":"2001:4860::1"')
      for (const between of [996, 997, 1200, 2000])
        expect(await ask(between)).toContain('"reason":"headers-truncated"')
    })
})

it.each([
  [{ incoming: {} }, 'This is a context of Hono: pass c.env.incoming'],
  [undefined, 'This is a context of Hono: pass c.req.raw, and the address of the peer as remoteAddress'],
])('a context of Hono with the bindings %j says what to pass', async (bindings, advice) => {
  const app = new Hono()
  app.get('/', (c) => {
    expect(() => Reflect.apply(createClientAddress(), undefined, [c])).toThrow(advice)
    return c.text('')
  })
  expect((await app.request('/', {}, bindings)).status).toBe(200)
})

describe('node:http', () => {
  it('does not take a client that has reset its connection for a Unix socket', async () => {
    const geo = await Resolver.open(bytes, { trustedProxies: ['unix:', 'loopback'] })
    const answered = new Promise<object>((resolve) => {
      const server = http.createServer(async (req) => {
        await delay(100)
        resolve(answer(geo, req))
      })
      void listening(server).then((port) => {
        const client = net.connect(port, '127.0.0.1', () => {
          client.write('GET / HTTP/1.1\r\nHost: x\r\nX-Forwarded-For: 81.2.69.142\r\n\r\n')
          setTimeout(() => client.resetAndDestroy(), 30)
        })
        client.on('error', () => {})
      })
    })
    expect(await answered).toMatchObject({ code: 'ADDRESS_UNAVAILABLE', reason: 'no-remote-address' })
  })
})

describe('node:http2', () => {
  it('does not take a client that has closed its connection for a Unix socket', async () => {
    const geo = await Resolver.open(bytes, { trustedProxies: ['unix:'] })
    const answered = new Promise<object>((resolve) => {
      // The first access to the socket comes after the client has closed it, so no address is cached.
      const server = http2.createServer((req) => req.on('aborted', () => resolve(answer(geo, req))))
      server.on('sessionError', () => {})
      void listening(server).then((port) => {
        const raw = net.connect(port, '127.0.0.1')
        const session = http2.connect('http://127.0.0.1', { createConnection: () => raw })
        session.on('error', () => {})
        session.request({ ':path': '/', 'x-forwarded-for': '81.2.69.142' }).on('error', () => {})
        setTimeout(() => raw.end().destroy(), 50)
      })
    })
    expect(await answered).toMatchObject({ code: 'ADDRESS_UNAVAILABLE', reason: 'no-remote-address' })
  })
})

/** A stream around a connection, as in programs that read something before HTTP. */
function wrapped(socket: net.Socket): Duplex {
  const stream = new Duplex({
    read: () => void socket.resume(),
    write: (chunk, _, done) => void socket.write(chunk, done),
    final: (done) => void socket.end(done),
  })
  socket.on('data', (chunk) => stream.push(chunk))
  socket.on('end', () => stream.push(null))
  socket.on('error', () => {})
  return stream
}

/** TLS with a pre-shared key, which needs no certificate. */
const SECRET = { psk: Buffer.from('secret'), identity: 'test' }
const TLS = { ciphers: 'PSK-AES128-GCM-SHA256', maxVersion: 'TLSv1.2' } as const
const SERVER_TLS = { ...TLS, pskCallback: () => SECRET.psk }

describe('Unix sockets', () => {
  const CONNECTIONS: Record<string, (to: net.NetConnectOpts) => Promise<string>> = {
    http: (to) => overHttp1(net.connect(to)),
    https: (to) =>
      overHttp1(
        tls.connect({
          ...TLS,
          pskCallback: () => SECRET,
          checkServerIdentity: () => undefined,
          socket: net.connect(to),
        }),
      ),
    http2: async (to) => {
      const session = http2.connect('http://localhost', { createConnection: () => net.connect(to) })
      onTestFinished(() => session.destroy())
      return (await buffer(session.request({ 'x-forwarded-for': '81.2.69.142' }))).toString()
    },
  }

  async function overHttp1(socket: Duplex): Promise<string> {
    socket.end('GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\nX-Forwarded-For: 81.2.69.142\r\n\r\n')
    return (await buffer(socket)).toString()
  }

  const SERVERS: Record<string, (geo: Resolver) => net.Server> = {
    http: (geo) => http.createServer(answering(geo)),
    https: (geo) => https.createServer(SERVER_TLS, answering(geo)),
    http2: (geo) => http2.createServer(answering(geo)),
  }
  const kinds = Object.keys(SERVERS)

  async function serverOf(kind: string, path: string): Promise<net.Server> {
    const server = SERVERS[kind]?.(await Resolver.open(bytes, { trustedProxies: ['unix:'] }))
    if (server === undefined) throw new Error(`no server of ${kind}`)
    await listening(server, { path })
    return server
  }

  it.each(kinds)('are recognised by their handle: %s', async (kind) => {
    const path = join(temporary, `handle-${kind}`)
    await serverOf(kind, path)
    expect(await CONNECTIONS[kind]?.({ path })).toContain('"country":"GB"')
  })

  it.each(kinds)(
    'are distinguished from streams that wrap TCP, also on a server at a path: %s',
    async (kind) => {
      const server = await serverOf(kind, join(temporary, `stream-${kind}`))
      const front = net.createServer((socket) => void server.emit('connection', wrapped(socket)))
      const port = await listening(front)
      expect(await CONNECTIONS[kind]?.({ port, host: '127.0.0.1' })).toContain('"reason":"no-remote-address"')
    },
  )

  it('are recognised if another server accepted them', async () => {
    const server = SERVERS.http?.(await Resolver.open(bytes, { trustedProxies: ['unix:'] }))
    const front = net.createServer((socket) => void server?.emit('connection', socket))
    const path = join(temporary, 'accepted')
    await listening(front, { path })
    expect(await CONNECTIONS.http?.({ path })).toContain('"country":"GB"')
  })
})
