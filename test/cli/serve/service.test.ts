import { once } from 'node:events'
import { connect } from 'node:net'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { setTimeout as delay } from 'node:timers/promises'
import { Validator } from '@seriousme/openapi-schema-validator'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { Agent, type Dispatcher, request } from 'undici'
import { afterAll, describe, expect, it, vi } from 'vitest'
import { openApiJson } from '../../../src/cli/serve/openapi.ts'
import { Resolver } from '../../../src/index.ts'
import { BORROW } from '../../../src/location/database-set.ts'
import { temporaryFolder } from '../../temporary.ts'
import { ask, authorization, KEYS, LONDON, type Service, serve } from './running.ts'

const folder = temporaryFolder()

const service = await serve(folder, { metricsPort: 0 }, afterAll)
const geo = await Resolver.open(join(folder, 'sample.mmdb'))

const ajv = new Ajv2020({ strict: false, allErrors: true })
ajv.addSchema(JSON.parse(openApiJson('')), 'openapi')

interface Question {
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
async function question(
  path: string,
  { method = 'GET', key = KEYS.developer, client, body, headers: more = {} }: Question = {},
) {
  const { status, headers, text } = await ask(service.origin + path, {
    method,
    headers: {
      ...(key === null ? {} : { authorization: `Bearer ${key}` }),
      ...(client === undefined ? {} : { 'x-forwarded-for': client }),
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      ...more,
    },
    body: body === undefined ? null : JSON.stringify(body),
  })
  const type = String(headers['content-type'])
  const operation = `${templateOf(path).replaceAll('/', '~1')}/${templateOf(path).endsWith('batch') ? 'post' : 'get'}`
  if (text !== '' && path.startsWith('/v1/') && status !== 404) {
    const pointer = `/paths/${operation}/responses/${status}/content/${type.replaceAll('/', '~1')}/schema`
    const validate = ajv.compile({ $ref: `openapi#${pointer.replaceAll('{', '%7B').replaceAll('}', '%7D')}` })
    expect(validate(JSON.parse(text)), JSON.stringify(validate.errors)).toBe(true)
  }
  return { status, headers, type, text }
}

const ips = ['81.2.69.142', '10.0.0.1', 'nonsense', '2001:4860::1']
const BATCH = '/v1/ip/batch'
const post = (body: unknown, more: Question = {}): Question => ({ method: 'POST', body, ...more })

/** A row for each operation and status that the OpenAPI document has. All other questions are in test/http/handler.test.ts. */
const CONTRACT: readonly (readonly [
  path: string,
  question: Question,
  status: number,
  expected: string | (() => unknown),
])[] = [
  ['/v1/ip', { client: '81.2.69.142' }, 200, () => geo.lookup('81.2.69.142')],
  ['/v1/ip', { client: '10.0.0.1' }, 422, 'UNRESOLVABLE_ADDRESS'],
  ['/v1/ip', { client: '1.2.3' }, 400, 'MALFORMED_ADDRESS'],
  ['/v1/ip', { key: null }, 401, 'UNAUTHENTICATED'],
  [`${LONDON}?locale=de&x=1`, {}, 200, () => geo.lookup('81.2.69.142', { locale: 'de' })],
  ['/v1/ip/2001%3a4860%3A%3A1', {}, 200, () => geo.lookup('2001:4860::1')],
  ['/v1/ip/81.2.69.0%2f24', {}, 400, 'MALFORMED_REQUEST'],
  [`${LONDON}%00`, {}, 400, 'MALFORMED_ADDRESS'],
  ['/v1/ip/%ff', {}, 400, 'MALFORMED_REQUEST'],
  [LONDON, { key: 'live_wrong' }, 401, 'UNAUTHENTICATED'],
  [LONDON, { key: KEYS.free }, 403, 'PLAN_REQUIRED'],
  ['/v1/ip/9.9.9.9', {}, 422, 'UNRESOLVABLE_ADDRESS'],
  [BATCH, post(ips), 200, () => geo.lookupMany(ips)],
  [BATCH, post({ ip: 1 }), 400, 'MALFORMED_REQUEST'],
  [BATCH, post(ips, { key: KEYS.free }), 403, 'PLAN_REQUIRED'],
  [BATCH, post(ips, { key: null }), 401, 'UNAUTHENTICATED'],
  [BATCH, post(Array(1001).fill('1.1.1.1')), 413, 'TOO_LARGE'],
  [BATCH, post(['x'.repeat(2 ** 20)]), 413, 'TOO_LARGE'],
  [BATCH, post(ips, { headers: { 'content-type': 'text/csv' } }), 415, 'UNSUPPORTED_MEDIA_TYPE'],
  ['/v1/places', {}, 404, 'NOT_FOUND'],
  [LONDON, { method: 'DELETE' }, 405, 'METHOD_NOT_ALLOWED'],
]

describe('the service over a socket', () => {
  it.each(CONTRACT)('answers %s as the document says: %#', async (path, asked, status, expected) => {
    const answer = await question(path, asked)
    expect(answer.status, answer.text).toBe(status)
    if (typeof expected === 'function') {
      expect(answer.type).toBe('application/json')
      expect(answer.text).toBe(JSON.stringify(expected()))
      expect(answer.headers['cache-control']).toBe('private, no-store')
      expect(answer.headers['ratelimit-policy']).toMatch(/^"developer";q=\d+;w=\d+$/)
      expect(answer.headers.ratelimit).toMatch(/^"developer";r=\d+;t=\d+$/)
    } else {
      expect(answer.type).toBe('application/problem+json')
      expect(JSON.parse(answer.text)).toMatchObject({ status, code: expected })
    }
    expect(answer.headers['x-content-type-options']).toBe('nosniff')
  })

  it('has a valid OpenAPI document', async () => {
    const { text, type } = await question('/openapi.json', { key: null })
    expect(type).toBe('application/json')
    expect(await new Validator().validate(JSON.parse(text))).toMatchObject({ valid: true })
    expect(JSON.parse(text).openapi).toBe('3.1.0')
  })

  it('describes tags, parameters, schemas, and the header fields of each refusal', () => {
    const text = openApiJson('')
    const { info, tags: known, paths, components, security } = JSON.parse(text)
    expect(Object.keys(info)).toEqual(expect.arrayContaining(['description', 'contact', 'license']))
    expect(known).toEqual([{ name: 'locations', description: expect.any(String) }])
    expect(security).toEqual([{ [Object.keys(components.securitySchemes).join()]: [] }])
    const used = Array.from(text.matchAll(/"\$ref":"#\/components\/schemas\/(\w+)"/g), ([, name]) => name)
    expect([...new Set(used)].sort()).toEqual(Object.keys(components.schemas).sort())
    expect(text.match(/"\$ref"/g)).toHaveLength(used.length)
    const schemas: object[] = Object.values(components.schemas)
    JSON.parse(text, (key, value) => {
      if (key === 'schema') schemas.push(value)
      return value
    })
    for (const each of schemas) expect(ajv.validateSchema(each), JSON.stringify(ajv.errors)).toBe(true)
    const ids = Array.from(text.matchAll(/"operationId":"(\w+)"/g), ([, id]) => id)
    expect(new Set(ids).size).toBe(Object.keys(paths).length)
    for (const [path, operations] of Object.entries<Record<string, Record<string, unknown>>>(paths)) {
      for (const { tags, summary, description, parameters, responses } of Object.values(operations)) {
        const inPath = [parameters].flat().filter((each) => Object(each).in === 'path')
        const names = path.match(/(?<=\{)\w+(?=\})/g) ?? []
        expect(inPath).toMatchObject(names.map((name) => ({ name, required: true })))
        const all = [parameters].flat().map((each) => Object(each).name)
        expect(new Set(all).size).toBe(all.length)
        expect([tags, summary]).toEqual([['locations'], expect.any(String)])
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
    ['/openapi.json', openApiJson('')],
  ])("answers %s to nobody's GET and HEAD", async (path, expected) => {
    expect(await question(path, { key: null })).toMatchObject({ status: 200, text: expected })
    const { status, headers } = await question(path, { method: 'POST' })
    expect([status, headers.allow]).toEqual([405, 'GET, HEAD'])
  })

  it('logs requests without keys and addresses that were looked up', async () => {
    await question('/v1/ip/133.11.93.3')
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
    await question(LONDON)
    await question('/v1/ip/10.0.0.1')
    const get = (path: string, method: Dispatcher.HttpMethod = 'GET') =>
      ask(`http://127.0.0.1:${service.metricsPort}${path}`, { method, headers: {} })
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
    expect((await question('/metrics')).status).toBe(404)
  })
})

describe('stopping', () => {
  /** Sends a batch whose end comes later. */
  function sendSlowly(to: Service, dispatcher: Agent, finished: Promise<unknown>) {
    const body = Readable.from(
      (async function* () {
        yield Buffer.from('["81.2.69.142"')
        await finished
        yield Buffer.from(']')
      })(),
    )
    const headers = { authorization, 'content-type': 'application/json' }
    return ask(to.origin + BATCH, { dispatcher, method: 'POST', headers, body })
  }

  it('finishes requests in flight, and refuses new ones', async () => {
    const other = await serve(folder)
    const client = new Agent({ connections: 2 })
    let finish = () => {}
    const finished = new Promise<void>((resolve) => {
      finish = resolve
    })
    const slow = sendSlowly(other, client, finished)
    await delay(100)
    const stopped = other.stop()
    await expect(request(`${other.origin}/readyz`, { dispatcher: new Agent() })).rejects.toThrow(
      'ECONNREFUSED',
    )
    finish()
    const { status, headers, text } = await slow
    expect([status, headers.connection]).toEqual([200, 'close'])
    expect(JSON.parse(text)).toEqual([expect.objectContaining({ ip: '81.2.69.142' })])
    await stopped
    await client.destroy()
  })

  it('says on /readyz how old the databases are, and stays ready', async () => {
    const readinessOf = async (staleAfter: number) => {
      const other = await serve(folder, { staleAfter })
      const { status, text } = await ask(`${other.origin}/readyz`)
      return { status, text, logged: other.lines().filter(({ event }) => event === 'stale') }
    }
    // MmdbWriter's build date.
    const built = 'database Sample-City, built: 2000-01-01'
    expect(await readinessOf(45)).toEqual({
      status: 200,
      text: expect.stringMatching(RegExp(`^ready\n${built}, [\\d,]+ days ago, stale: older than 45 days\n$`)),
      logged: [expect.objectContaining({ databases: 'Sample-City', built: '2000-01-01', staleAfter: 45 })],
    })
    expect(await readinessOf(36_500)).toEqual({
      status: 200,
      text: expect.stringMatching(RegExp(`^ready\n${built}, [\\d,]+ days ago\n$`)),
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
    const slow = sendSlowly(other, new Agent(), delay(60_000, undefined, { ref: false }))
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
    vi.spyOn(Resolver.prototype, BORROW).mockImplementationOnce(() => {
      throw new Error('the disk is on fire')
    })
    expect(await ask(other.origin + LONDON)).toMatchObject({
      status: 500,
      text: expect.not.stringContaining('fire'),
    })
    expect(other.lines()).toContainEqual({
      time: expect.anything(),
      event: 'error',
      message: 'the disk is on fire',
    })
    await other.stop()
  })
})

describe('starting', () => {
  it('fails with what is wrong', async () => {
    await expect(serve(folder, { port: service.port })).rejects.toThrow(`port ${service.port}`)
    const free = await serve(folder)
    await free.stop()
    const [port, metricsPort] = [free.port, service.port]
    await expect(serve(folder, { port, metricsPort })).rejects.toThrow(
      `port ${metricsPort}: another process listens there (EADDRINUSE)`,
    )
    // It did not go on to listen at the other port.
    await (await serve(folder, { port })).stop()
    const [plan] = [{ name: 'developer', rate: 1, burst: 1, batch: 1 }]
    await expect(serve(folder, { plan: [plan] })).rejects.toThrow('the plan free')
  })
})
