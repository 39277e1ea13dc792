import { writeFileSync } from 'node:fs'
import { STATUS_CODES } from 'node:http'
import { join } from 'node:path'
import { describe, expect, it, vi } from 'vitest'
import { PROBLEMS, type ProblemCode, phraseOf } from '../../src/http/problem.ts'
import { createHandler, type HandlerOptions, type Operation } from '../../src/http.ts'
import { Resolver } from '../../src/index.ts'
import { temporaryFolder } from '../temporary.ts'
import { AMPLE, asker, authenticate, batchOf, DATABASE, openSample } from './service.ts'

const geo = await openSample({ trustedProxies: ['10.0.0.0/8'] })
const ask = asker(geo)

/** The phrases of RFC 9110, of which Node has older ones for two. */
const TITLES: Readonly<Record<number, string | undefined>> = {
  ...STATUS_CODES,
  413: 'Content Too Large',
  422: 'Unprocessable Content',
}

it('the title of each problem is the phrase of its status', () => {
  const statuses = Object.values(PROBLEMS).map(([status]) => status)
  expect(statuses.map(phraseOf)).toEqual(statuses.map((status) => TITLES[status]))
})

describe('an address', () => {
  it.each([
    ['/v1/ip/81.2.69.142', '81.2.69.142', undefined],
    ['/v1/ip/%38%31.2.69.142', '81.2.69.142', undefined],
    ['/v1/ip/2001:4860::1', '2001:4860::1', undefined],
    ['/v1/ip/2001%3A4860%3a%3A1', '2001:4860::1', undefined],
    ['/v1/ip/::ffff:81.2.69.142', '::ffff:81.2.69.142', undefined],
    ['/v1/ip/81.2.69.142?', '81.2.69.142', undefined],
    ['/v1/ip/81.2.69.142#fragment?locale=de', '81.2.69.142', undefined],
    ['/v1/ip/81.2.69.142?unknown=1&at=0', '81.2.69.142', undefined],
    ['/v1/ip/81.2.69.142?locale=de', '81.2.69.142', 'de'],
    ['/v1/ip/81.2.69.142?x=1&locale=pt-BR&locale=de#locale=de', '81.2.69.142', 'pt-BR'],
    ['/v1/ip/81.2.69.142?locale=%64e', '81.2.69.142', 'de'],
  ])('is looked up, byte for byte as lookup says: %s', async (path, ip, locale) => {
    const response = await ask(path)
    expect([response.status, response.headers.get('content-type')]).toEqual([200, 'application/json'])
    expect(await response.text()).toBe(JSON.stringify(geo.lookup(ip, { locale })))
  })

  it.each([
    ['lookup', '/v1/ip/81.2.69.142?locale=de', undefined],
    ['lookup of fields', '/v1/ip/81.2.69.142?locale=de&fields=city', undefined],
    ['detect', '/v1/ip?locale=de', undefined],
    ['batch', '/v1/ip/batch?locale=de', batchOf(['81.2.69.142'])],
    ['batch of fields', '/v1/ip/batch?locale=de&fields=city', batchOf(['81.2.69.142'])],
  ])('has the city in the language of the locale with the option: %s', async (_, path, request) => {
    const local = asker(geo, { cityNames: 'locale' })
    expect(await (await local(path, request)).text()).toContain('"city":"London, „de“"')
    expect(await (await ask(path, request)).text()).toContain('"city":"London"')
  })

  it.each<[status: number, code: ProblemCode, reason: string | undefined, paths: string]>([
    [400, 'MALFORMED_ADDRESS', undefined, '/v1/ip/nonsense /v1/ip/081.2.69.142 /v1/ip/81.2.69.142%00'],
    [400, 'MALFORMED_ADDRESS', undefined, '/v1/ip/81.2.69.142%20 /v1/ip/%2581.2.69.142'],
    [400, 'MALFORMED_REQUEST', undefined, '/v1/ip/fe80::1%2525eth0 /v1/ip/81.2.69.0%2F24 /v1/ip/1.2.3.4%2f'],
    [
      400,
      'MALFORMED_REQUEST',
      undefined,
      '/v1/ip/%ff /v1/ip/% /v1/ip/ /v1/ip// /v1/ip//8.8.8.8 /v1/ip/8.8.8.8/',
    ],
    [400, 'INVALID_LOCALE', undefined, '/v1/ip/81.2.69.142?locale=no%20such /v1/ip/81.2.69.142?locale='],
    [422, 'UNRESOLVABLE_ADDRESS', 'private', '/v1/ip/10.0.0.1'],
    [422, 'UNRESOLVABLE_ADDRESS', 'link-local', '/v1/ip/fe80::1%25eth0'],
    [422, 'UNRESOLVABLE_ADDRESS', 'not-found', '/v1/ip/9.9.9.9'],
    [404, 'NOT_FOUND', undefined, '/ /v1 /v2/ip /v1/ipx /V1/ip /v1/ip/81.2.69.0/24 /v1/ip/../../etc/passwd'],
    [405, 'METHOD_NOT_ALLOWED', undefined, '/v1/ip/batch'],
  ])('is refused with %i %s, %s: %s', async (status, code, reason, paths) => {
    for (const path of paths.split(' ')) {
      const response = await ask(path)
      expect(response.headers.get('content-type')).toBe('application/problem+json')
      expect(response.headers.get('cache-control')).toBe('no-store')
      const { type, title, detail, ...rest } = await response.json()
      expect({ reason: undefined, ...rest }, path).toEqual({ status, code, reason })
      expect([response.status, type, title]).toEqual([status, 'about:blank', TITLES[status]])
      expect(detail).toMatch(/^.{9,200}$/)
    }
  })
})

