import { connect } from 'node:net'
import { Agent } from 'undici'
import { describe, expect, it } from 'vitest'
import { temporaryFolder } from '../../temporary.ts'
import { fieldOf, raw, statusesOf } from './raw.ts'
import { ask, authorization, KEYS, LONDON, serve } from './running.ts'

const folder = temporaryFolder()
describe('draining', () => {
  it('answers, says that it is not ready, and then closes: no request of a kept connection is lost', async () => {
    // Much longer than the requests take, on a busy machine too.
    const service = await serve(folder, { drainSeconds: 5 })
    const client = new Agent({ connections: 1 })
    const get = async (path: string) => ask(service.origin + path, { dispatcher: client })
    expect((await get(LONDON)).headers.connection).toBe('keep-alive')
    let isStopped = false
    const stopped = service.stop('SIGTERM').then(() => {
      isStopped = true
    })
    expect(await get('/readyz')).toMatchObject({
      status: 503,
      text: 'stopping\n',
      headers: { connection: 'close' },
    })
    // The connection that was kept was used for /readyz; each of these opens a new one, which is answered.
    for (let count = 0; count < 20; count++) {
      expect(await get(LONDON)).toMatchObject({ status: 200, headers: { connection: 'close' } })
      expect(isStopped).toBe(false)
    }
    expect((await get('/healthz')).status).toBe(200)
    await stopped
    await expect(get(LONDON)).rejects.toThrow('ECONNREFUSED')
    await client.destroy()
  })

  it('answers a request whose connection was opened just before the port closed', async () => {
    const service = await serve(folder)
    const socket = connect(service.port, '127.0.0.1')
    let answer = ''
    const ended = new Promise((resolve) => socket.once('close', resolve))
    socket.setEncoding('latin1').on('data', (chunk) => {
      answer += chunk
    })
    // Once this is answered, the earlier connection was accepted.
    await ask(`${service.origin}/healthz`)
    const stopped = service.stop('SIGTERM')
    while (true) {
      const isRefused = await ask(`${service.origin}/healthz`, { dispatcher: new Agent() }).then(
        () => false,
        () => true,
      )
      if (isRefused) break
    }
    socket.write('GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n')
    await Promise.all([ended, stopped])
    expect(statusesOf(answer)).toEqual([200])
    expect(fieldOf(answer, 'connection')).toBe('close')
  })

  it('is left out after SIGINT, which a person types', async () => {
    const service = await serve(folder, { drainSeconds: 3600 })
    await service.stop('SIGINT')
    await expect(ask(`${service.origin}/readyz`)).rejects.toThrow('ECONNREFUSED')
  })
})

describe('options', () => {
  it('--base-path precedes all paths, and health is also where probes look', async () => {
    const service = await serve(folder, { basePath: '/geo' })
    const get = (path: string) => ask(service.origin + path)
    const status = async (path: string) => (await get(path)).status
    for (const path of `/geo /geo/ /geo${LONDON} /geo/openapi.json /geo/healthz /geo/readyz /healthz /readyz`.split(
      ' ',
    ))
      expect([path, await status(path)]).toEqual([path, 200])
    for (const path of ['/', LONDON, '/openapi.json', '/geox/healthz', '/geo/geo/healthz'])
      expect([path, await status(path)]).toEqual([path, 404])
    const { text } = await get('/geo/')
    expect(text).toContain('action="/geo/"')
    expect(text).toContain('href="/geo/openapi.json"')
    expect(JSON.parse((await get('/geo/openapi.json')).text).servers).toEqual([
      expect.objectContaining({ url: '/geo' }),
    ])
    const body = new URLSearchParams({ ip: '81.2.69.142', key: KEYS.developer }).toString()
    expect((await ask(`${service.origin}/geo/`, { method: 'POST', headers: {}, body })).text).toContain(
      'London',
    )
  })

  it('--cors lets pages of these origins read answers', async () => {
    const service = await serve(folder, { cors: ['https://shop.example'] })
    const from = (origin: string) => ask(service.origin + LONDON, { headers: { authorization, origin } })
    const allowed = (await from('https://shop.example')).headers
    expect(allowed['access-control-allow-origin']).toBe('https://shop.example')
    expect(allowed['access-control-expose-headers']).toContain('X-Request-Id')
    const headers = { origin: 'https://shop.example' }
    expect((await ask(service.origin + LONDON, { method: 'OPTIONS', headers })).status).toBe(204)
    expect(service.lines().at(-1)).toMatchObject({ method: 'OPTIONS', status: 204 })
    const description = await ask(`${service.origin}/openapi.json`, { headers })
    expect(description.headers['access-control-allow-origin']).toBe('https://shop.example')
  })

  it('--metrics-keys counts by the id of a key, and never shows the key', async () => {
    const service = await serve(folder, { metricsPort: 0, metricsKeys: true })
    await ask(service.origin + LONDON)
    await ask(`${service.origin}/v1/ip/10.0.0.1`)
    for (const key of [KEYS.free, 'live_wrong'])
      await ask(service.origin + LONDON, { headers: { authorization: `Bearer ${key}` } })
    await ask(`${service.origin}/v1/ip/batch`, {
      method: 'POST',
      headers: { authorization, 'content-type': 'application/json' },
      body: JSON.stringify(['1.1.1.1', 'x', '81.2.69.142']),
    })
    const { text } = await ask(`http://127.0.0.1:${service.metricsPort}/metrics`)
    expect(text).toMatch(/^geofix_key_requests_total\{key="key_developer",status="200"\} 2$/m)
    expect(text).toMatch(/^geofix_key_requests_total\{key="key_developer",status="422"\} 1$/m)
    expect(text).toMatch(/^geofix_key_requests_total\{key="key_free",status="403"\} 1$/m)
    expect(text).toMatch(/^geofix_key_lookups_total\{key="key_developer"\} 5$/m)
    expect(text).toMatch(/^geofix_connections_evicted_total 0$/m)
    expect(text).not.toContain('live_')
    for (const key of Object.values(KEYS)) expect(text).not.toContain(key.slice(5, 20))
  })

  it.each([
    ['/ip', '81.2.69.142\n'],
    ['/country', 'United Kingdom\n'],
    ['/country?locale=de', 'Ein "Land"\n'],
    ['/country-iso', 'GB\n'],
    ['/city', 'London\n'],
    ['/timezone', 'Asia/Tokyo\n'],
    ['/city?ip=133.11.93.3', 'Chiyoda\n'],
    ['/geo/city', null],
    // Only with the option asn.
    ['/asn', null],
  ])('short paths answer with text for people at a command line: %s', async (path, expected) => {
    const service = await serve(folder)
    const client = { 'x-forwarded-for': '81.2.69.142' }
    const { status, text, headers } = await ask(service.origin + path, {
      headers: { authorization, ...client },
    })
    if (expected === null) expect(status).toBe(404)
    else {
      expect([status, text]).toEqual([200, expected])
      expect(headers.ratelimit).toBeDefined()
      expect((await ask(service.origin + path, { headers: client })).status).toBe(401)
      const root = await ask(service.origin, { headers: { authorization, accept: 'text/plain', ...client } })
      expect(root.text).toBe('81.2.69.142\n')
      // A script whose variable is empty does not ask about its own host.
      const empty = await ask(`${service.origin}/city?ip=`, { headers: { authorization, ...client } })
      expect(empty.status).toBe(400)
      const posted = await raw(service, `POST ${path} HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\n\r\n`, 1)
      expect([statusesOf(posted), fieldOf(posted, 'allow')]).toEqual([[405], 'GET, HEAD'])
    }
  })
})
