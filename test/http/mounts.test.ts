import { once } from 'node:events'
import http from 'node:http'
import { type HttpBindings, serve } from '@hono/node-server'
import express from 'express'
import fastify from 'fastify'
import { Hono } from 'hono'
import { describe, expect, it, onTestFinished } from 'vitest'
import { createHandler, createNodeListener, nodeRequestInfo } from '../../src/http.ts'
import { raw } from '../cli/serve/raw.ts'
import { portOf, started } from '../listening.ts'
import { AMPLE, authenticate, batchOf, openSample } from './service.ts'

const geo = await openSample({ trustedProxies: ['loopback'] })
const handle = createHandler(geo, { authenticate, plans: AMPLE })
const listener = createNodeListener(handle)

/** As the guide shows them. */
const MOUNTS: Record<string, () => Promise<number>> = {
  'node:http': () => started(http.createServer(listener)),
  Hono: async () => {
    const app = new Hono<{ Bindings: HttpBindings }>()
    app.all('/v1/*', (c) => handle(c.req.raw, nodeRequestInfo(c.env.incoming)))
    const server = serve({ fetch: app.fetch, port: 0, hostname: '127.0.0.1' })
    await once(server, 'listening')
    onTestFinished(() => void server.close())
    return portOf(server)
  },
  Express: () => {
    const app = express()
    app.all('/v1/*path', listener)
    app.use(express.json())
    return started(http.createServer(app))
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
    onTestFinished(() => app.close())
    return portOf(app.server)
  },
}

describe.each(Object.entries(MOUNTS))('mounted in %s', (_, mount) => {
  it('answers as everywhere', async () => {
    const origin = `http://127.0.0.1:${await mount()}`
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
    const batch = await fetch(`${origin}/v1/ip/batch`, batchOf(ips, headers))
    expect(await batch.text()).toBe(JSON.stringify(geo.lookupMany(ips)))
    expect((await fetch(`${origin}/v1/ip`, { headers: { connection: 'close' } })).status).toBe(401)
  })

  it('lets no caller choose its place by many header lines', async () => {
    const port = await mount()
    const own = 'X-Forwarded-For: 133.11.93.3\r\n'
    const byProxy = 'X-Forwarded-For: 81.2.69.142\r\n'
    // With these, the request has seven lines.
    const key = 'Authorization: Bearer developer-key\r\nAccept: */*\r\nX: y\r\n'
    // Node drops nothing from 1,000 lines, which cannot be told from more.
    for (const lines of [999, 1000, 2000]) {
      const head = `GET /v1/ip HTTP/1.1\r\nHost: x\r\nConnection: close\r\n${own}${key}`
      const answer = await raw({ port }, `${head}${'a:\r\n'.repeat(lines - 7)}${byProxy}\r\n`)
      expect(answer, `${lines} lines`).toContain(`HTTP/1.1 ${lines < 1000 ? 200 : 431} `)
      expect(answer).toContain(lines < 1000 ? '"ip":"81.2.69.142"' : '"code":"HEADER_TOO_LARGE"')
      expect(answer).not.toContain('133.11.93.3')
    }
  })
})