describe('the caller', () => {
  it.each([
    ['the peer', '81.2.69.142', {}, '81.2.69.142'],
    ['behind a proxy', '10.0.0.1', { 'x-forwarded-for': '9.9.9.9, 133.11.93.3' }, '133.11.93.3'],
  ])('is found: %s', async (_, peer, headers, ip) => {
    const response = await ask('/v1/ip', { peer, headers, key: 'free-key' })
    expect(response.headers.get('cache-control')).toBe('private, no-store')
    expect(await response.text()).toBe(JSON.stringify(geo.lookup(ip)))
  })

  it.each([
    ['a private peer', '192.168.0.1', {}, 422, 'private'],
    ['no location', '9.9.9.9', {}, 422, 'not-found'],
    ['only proxies', '10.0.0.1', {}, 422, 'trusted-proxy'],
    ['hidden', '10.0.0.1', { 'x-forwarded-for': '_hidden' }, 422, 'unidentified'],
    ['a damaged hop', '10.0.0.1', { 'x-forwarded-for': '1.2.3' }, 400, undefined],
  ])('is refused: %s', async (_, peer, headers, status, reason) => {
    const response = await ask('/v1/ip', { peer, headers })
    expect([response.status, (await response.json()).reason]).toEqual([status, reason])
  })

  it('is the fault of the program if it is not known', async () => {
    const onError = vi.fn()
    const response = await asker(geo, { onError })('/v1/ip', { peer: null })
    expect(response.status).toBe(500)
    expect(await response.text()).not.toContain('remoteAddress')
    expect(onError).toHaveBeenCalledWith(expect.objectContaining({ code: 'ADDRESS_UNAVAILABLE' }))
  })
})

