import { once } from 'node:events'
import http from 'node:http'
import type { AddressInfo } from 'node:net'
import { getRequestListener, type HttpBindings, serve } from '@hono/node-server'
import express from 'express'
import fastify from 'fastify'
import { Hono } from 'hono'
import { afterAll, describe, expect, it } from 'vitest'
import { createHandler } from '../../src/http.ts'
import { AMPLE, authenticate, openSample } from './service.ts'

const geo = await openSample({ trustedProxies: ['loopback'] })
const handle = createHandler(geo, { authenticate, plans: AMPLE })
const listener = getRequestListener((request, { incoming }) => {
  const { socket } = incoming
  return handle(request, { remoteAddress: socket.remoteAddress })
})

const stops: (() => unknown)[] = []
afterAll(() => Promise.all(stops.map((stop) => stop())))

async function portOf(server: http.Server): Promise<number> {
  stops.push(() => server.close())
  if (!server.listening) {
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
  }
  return (server.address() as AddressInfo).port // a TCP server's address
}

/** As the guide shows them. */
const MOUNTS: Record<string, () => Promise<number>> = {
  'node:http': () => portOf(http.createServer(listener)),
  Hono: async () => {
    const app = new Hono<{ Bindings: HttpBindings }>()
    app.all('/v1/*', (c) => handle(c.req.raw, { remoteAddress: c.env.incoming.socket.remoteAddress }))
    const server = serve({ fetch: app.fetch, port: 0, hostname: '127.0.0.1' })
    await once(server, 'listening')
    stops.push(() => server.close())
    return (server.address() as AddressInfo).port // a TCP server's address
  },
  Express: () => {
    const app = express()
    app.use((request, response, next) =>
      request.path.startsWith('/v1/') ? void listener(request, response) : next(),
    )
    app.use(express.json())
    return portOf(http.createServer(app))
  },
  Fastify: async () => {
    const app = fastify()
    await app.register(async (scope) => {
      // Leave the body to the handler.
      scope.removeAllContentTypeParsers()
      scope.addContentTypeParser('*', (_request, _body, done) => done(null))
      scope.all('/v1/*', (request, reply) => {
        reply.hijack()
        return listener(request.raw, reply.raw)
      })
    })
    await app.listen({ port: 0, host: '127.0.0.1' })
    stops.push(() => app.close())
    return (app.server.address() as AddressInfo).port // a TCP server's address
  },
}

describe.each(Object.keys(MOUNTS))('mounted in %s', (name) => {
  it('answers as everywhere', async () => {
    const origin = `http://127.0.0.1:${await MOUNTS[name]?.()}`
    const headers = {
      authorization: 'Bearer developer-key',
      'x-forwarded-for': '81.2.69.142',
      connection: 'close',
    }
    const detected = await fetch(`${origin}/v1/ip?locale=de`, { headers })
    expect(await detected.text()).toBe(JSON.stringify(geo.lookup('81.2.69.142', { locale: 'de' })))
    const found = await fetch(`${origin}/v1/ip/2001%3A4860::1`, { headers })
    expect(await found.text()).toBe(JSON.stringify(geo.lookup('2001:4860::1')))
    const ips = ['81.2.69.142', 'x', '10.0.0.1']
    const batch = await fetch(`${origin}/v1/ip/batch`, {
      method: 'POST',
      headers: { ...headers, 'content-type': 'application/json' },
      body: JSON.stringify(ips),
    })
    expect(await batch.text()).toBe(JSON.stringify(geo.lookupMany(ips)))
    expect((await fetch(`${origin}/v1/ip`, { headers: { connection: 'close' } })).status).toBe(401)
  })
})
