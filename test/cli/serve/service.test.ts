import { once } from 'node:events'
import { connect } from 'node:net'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { setTimeout as delay } from 'node:timers/promises'
import { Validator } from '@seriousme/openapi-schema-validator'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { Agent, type Dispatcher, request } from 'undici'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { listen, makeServer, stop } from '../../../src/cli/serve/http-server.ts'
import { openApiJson } from '../../../src/cli/serve/openapi.ts'
import { AnswerJson } from '../../../src/http/answer-json.ts'
import { Resolver } from '../../../src/index.ts'
import { temporaryFolder } from '../../temporary.ts'
import { KEYS, type Service, serve } from './running.ts'

const folder = temporaryFolder()
const agent = new Agent()
let service: Service
let geo: Resolver

beforeAll(async () => {
  service = await serve(folder, { metricsPort: 0 })
  geo = await Resolver.open(join(folder, 'sample.mmdb'))
})
afterAll(async () => {
  await agent.close()
  await service.stop()
  geo.close()
})

const ajv = new Ajv2020({ strict: false, allErrors: true })
ajv.addSchema(JSON.parse(openApiJson('')), 'openapi')

interface Ask {
  readonly method?: Dispatcher.HttpMethod
  readonly key?: string | null
  readonly client?: string
  readonly body?: unknown
  readonly headers?: Record<string, string>
}

/** The path of an operation in the OpenAPI document. */
const templateOf = (path: string) =>
  /^\/v1\/ip\/batch/.test(path) ? '/v1/ip/batch' : /^\/v1\/ip\//.test(path) ? '/v1/ip/{ip}' : '/v1/ip'

/** Asks over a socket, and checks the answer against the OpenAPI document if it describes the operation. */
async function ask(
  path: string,
  { method = 'GET', key = KEYS.developer, client, body, headers = {} }: Ask = {},
) {
  const response = await request(service.origin + path, {
    dispatcher: agent,
    method,
    headers: {
      ...(key === null ? {} : { authorization: `Bearer ${key}` }),
      ...(client === undefined ? {} : { 'x-forwarded-for': client }),
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      ...headers,
    },
    body: body === undefined ? null : JSON.stringify(body),
  })
  const text = await response.body.text()
  const type = String(response.headers['content-type'])
  const operation = `${templateOf(path).replaceAll('/', '~1')}/${templateOf(path).endsWith('batch') ? 'post' : 'get'}`
  if (text !== '' && path.startsWith('/v1/') && response.statusCode !== 404) {
    const pointer = `/paths/${operation}/responses/${response.statusCode}/content/${type.replaceAll('/', '~1')}/schema`
    const validate = ajv.compile({ $ref: `openapi#${pointer.replaceAll('{', '%7B').replaceAll('}', '%7D')}` })
    expect(validate(JSON.parse(text)), JSON.stringify(validate.errors)).toBe(true)
  }
  return { status: response.statusCode, headers: response.headers, type, text }
}

const ips = ['81.2.69.142', '10.0.0.1', 'nonsense', '2001:4860::1']
const LOOKUP = '/v1/ip/81.2.69.142'