describe('a batch', () => {
  const ips = ['81.2.69.142', '10.0.0.1', 'nonsense', '2001:4860::1', '9.9.9.9', '']

  it.each([
    ['in the body', '/v1/ip/batch', { ips, locale: 'de', other: 1 }],
    ['in the query', '/v1/ip/batch?locale=de', ips],
    ['in both: the body counts', '/v1/ip/batch?locale=ja', { ips, locale: 'de' }],
  ])('has a locale: %s', async (_, path, body) => {
    const response = await ask(path, batchOf(body))
    expect(await response.text()).toBe(JSON.stringify(geo.lookupMany(ips, { locale: 'de' })))
    const part = await ask(`${path}${path.includes('?') ? '&' : '?'}fields=country.name`, batchOf(body))
    expect(await part.json()).toContainEqual({ country: { name: 'Ein "Land"' } })
  })

  it.each<[string, RequestInit, number]>([
    ['nothing', batchOf([]), 200],
    ['a charset', batchOf([], { 'content-type': 'application/json; charset="UTF-8"' }), 200],
    ['another parameter', batchOf([], { 'content-type': 'Application/JSON ;version=1' }), 200],
    ['identity', batchOf([], { 'content-encoding': 'identity' }), 200],
    ['as many as allowed', batchOf(Array(1000).fill('1.1.1.1')), 200],
    ['one more', batchOf(Array(1001).fill('1.1.1.1')), 413],
    ['as many bytes as allowed', batchOf(`[]${' '.repeat(2 ** 20 - 2)}`), 200],
    ['one byte more', batchOf(`[]${' '.repeat(2 ** 20 - 1)}`), 413],
    ['a declared length', batchOf('[]', { 'content-length': '9999999' }), 413],
    ['an item that is not text', batchOf(['1.1.1.1', 1]), 400],
    ['an object without ips', batchOf({ ip: [] }), 400],
    ['no object', batchOf('7'), 400],
    ['null', batchOf('null'), 400],
    ['no JSON', batchOf('["1.1.1.1"'), 400],
    ['no body', { method: 'POST', headers: { 'content-type': 'application/json' } }, 400],
    ['bad UTF-8', batchOf(new Uint8Array([0x5b, 0x22, 0xff, 0x22, 0x5d])), 400],
    ['a deep body', batchOf('['.repeat(500_000)), 400],
    ['a locale that is not text', batchOf({ ips, locale: 1 }), 400],
    ['a wrong locale', batchOf({ ips, locale: 'no such' }), 400],
    ['another media type', batchOf([], { 'content-type': 'text/plain' }), 415],
    ['no media type', { method: 'POST', body: new Uint8Array([0x5b, 0x5d]) }, 415],
    ['another charset', batchOf([], { 'content-type': 'application/json; charset=latin1' }), 415],
    ['a compressed body', batchOf([], { 'content-encoding': 'gzip' }), 415],
    ['a body that is compressed otherwise', batchOf([], { 'content-encoding': 'br' }), 415],
  ])('with %2$s', async (_, init, status) => {
    expect((await ask('/v1/ip/batch', init)).status).toBe(status)
  })

  it('with a wrong locale in the query is refused, whatever the body has', async () => {
    const response = await ask('/v1/ip/batch?locale=no%20such', batchOf({ ips, locale: 'de' }))
    expect([response.status, (await response.json()).code]).toEqual([400, 'INVALID_LOCALE'])
  })

  it.each([
    ['fails', async () => Promise.reject(new Error('reset'))],
    ['never ends', async () => new Promise<void>(() => {})],
  ])('is refused and cancelled beyond the limit, also if cancelling it %s', async (_, end) => {
    const cancel = vi.fn(end)
    const pull = (controller: ReadableStreamDefaultController) => controller.enqueue(new Uint8Array(2 ** 20))
    const init = { ...batchOf(''), body: new ReadableStream({ pull, cancel }), duplex: 'half' }
    expect((await ask('/v1/ip/batch', init)).status).toBe(413)
    expect(cancel).toHaveBeenCalledOnce()
  })

  it('is read no further than the limit', async () => {
    let sent = 0
    const pull = (controller: ReadableStreamDefaultController) => {
      sent += 65_536
      controller.enqueue(new Uint8Array(65_536).fill(0x20))
    }
    const init = { ...batchOf(''), body: new ReadableStream({ pull }), duplex: 'half' }
    expect((await ask('/v1/ip/batch', init)).status).toBe(413)
    expect(sent).toBeLessThan(2 ** 20 + 4 * 65_536)
  })

  it('that ends early is refused, and other requests are answered', async () => {
    const onError = vi.fn()
    const body = new ReadableStream({ pull: (controller) => controller.error(new Error('reset')) })
    const init = { ...batchOf(''), body, duplex: 'half' }
    expect((await asker(geo, { onError })('/v1/ip/batch', init)).status).toBe(400)
    expect(onError).not.toHaveBeenCalled()
  })

  it('obeys the limits of the program and of the plan', async () => {
    const plans = AMPLE.map((plan) => ({ ...plan, batch: 3 }))
    expect((await asker(geo, { plans })('/v1/ip/batch', batchOf(['a', 'b', 'c']))).status).toBe(200)
    expect((await asker(geo, { plans })('/v1/ip/batch', batchOf(['a', 'b', 'c', 'd']))).status).toBe(413)
    const detail = async (options: Partial<HandlerOptions>, count: number) =>
      (await (await asker(geo, options)('/v1/ip/batch', batchOf(Array(count).fill('a')))).json()).detail
    expect(await detail({ plans }, 4)).toBe('The batch has 4 addresses; the plan "developer" allows 3.')
    expect(await detail({ maxBatch: 1 }, 2)).toBe('The batch has 2 addresses; the service allows 1.')
    expect((await asker(geo, { maxBodyBytes: 3 })('/v1/ip/batch', batchOf(['a']))).status).toBe(413)
  })
})

describe('methods', () => {
  it.each([
    ['POST', '/v1/ip', 'GET, HEAD'],
    ['DELETE', '/v1/ip/81.2.69.142', 'GET, HEAD'],
    ['OPTIONS', '/v1/ip/81.2.69.142', 'GET, HEAD'],
    ['GET', '/v1/ip/batch', 'POST'],
    ['PUT', '/v1/ip/batch', 'POST'],
  ])('%s %s is not one: Allow says which are', async (method, path, allow) => {
    const response = await ask(path, { method })
    expect([response.status, response.headers.get('allow')]).toEqual([405, allow])
  })

  it.each(['/v1/ip', '/v1/ip/81.2.69.142', '/v1/ip/2001:4860::1', '/v1/ip/10.0.0.1'])(
    'HEAD %s is GET without a body',
    async (path) => {
      const [get, head] = [await ask(path), await ask(path, { method: 'HEAD' })]
      expect(head.status).toBe(get.status)
      expect(await head.text()).toBe('')
      const length = (await get.arrayBuffer()).byteLength
      expect(head.headers.get('content-length')).toBe(String(length))
      expect(head.headers.get('content-type')).toBe(get.headers.get('content-type'))
    },
  )
})

const NONE = 'Bearer realm="geofix"'
const WRONG = `${NONE}, error="invalid_token"`