/** Every row of the service's specification, and of its operations here. */
const CONTRACT: readonly (readonly [
  what: string,
  path: string,
  ask: Ask,
  status: number,
  expected: () => unknown,
])[] = [
  ['detect', '/v1/ip', { client: '81.2.69.142' }, 200, () => geo.lookup('81.2.69.142')],
  [
    'detect, free plan',
    '/v1/ip',
    { client: '81.2.69.142', key: KEYS.free },
    200,
    () => geo.lookup('81.2.69.142'),
  ],
  [
    'detect, locale',
    '/v1/ip?locale=de',
    { client: '81.2.69.142' },
    200,
    () => geo.lookup('81.2.69.142', { locale: 'de' }),
  ],
  [
    'detect, private',
    '/v1/ip',
    { client: '10.0.0.1' },
    422,
    () => ({ code: 'UNRESOLVABLE_ADDRESS', reason: 'private' }),
  ],
  ['detect, only proxies', '/v1/ip', {}, 422, () => ({ reason: 'trusted-proxy' })],
  ['detect, damaged hop', '/v1/ip', { client: '1.2.3' }, 400, () => ({ code: 'MALFORMED_ADDRESS' })],
  [
    'detect, wrong locale',
    '/v1/ip?locale=x',
    { client: '81.2.69.142' },
    400,
    () => ({ code: 'INVALID_LOCALE' }),
  ],
  ['lookup', LOOKUP, {}, 200, () => geo.lookup('81.2.69.142')],
  ['lookup, business plan', LOOKUP, { key: KEYS.business }, 200, () => geo.lookup('81.2.69.142')],
  ['lookup, IPv6', '/v1/ip/2001:4860::1', {}, 200, () => geo.lookup('2001:4860::1')],
  ['lookup, encoded IPv6', '/v1/ip/2001%3a4860%3A%3A1', {}, 200, () => geo.lookup('2001:4860::1')],
  ['lookup, mapped', '/v1/ip/::ffff:81.2.69.142', {}, 200, () => geo.lookup('81.2.69.142')],
  ['lookup, zone id', '/v1/ip/fe80::1%25eth0', {}, 422, () => ({ reason: 'link-local' })],
  ['lookup, locale', `${LOOKUP}?locale=de&x=1`, {}, 200, () => geo.lookup('81.2.69.142', { locale: 'de' })],
  ['lookup, malformed', '/v1/ip/81.2.69', {}, 400, () => ({ code: 'MALFORMED_ADDRESS' })],
  ['lookup, encoded slash', '/v1/ip/81.2.69.0%2f24', {}, 400, () => ({ code: 'MALFORMED_REQUEST' })],
  ['lookup, empty segment', '/v1/ip/', {}, 400, () => ({ code: 'MALFORMED_REQUEST' })],
  ['lookup, encoded twice', '/v1/ip/fe80::1%2525eth0', {}, 400, () => ({ code: 'MALFORMED_REQUEST' })],
  ['lookup, NUL', `${LOOKUP}%00`, {}, 400, () => ({ code: 'MALFORMED_ADDRESS' })],
  ['lookup, bad UTF-8', '/v1/ip/%ff', {}, 400, () => ({ code: 'MALFORMED_REQUEST' })],
  ['lookup, free plan', LOOKUP, { key: KEYS.free }, 403, () => ({ code: 'PLAN_REQUIRED' })],
  ['lookup, unresolvable', '/v1/ip/192.0.2.1', {}, 422, () => ({ reason: 'documentation' })],
  ['lookup, not found', '/v1/ip/9.9.9.9', {}, 422, () => ({ reason: 'not-found' })],
  ['batch', '/v1/ip/batch', { method: 'POST', body: ips }, 200, () => geo.lookupMany(ips)],
  [
    'batch, object',
    '/v1/ip/batch',
    { method: 'POST', body: { ips, locale: 'de' } },
    200,
    () => geo.lookupMany(ips, { locale: 'de' }),
  ],
  ['batch, nothing', '/v1/ip/batch', { method: 'POST', body: [] }, 200, () => []],
  [
    'batch, free plan',
    '/v1/ip/batch',
    { method: 'POST', body: ips, key: KEYS.free },
    403,
    () => ({ code: 'PLAN_REQUIRED' }),
  ],
  [
    'batch, other JSON',
    '/v1/ip/batch',
    { method: 'POST', body: { ip: 1 } },
    400,
    () => ({ code: 'MALFORMED_REQUEST' }),
  ],
  [
    'batch, too many',
    '/v1/ip/batch',
    { method: 'POST', body: Array(1001).fill('1.1.1.1') },
    413,
    () => ({ code: 'TOO_LARGE' }),
  ],
  [
    'batch, too long',
    '/v1/ip/batch',
    { method: 'POST', body: ['x'.repeat(2 ** 20)] },
    413,
    () => ({ code: 'TOO_LARGE' }),
  ],
  [
    'batch, media type',
    '/v1/ip/batch',
    { method: 'POST', body: ips, headers: { 'content-type': 'text/csv' } },
    415,
    () => ({ code: 'UNSUPPORTED_MEDIA_TYPE' }),
  ],
  ['no key', LOOKUP, { key: null }, 401, () => ({ code: 'UNAUTHENTICATED' })],
  ['a wrong key', LOOKUP, { key: 'live_wrong' }, 401, () => ({ code: 'UNAUTHENTICATED' })],
  ['another operation', '/v1/places', {}, 404, () => ({ code: 'NOT_FOUND' })],
  ['another method', LOOKUP, { method: 'DELETE' }, 405, () => ({ code: 'METHOD_NOT_ALLOWED' })],
  ['OPTIONS', LOOKUP, { method: 'OPTIONS' }, 405, () => ({ code: 'METHOD_NOT_ALLOWED' })],
]

describe('the service over a socket', () => {
  it.each(CONTRACT)('%s: %s', async (_, path, question, status, expected) => {
    const answer = await ask(path, question)
    expect(answer.status, answer.text).toBe(status)
    if (status === 200) {
      expect(answer.type).toBe('application/json')
      expect(answer.text).toBe(JSON.stringify(expected()))
      expect(answer.headers['cache-control']).toBe('private, no-store')
    } else {
      expect(answer.type).toBe('application/problem+json')
      expect(JSON.parse(answer.text)).toMatchObject({ status, ...Object(expected()) })
    }
    expect(answer.headers['x-content-type-options']).toBe('nosniff')
  })

  it('says what a client has to know in header fields', async () => {
    const missing = await ask(LOOKUP, { key: null })
    expect(missing.headers['www-authenticate']).toBe('Bearer realm="geofix"')
    expect((await ask(LOOKUP, { key: 'x' })).headers['www-authenticate']).toBe(
      'Bearer realm="geofix", error="invalid_token"',
    )
    expect((await ask(LOOKUP, { method: 'PATCH' })).headers.allow).toBe('GET, HEAD')
    const { headers } = await ask(LOOKUP)
    expect(headers['ratelimit-policy']).toMatch(/^"developer";q=\d+;w=\d+$/)
    expect(headers.ratelimit).toMatch(/^"developer";r=\d+;t=\d+$/)
  })

  it('answers HEAD without a body', async () => {
    const [get, head] = [await ask(LOOKUP), await ask(LOOKUP, { method: 'HEAD' })]
    expect(head).toMatchObject({ status: 200, text: '', type: get.type })
    expect(head.headers['content-length']).toBe(get.headers['content-length'])
  })

  it('has a valid OpenAPI document', async () => {
    const { text, type } = await ask('/openapi.json', { key: null })
    expect(type).toBe('application/json')
    const result = await new Validator().validate(JSON.parse(text))
    expect(result.errors ?? []).toEqual([])
    expect(result.valid).toBe(true)
    expect(JSON.parse(text).openapi).toBe('3.1.0')
  })

  it('describes tags, and the header fields of each refusal', () => {
    const { paths } = JSON.parse(openApiJson(''))
    for (const path of Object.values<Record<string, Record<string, unknown>>>(paths)) {
      for (const { tags, description, responses } of Object.values(path)) {
        expect(tags).toEqual(['locations'])
        expect(description).toMatch(/.{40}/)
        const fields = (status: number) => Object.keys(Object(responses)[status].headers)
        expect(fields(401)).toContain('WWW-Authenticate')
        expect(fields(429)).toEqual(expect.arrayContaining(['Retry-After', 'RateLimit', 'RateLimit-Policy']))
        for (const status of Object.keys(Object(responses)))
          expect(fields(Number(status))).toContain('X-Request-Id')
      }
    }
  })

  it.each([
    ['/healthz', 'alive\n'],
    ['/readyz', expect.stringMatching(/^ready\ndatabase .+, built: .+\n$/)],
  ])('says how it is: %s', async (path, expected) => {
    expect(await ask(path, { key: null })).toMatchObject({ status: 200, text: expected })
    expect((await ask(path, { method: 'POST' })).headers.allow).toBe('GET, HEAD')
  })

  it('logs requests without keys and addresses that were looked up', async () => {
    await ask('/v1/ip/133.11.93.3')
    const lines = service.lines()
    expect(lines.at(-1)).toEqual({
      time: expect.stringMatching(/Z$/),
      event: 'request',
      id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      method: 'GET',
      operation: 'lookup',
      status: 200,
      key: 'key_developer',
      ms: expect.any(Number),
      peer: '127.0.0.1',
      client: '127.0.0.1',
    })
    expect(JSON.stringify(lines)).not.toMatch(/133\.11|live_/)
  })

  it('has metrics on a port of their own', async () => {
    await ask(LOOKUP)
    await ask('/v1/ip/10.0.0.1')
    const get = async (path: string, method: Dispatcher.HttpMethod = 'GET') => {
      const { statusCode, body } = await request(`http://127.0.0.1:${service.metricsPort}${path}`, {
        method,
        dispatcher: agent,
      })
      return { status: statusCode, text: await body.text() }
    }
    const { text } = await get('/metrics')
    expect(text).toMatch(/^geofix_requests_total\{operation="lookup",status="200"\} [1-9]/m)
    expect(text).toMatch(/^geofix_request_duration_seconds_bucket\{le="0.005",operation="lookup"\} [1-9]/m)
    expect(text).toMatch(/^geofix_lookups_total\{outcome="private"\} [1-9]/m)
    expect(text).toMatch(/^geofix_database_age_seconds \d/m)
    expect(text).toMatch(/^geofix_database_reloads 0$/m)
    expect(text).toMatch(/^geofix_database_refusals 0$/m)
    expect(text).toMatch(/^nodejs_eventloop_lag_p99_seconds /m)
    expect((await get('/')).status).toBe(404)
    expect((await get('/metrics', 'POST')).status).toBe(405)
    expect((await ask('/metrics')).status).toBe(404)
  })

  it('answers its description to no other method than GET and HEAD', async () => {
    const { statusCode, headers } = await request(`${service.origin}/openapi.json`, {
      method: 'POST',
      dispatcher: agent,
    })
    expect({ statusCode, allow: headers.allow }).toEqual({ statusCode: 405, allow: 'GET, HEAD' })
  })
})