describe('keys', () => {
  it.each<[string, string | null, string | null]>([
    ['no field', null, NONE],
    ['another scheme', 'Basic dXNlcjpwYXNz', NONE],
    ['a bare key', 'developer-key', NONE],
    ['a wrong key', 'Bearer wrong', WRONG],
    ['no key', 'Bearer', NONE],
    ['no key after a space', 'Bearer ', NONE],
    ['two fields', 'Bearer developer-key, Bearer developer-key', WRONG],
    ['two keys', 'Bearer developer-key developer-key', WRONG],
    ['a long key', `Bearer ${'a'.repeat(100_000)}`, WRONG],
  ])('are asked for: %s', async (_, authorization, challenge) => {
    for (const path of ['/v1/ip', '/v1/ip/81.2.69.142']) {
      const headers = authorization === null ? {} : { authorization }
      const response = await ask(path, { key: null, headers })
      expect(response.status).toBe(401)
      expect(response.headers.get('www-authenticate')).toBe(challenge)
      expect((await response.json()).code).toBe('UNAUTHENTICATED')
    }
  })

  it('are looked up if their field has at most 512 characters', async () => {
    const lookUp = vi.fn((_: string) => null)
    for (const length of [505, 506])
      await asker(geo, { authenticate: lookUp })('/v1/ip', { key: 'a'.repeat(length) })
    expect(lookUp.mock.calls.map(([key]) => key.length)).toEqual([505])
  })

  it('may be written with any case of the scheme', async () => {
    const headers = { authorization: 'bEARER  developer-key' }
    expect((await ask('/v1/ip', { key: null, headers })).status).toBe(200)
  })

  it.each([
    ['/v1/ip', undefined, [200, 200, 200]],
    ['/v1/ip/81.2.69.142', undefined, [403, 200, 200]],
    ['/v1/ip/nonsense', undefined, [403, 400, 400]],
    ['/v1/ip/batch', batchOf(['81.2.69.142']), [403, 200, 200]],
  ])('of lower plans are not enough for %s', async (path, init, statuses) => {
    for (const [rank, key] of ['free-key', 'developer-key', 'business-key'].entries()) {
      const response = await ask(path, { ...init, key })
      expect(response.status).toBe(statuses[rank])
      if (response.status !== 403) continue
      expect(response.headers.get('www-authenticate')).toBe(`${NONE}, error="insufficient_scope"`)
      expect((await response.json()).code).toBe('PLAN_REQUIRED')
    }
  })

  it('may be looked up somewhere else, which can fail', async () => {
    const onError = vi.fn()
    const failing = asker(geo, { onError, authenticate: () => Promise.reject(new Error('no database')) })
    const response = await failing('/v1/ip')
    expect(response.status).toBe(500)
    expect(await response.text()).not.toContain('no database')
    expect(onError).toHaveBeenCalledWith(new Error('no database'))
    const strange = await asker(geo, { onError })('/v1/ip', { key: 'strange-key' })
    expect(strange.status).toBe(500)
  })
})

describe('CORS', () => {
  const origin = 'https://map.example'
  const field = (response: Response) => response.headers.get('access-control-allow-origin')

  it.each([
    ['*', origin, '*'],
    [[origin], origin, origin],
    [[origin], 'https://evil.example', null],
    [[origin], null, null],
    [['chrome-extension://abcdef'], 'chrome-extension://abcdef', 'chrome-extension://abcdef'],
  ] as const)('allows %j to %s', async (cors, from, allowed) => {
    const headers = from === null ? {} : { origin: from }
    const open = asker(geo, { cors })
    for (const path of ['/v1/ip', '/v1/ip/nonsense', '/nothing']) {
      const response = await open(path, { headers })
      expect(field(response)).toBe(allowed)
      if (cors !== '*') expect(response.headers.get('vary')).toBe('Origin')
    }
    const preflight = await open('/v1/ip/batch', { method: 'OPTIONS', headers, key: null })
    expect([preflight.status, field(preflight)]).toEqual([204, allowed])
    expect(preflight.headers.get('access-control-allow-headers')).toBe(
      'Authorization, Content-Type, X-Request-Id',
    )
    const put = await open('/v1/ip', { method: 'PUT' })
    expect(put.headers.get('allow')).toBe('GET, HEAD, OPTIONS')
  })
})