describe('stopping', () => {
  it('finishes requests in flight, and refuses new ones', async () => {
    const other = await serve(folder)
    const client = new Agent({ connections: 2 })
    const headers = { authorization: `Bearer ${KEYS.developer}`, 'content-type': 'application/json' }
    // A batch whose body is on its way.
    let finish = () => {}
    const body = Readable.from(
      (async function* () {
        yield Buffer.from('["81.2.69.142"')
        await new Promise<void>((resolve) => {
          finish = resolve
        })
        yield Buffer.from(']')
      })(),
    )
    const slow = request(`${other.origin}/v1/ip/batch`, { dispatcher: client, method: 'POST', headers, body })
    await delay(100)
    const stopped = other.stop()
    await expect(request(`${other.origin}/readyz`, { dispatcher: new Agent() })).rejects.toThrow(
      'ECONNREFUSED',
    )
    finish()
    const { statusCode, headers: fields, body: answer } = await slow
    expect(fields.connection).toBe('close')
    expect([statusCode, await answer.json()]).toEqual([200, [expect.objectContaining({ ip: '81.2.69.142' })]])
    await stopped
    await client.destroy()
  })

  it('says on /readyz how old the databases are, and stays ready', async () => {
    const readinessOf = async (staleAfter: number) => {
      const other = await serve(folder, { staleAfter })
      const { statusCode, body } = await request(`${other.origin}/readyz`)
      const lines = (await body.text()).split('\n')
      await other.stop()
      return { statusCode, lines, logged: other.lines().filter(({ event }) => event === 'stale') }
    }
    // MmdbWriter's build date.
    const built = 'database Sample-City, built: 2000-01-01'
    expect(await readinessOf(45)).toEqual({
      statusCode: 200,
      lines: [
        'ready',
        expect.stringMatching(RegExp(`^${built}, \\d+,?\\d* days ago, stale: older than 45 days$`)),
        '',
      ],
      logged: [
        expect.objectContaining({
          databases: 'Sample-City',
          built: '2000-01-01',
          staleAfter: 45,
        }),
      ],
    })
    expect(await readinessOf(36_500)).toEqual({
      statusCode: 200,
      lines: ['ready', expect.stringMatching(RegExp(`^${built}, [\\d,]+ days ago$`)), ''],
      logged: [],
    })
  })

  it('does not wait for connections that have never sent anything', async () => {
    const other = await serve(folder, { graceSeconds: 60 })
    const socket = connect(other.port, '127.0.0.1')
    await once(socket, 'connect')
    const closed = once(socket, 'close')
    await Promise.all([other.stop(), closed])
  })

  it('waits no longer than the grace time', async () => {
    const other = await serve(folder, { graceSeconds: 0 })
    const body = Readable.from(
      (async function* () {
        yield Buffer.from('[')
        await delay(60_000, undefined, { ref: false })
      })(),
    )
    const headers = { authorization: `Bearer ${KEYS.developer}`, 'content-type': 'application/json' }
    const slow = request(`${other.origin}/v1/ip/batch`, {
      method: 'POST',
      headers,
      body,
      dispatcher: new Agent(),
    })
    slow.catch(() => {})
    await delay(100)
    await other.stop()
    await expect(slow).rejects.toThrow()
  })
})