describe('faults', () => {
  it('inside are answered without their message', async () => {
    const closed = await openSample()
    closed.close()
    const onError = vi.fn(() => {
      throw new Error('in onError')
    })
    const response = await asker(closed, { onError })('/v1/ip')
    expect(response.status).toBe(500)
    expect(await response.json()).toMatchObject({ code: 'INTERNAL_ERROR' })
    expect(onError).toHaveBeenCalledWith(new TypeError('the resolver is closed'))
  })

  it('of a database do not show its path', async () => {
    const path = join(temporaryFolder(), 'secret.mmdb')
    const bytes = Buffer.from(DATABASE)
    // A pointer to nowhere, instead of the name of a city.
    bytes.set([0x38, 0xff, 0xff, 0xff, 0xff], bytes.indexOf('Chiyoda') - 1)
    writeFileSync(path, bytes)
    const onError = vi.fn()
    const open = asker(await Resolver.open(path), { onError })
    const batch = await open('/v1/ip/batch', batchOf(['133.11.93.3', '81.2.69.142']))
    const error = { code: 'INVALID_DATABASE', status: null, message: 'the database is damaged here' }
    expect(await batch.json()).toMatchObject([{ ip: '133.11.93.3', error }, { city: 'London' }])
    const lookup = await open('/v1/ip/133.11.93.3')
    expect(lookup.status).toBe(500)
    expect(await lookup.text()).not.toContain('secret')
    const shown = onError.mock.calls.map(([each]) => String(each))
    expect(shown.map((each) => each.includes('secret.mmdb'))).toEqual([true, true])
    // The client's own place does not matter for its budget.
    expect((await open('/v1/ip/81.2.69.142', { key: null, peer: '133.11.93.3' })).status).toBe(401)
  })

  it.each([{ plan: 'free' }, { plan: 'free', id: '' }, { plan: 'free', id: 7 }])(
    'are those of an owner without a name: %j, whose requests would be counted with those of others',
    async (owner) => {
      const onError = vi.fn()
      const open = Reflect.apply(asker, undefined, [geo, { authenticate: () => owner, onError }])
      expect((await open('/v1/ip')).status).toBe(500)
      const message = expect.stringContaining('an id')
      expect(onError).toHaveBeenCalledWith(expect.objectContaining({ message }))
    },
  )

  it('are answered while the service stops', async () => {
    const controller = new AbortController()
    const open = asker(geo, { signal: controller.signal })
    expect((await open('/v1/ip')).status).toBe(200)
    controller.abort()
    const response = await open('/v1/ip')
    expect(response.status).toBe(503)
    expect(response.headers.get('retry-after')).toBe('1')
  })
})

describe('onAnswer', () => {
  it('gets each answer', async () => {
    const answers: unknown[] = []
    const open = asker(geo, { onAnswer: (answer) => answers.push(answer) })
    await open('/v1/ip')
    await open('/v1/ip/10.0.0.1')
    await open('/v1/ip/batch', batchOf(['81.2.69.142', '81.2.69.143', 'x', '9.9.9.9']))
    await open('/v1/ip/batch', { ...batchOf([]), key: null })
    await open('/nothing')
    const rest = { milliseconds: expect.any(Number), remoteAddress: '81.2.69.142' }
    const answer = (operation: Operation | null, status: number, keyId: string | null, outcomes = {}) => ({
      ...{ operation, status, keyId, outcomes, ...rest },
    })
    expect(answers).toEqual([
      answer('detect', 200, 'd', { found: 1 }),
      answer('lookup', 422, 'd', { private: 1 }),
      answer('batch', 200, 'd', { found: 2, MALFORMED_ADDRESS: 1, 'not-found': 1 }),
      answer('batch', 401, null),
      answer(null, 404, null),
    ])
  })

  it('cannot break an answer', async () => {
    const onError = vi.fn()
    const onAnswer = () => {
      throw new Error('in onAnswer')
    }
    expect((await asker(geo, { onAnswer, onError })('/v1/ip')).status).toBe(200)
    expect(onError).toHaveBeenCalledWith(new Error('in onAnswer'))
  })
})

describe('a base path', () => {
  it('precedes the operations, and is in the answer for another path', async () => {
    const open = asker(geo, { basePath: '/geo' })
    expect((await open('/geo/v1/ip')).status).toBe(200)
    expect(await (await open('/v1/ip')).json()).toMatchObject({
      status: 404,
      detail: 'The operations are GET /geo/v1/ip, GET /geo/v1/ip/{ip} and POST /geo/v1/ip/batch.',
    })
  })
})

describe('options', () => {
  const wrong: [string, Record<string, unknown>][] = [
    ['nothing about keys', { authenticate: undefined }],
    ['a key instead of a function', { authenticate: 'key' }],
    ['a base path that ends with a slash', { basePath: '/geo/' }],
    ['a base path that is written otherwise in a URL', { basePath: '/a b' }],
    ['a base path with dots', { basePath: '/a/../b' }],
    ['an origin with a path', { cors: ['https://map.example/'] }],
    ['an origin of an extension with a path', { cors: ['chrome-extension://abc/x'] }],
    ['no list of origins', { cors: 'https://map.example' }],
    ['a batch of none', { maxBatch: 0 }],
    ['no number of bytes', { maxBodyBytes: '1' }],
    ['no plans', { plans: [] }],
    ['plans that are not a list', { plans: {} }],
    ['two plans of one name', { plans: [...AMPLE, ...AMPLE] }],
    ['a plan without a name', { plans: [{ ...AMPLE[0], name: '' }] }],
    ['a plan without a rate', { plans: [{ ...AMPLE[0], rate: 0 }] }],
    ['a plan with less burst than rate', { plans: [{ ...AMPLE[0], rate: 2, burst: 1 }] }],
    ['a plan without a batch', { plans: [{ ...AMPLE[0], batch: -1 }] }],
    ['a plan for lookups that is not there', { lookupPlan: 'gold' }],
    ['a plan that is none', { plans: [null] }],
    ['a plan with too long a window for timers', { plans: [{ ...AMPLE[1], rate: 1 / 2_592_000, burst: 1 }] }],
    ['a limiter that is none', { limiter: () => ({}) }],
    ['a limiter that is not a function', { limiter: 5 }],
    ['a signal that is none', { signal: 5 }],
    ['an onError that is not a function', { onError: 1 }],
    ['an onAnswer that is not a function', { onAnswer: 1 }],
  ]
  it.each(wrong)('are refused: %s', (_, options) => {
    const make = () => Reflect.apply(createHandler, null, [geo, { authenticate, ...options }])
    expect(make).toThrow(TypeError)
  })

  it('may have a window of any length where a store counts', () => {
    const limiter = () => ({ consume: async () => ({ remainingPoints: 1, msBeforeNext: 1 }) })
    const plans = [{ name: 'developer', rate: 1 / 2_592_000, burst: 100, batch: 1 }]
    expect(() => createHandler(geo, { authenticate, plans, limiter })).not.toThrow()
  })

  it('have defaults', async () => {
    const handler = createHandler(geo satisfies Resolver, { authenticate })
    const headers = { authorization: 'Bearer developer-key' }
    expect((await handler(new Request('http://x/v1/ip/81.2.69.142', { headers }))).status).toBe(200)
    const nobody = [new Request('http://x/v1/ip', { headers }), null]
    expect(await Reflect.apply(handler, null, nobody)).toMatchObject({ status: 500 })
  })
})

describe('a mistake in the program', () => {
  it('without await is a TypeError at once', () => {
    const opening: unknown = Resolver.open(DATABASE)
    // @ts-expect-error a promise is not a resolver
    expect(() => createHandler(opening, { authenticate: null })).toThrow(
      'createHandler(await Resolver.open(), …)',
    )
    // @ts-expect-error the resolver is missing
    expect(() => createHandler()).toThrow('must be a Resolver')
  })

  it('is printed, because the answer of 500 does not say it', async () => {
    const print = vi.spyOn(console, 'error').mockImplementation(() => {})
    const handle = createHandler(geo, { authenticate: null })
    const response = await handle(new Request('http://localhost/v1/ip'), {})
    expect(response.status).toBe(500)
    expect(print.mock.calls).toEqual([
      [expect.objectContaining({ message: expect.stringContaining('did not pass remoteAddress') })],
    ])
  })

  it.each<[what: string, request: unknown]>([
    ["Node's own request", { method: 'GET', url: '/v1/ip', headers: {}, rawHeaders: [] }],
    ["Hono's context", { req: {} }],
    ['a text', 'http://localhost/v1/ip'],
    ['nothing', undefined],
  ])('is named if the handler is given %s', async (_, request) => {
    const errors: unknown[] = []
    const handle = createHandler(geo, { authenticate: null, onError: (error) => errors.push(error) })
    expect(await Reflect.apply(handle, null, [request, {}])).toMatchObject({ status: 500 })
    expect(errors).toEqual([
      expect.objectContaining({ message: expect.stringContaining('createNodeListener(handler)') }),
    ])
  })
})