describe('faults', () => {
  it('are logged, and answered without their message', async () => {
    const other = await serve(folder, { trustedProxies: undefined, host: '::' })
    // The database fails like this if its file is changed under it.
    vi.spyOn(AnswerJson.prototype, 'record').mockImplementationOnce(() => {
      throw new Error('the disk is on fire')
    })
    const headers = { authorization: `Bearer ${KEYS.developer}` }
    const { statusCode, body } = await request(other.origin + LOOKUP, { dispatcher: agent, headers })
    expect([statusCode, await body.text()]).toEqual([500, expect.not.stringContaining('fire')])
    expect(other.lines()).toContainEqual({
      time: expect.anything(),
      event: 'error',
      message: 'the disk is on fire',
    })
    await other.stop()
    await other.stop()
  })

  it('of too many connections are counted', async () => {
    const refusals = vi.fn()
    const reply = { status: 200, headers: [], body: 'x' }
    const server = makeServer(() => ({ reply }), { maxPerClient: 1, refused: refusals })
    const port = await listen(server, { port: 0, host: '127.0.0.1' })
    const sockets = Array.from({ length: 3 }, () => connect(port, '127.0.0.1').on('error', () => {}))
    while (refusals.mock.calls.length < 2) await delay(10)
    for (const socket of sockets) socket.destroy()
    await stop(server, 0)
  })
})

describe('starting', () => {
  it('fails with what is wrong', async () => {
    await expect(serve(folder, { databases: ['missing.mmdb'] })).rejects.toThrow('missing.mmdb')
    await expect(serve(folder, { keys: join(folder, 'missing.json') })).rejects.toThrow('missing.json')
    await expect(serve(folder, { port: service.port })).rejects.toThrow(`port ${service.port}`)
    const free = await serve(folder)
    await free.stop()
    const [port, metricsPort] = [free.port, service.port]
    await expect(serve(folder, { port, metricsPort })).rejects.toThrow(
      `port ${metricsPort}: listen EADDRINUSE`,
    )
    // It did not go on to listen at the other port.
    await (await serve(folder, { port })).stop()
    const [plan] = [{ name: 'developer', rate: 1, burst: 1, batch: 1 }]
    await expect(serve(folder, { plans: [plan] })).rejects.toThrow('the plan free')
  })

  it('without keys serves everyone, by address', async () => {
    const plan = { name: 'developer', rate: 2, burst: 2, batch: 1 }
    const open = await serve(folder, { keys: null, plans: [plan] })
    const from = async (client: string) => {
      const { statusCode, body } = await request(open.origin + LOOKUP, {
        headers: { 'x-forwarded-for': client },
        dispatcher: agent,
      })
      await body.dump()
      return statusCode
    }
    expect([await from('1.1.1.1'), await from('1.1.1.1'), await from('1.1.1.1')]).toEqual([200, 200, 429])
    expect(await from('1.1.1.2')).toBe(200)
    await open.stop()
  })
})
