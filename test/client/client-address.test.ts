import { describe, expect, it } from 'vitest'
import { createClientAddress } from '../../src/client/client-address.ts'
import type { DetectSource } from '../../src/client/request-source.ts'
import {
  AddressUnavailableError,
  isGeofixError,
  MalformedAddressError,
  UnresolvableAddressError,
} from '../../src/errors.ts'
import { tableOf } from '../table-of.ts'
import { vectorsIn } from '../vectors/vectors-in.ts'

interface Vector {
  readonly id: string
  readonly name: string
  readonly source: {
    readonly kind: 'plain' | 'node' | 'fastify' | 'koa' | 'web' | 'config'
    readonly headers?: Record<string, string | string[]>
    readonly headerLines?: [string, string][]
    readonly remoteAddress?: string
    readonly socket?: object
    readonly ip?: string
    readonly peer?: { remoteAddress: string | null }
    readonly repeat?: { name: string; item: string; times: number; tail: string }
  }
  readonly options: object
  readonly expect: Readonly<Record<string, unknown>>
}

/** Node gives this name to the handle of a Unix socket. */
class Pipe {}
class TCP {}
class JSStream {}
class TLSWrap {
  readonly _parent: object
  constructor(parent: object) {
    this._parent = parent
  }
}
/** The members of a Unix socket in Node that are read. */
const UNIX_SOCKET = { destroyed: false, _handle: new Pipe() }

const vectors = vectorsIn<Vector>('detect-vectors.json')

/** Makes the request that a vector describes, in the shape of its framework. */
function sourceOf({
  kind,
  repeat,
  headerLines,
  remoteAddress,
  socket,
  ip,
  ...source
}: Vector['source']): unknown {
  const headers: Record<string, string | string[]> = { ...source.headers }
  if (repeat) headers[repeat.name] = repeat.item.repeat(repeat.times) + repeat.tail
  switch (kind) {
    case 'node':
      return { headers, socket, ip }
    case 'fastify':
      return { raw: { headers, socket }, headers, ip }
    case 'koa':
      return { req: { headers, socket }, headers, ip }
    case 'web': {
      const lines = new Headers()
      for (const [name, value] of headerLines ?? []) lines.append(name, value)
      return new Request('http://localhost/', { headers: lines })
    }
    default:
      return remoteAddress === undefined ? { headers } : { headers, remoteAddress }
  }
}

/** Runs a function and returns its outcome in the words of the vectors. */
function outcomeOf(run: () => unknown): Record<string, unknown> {
  try {
    return { outcome: 'lookup', ...Object(run()) }
  } catch (error) {
    if (error instanceof TypeError) return { outcome: 'config-error' }
    if (!isGeofixError(error)) throw error
    if (error instanceof AddressUnavailableError) return { outcome: 'unavailable', reason: error.reason }
    const { status } = error
    if (error instanceof MalformedAddressError) return { outcome: 'malformed', status, via: error.via }
    if (!(error instanceof UnresolvableAddressError)) throw error
    const { reason, address, via } = error
    return { outcome: 'unresolvable', status, reason, address, via }
  }
}

describe('vectors', () => {
  it('exist', () => expect(vectors.length).toBeGreaterThan(90))

  it.each(vectors)('$id $name', ({ source, options, expect: expected }) => {
    const outcome = outcomeOf(() => {
      const clientAddress = Reflect.apply(createClientAddress, undefined, [options])
      return source.kind === 'config'
        ? {}
        : Reflect.apply(clientAddress, undefined, [sourceOf(source), source.peer])
    })
    expect(outcome).toMatchObject(expected)
  })
})

const TRUSTED = { trustedProxies: ['10.0.0.0/8'] }
const behind = (headers: Record<string, string | string[]>, remoteAddress = '10.0.0.1'): DetectSource => ({
  headers,
  remoteAddress,
})
const ask = (options: object, source: unknown, more?: object) =>
  outcomeOf(() => Reflect.apply(createClientAddress(options), undefined, [source, more]))

/** What a trusted proxy sends: hops of X-Forwarded-For, elements of Forwarded, the one address of X-Real-IP. */
const hops = (value: string, peer?: string) => ask(TRUSTED, behind({ 'x-forwarded-for': value }, peer))
const elements = (value: string) =>
  ask({ ...TRUSTED, forwardedHeader: 'Forwarded' }, behind({ forwarded: value }))
const single = (value: string | string[]) =>
  ask({ ...TRUSTED, forwardedHeader: 'x-real-ip' }, behind({ 'X-Real-IP': value }))

const MALFORMED = { outcome: 'malformed' }
const ALL_TRUSTED = { reason: 'trusted-proxy' }

// How the client is found, in the order in which it is decided.
describe('the rules', () => {
  it.each(tableOf(import.meta.dirname, 'trusted-peers.tsv'))(
    'with %s trusted, the client of the peer %s is that of: %s',
    (trusted, peer, via) => {
      const found = ask({ trustedProxies: [trusted] }, behind({ 'x-forwarded-for': '8.8.8.8' }, peer))
      expect(found.via).toBe(via)
    },
  )

  it.each([
    ['\t 8.8.8.8:1 ', '8.8.8.8'],
    ['8.8.8.8:65535', '8.8.8.8'],
    ['[2001:4860::1]:443', '2001:4860::1'],
  ])('the hop %j is %s', (hop, address) => {
    expect(hops(hop)).toMatchObject({ outcome: 'lookup', address })
    expect(single(hop)).toMatchObject({ address })
  })

  it.each([
    ...'8.8.8.8: 8.8.8.8:65536 8.8.8.8:123456 8.8.8.8:1:2 8.8.8.8:-1 8.8.8.8:0x1 [8.8.8.8]'.split(' '),
    ...'[2001:4860::1 [2001:4860::1]443 [2001:4860::1]: [] []:1 _ a_b _a% unknown:1'.split(' '),
    ...['_a b', '\u00a08.8.8.8', '"8.8.8.8"', 'for=8.8.8.8'],
  ])('the hop %j is malformed', (hop) => {
    expect(hops(`1.1.1.1, ${hop}`)).toMatchObject(MALFORMED)
  })

  it.each([
    ['for="[2001:4860::1]"', '2001:4860::1'],
    ['for="[2001:4860::1]:_port"', '2001:4860::1'],
    ['host="a\\",b;c";for=8.8.8.8', '8.8.8.8'],
    ['for="8.8.8.\\8"', '8.8.8.8'],
    ['proto=http ;\tfor=8.8.8.8 ; ;', '8.8.8.8'],
    ['for=8.8.8.8;host="x, for=1.1.1.1"', '8.8.8.8'],
    ['for=8.8.8.8, for=10.0.0.2', '8.8.8.8'],
  ])('the element %j of Forwarded is %s', (element, address) => {
    const found = elements(`for=9.9.9.9, ${element}`)
    expect(found).toMatchObject({ outcome: 'lookup', address, via: 'forwarded' })
  })

  it.each([
    ...'for=[2001:4860::1]:80 for=[2001:4860::1 for=fe80::1%eth0 for="2001:4860::1" for=8.8.8.8:80'.split(
      ' ',
    ),
    ...'for=8.8.8.8;for=8.8.8.8 for=8.8.8.8;a=1;A=2 for= for="" for="8.8.8.8 for=8.8.8.8" =8.8.8.8'.split(
      ' ',
    ),
    ...'for for=8.8.8.8;b@d=1 for="[fe80::1%eth0]" for="[8.8.8.8]" for="8.8.8.8:"'.split(' '),
    ...['for =8.8.8.8', 'for=8.8.8.8 x'],
  ])('the element %j of Forwarded is malformed', (element) => {
    expect(elements(`for=9.9.9.9, ${element}`)).toMatchObject(MALFORMED)
  })

  it.each(['proto=https', ';', 'for=unknown', 'for=_x', 'for="_x:80"', 'for="unknown:_p"'])(
    'the element %j of Forwarded is unidentified',
    (element) => {
      expect(elements(`for=9.9.9.9, ${element}`)).toMatchObject({ reason: 'unidentified' })
    },
  )

  it('a field of 8192 characters is read; a longer one, or a single-address field sent twice, is malformed', () => {
    const long = `${','.repeat(8185)}8.8.8.8`
    expect(hops(long)).toMatchObject({ address: '8.8.8.8' })
    expect(hops(`,${long}`)).toMatchObject(MALFORMED)
    for (const lines of [['8.8.8.8', '8.8.8.8'], '8.8.8.8,']) expect(single(lines)).toMatchObject(MALFORMED)
    expect(single('10.0.0.7')).toMatchObject({ reason: 'private', address: '10.0.0.7' })
  })

  it('a field that is missing or is not a string names no client', () => {
    const fetched = new Request('http://localhost/', { headers: { 'x-other': '8.8.8.8' } })
    const none = { ...ALL_TRUSTED, via: 'socket' }
    expect(ask(TRUSTED, fetched, { remoteAddress: '10.0.0.1' })).toMatchObject(none)
    for (const headers of [
      ...[{}, { 'x-forwarded-for': undefined }, { 'x-forwarded-for': 7 }, { 'x-forwarded-for': [7] }],
      { 'x-forwarded-fox': '8.8.8.8' },
    ])
      expect(ask(TRUSTED, { headers, remoteAddress: '10.0.0.1' })).toMatchObject(none)
  })

  it('a field of very many lines is too long', () => {
    const headers = { 'x-forwarded-for': new Array<string>(300_000).fill('1.1.1.1') }
    expect(ask(TRUSTED, { headers, socket: { remoteAddress: '10.0.0.1' } })).toMatchObject(MALFORMED)
  })

  it('the lines of a field that are strings are read, in every letter case of its name', () => {
    const headers = { 'X-Forwarded-For': ['9.9.9.9', 7, '8.8.8.8'], 'x-forwarded-for': '10.0.0.2' }
    expect(ask(TRUSTED, { headers, remoteAddress: '10.0.0.1' })).toMatchObject({ address: '8.8.8.8' })
  })

  it('messages do not quote the field', () => {
    for (const forwardedHeader of ['x-forwarded-for', 'forwarded', 'x-real-ip']) {
      const clientAddress = createClientAddress({ ...TRUSTED, forwardedHeader })
      expect(() => clientAddress(behind({ [forwardedHeader]: 'evil\u001b[31m' }))).toThrow(
        expect.objectContaining({ message: expect.not.stringContaining('evil') }),
      )
    }
  })

  it.each([
    ['open', UNIX_SOCKET, 'unix'],
    ['with a local address', { ...UNIX_SOCKET, localAddress: '10.0.0.9' }, 'gone'],
    ['destroyed', { ...UNIX_SOCKET, destroyed: true }, 'gone'],
    ['not connected', { ...UNIX_SOCKET, pending: true }, 'gone'],
    ['connected', { ...UNIX_SOCKET, pending: false }, 'unix'],
    ['whose local address is null', { ...UNIX_SOCKET, localAddress: null }, 'gone'],
    ['with an empty remote address', { ...UNIX_SOCKET, remoteAddress: '' }, 'unix'],
    ['whose remote address is null', { ...UNIX_SOCKET, remoteAddress: null }, 'unix'],
    ['without destroyed', { _handle: new Pipe() }, 'gone'],
    ['that is undefined', undefined, 'gone'],
    ['under TLS', { ...UNIX_SOCKET, _handle: new TLSWrap(new Pipe()) }, 'unix'],
    ['under TLS in TLS', { ...UNIX_SOCKET, _handle: new TLSWrap(new TLSWrap(new Pipe())) }, 'unix'],
    ['on TCP', { ...UNIX_SOCKET, pipe() {}, _handle: new TCP() }, 'gone'],
    ['on TCP under TLS', { ...UNIX_SOCKET, pipe() {}, _handle: new TLSWrap(new TCP()) }, 'gone'],
    ['on a stream under TLS', { ...UNIX_SOCKET, pipe() {}, _handle: new TLSWrap(new JSStream()) }, 'gone'],
    ['that is data', { destroyed: false }, 'unix'],
    ['without a handle', { destroyed: false, pipe() {} }, 'gone'],
    ['whose handle is closed', { destroyed: false, pipe() {}, _handle: null }, 'gone'],
    ['of a server on a path', { destroyed: false, pipe() {}, server: { address: () => '/run/x' } }, 'gone'],
  ])('a socket without a remote address, %s: %o is %s', (_, socket, what) => {
    const source = { headers: { 'x-forwarded-for': '8.8.8.8' }, socket }
    const outcome = ask({ trustedProxies: ['unix:'] }, source)
    expect(outcome).toMatchObject(what === 'unix' ? { address: '8.8.8.8' } : { reason: 'no-remote-address' })
  })

  it('uses the socket before other members of a request, also of requests that frameworks have changed', () => {
    const headers = { 'x-forwarded-for': '9.9.9.9' }
    const socket = { remoteAddress: '8.8.8.8' }
    for (const source of [
      { headers, socket, remoteAddress: '10.0.0.1' },
      { headers, socket, raw: Buffer.from('body') },
      { headers, socket, raw: undefined, req: undefined },
      { headers, raw: { headers, socket }, socket: { remoteAddress: '10.0.0.1' } },
    ]) {
      expect(ask(TRUSTED, source)).toMatchObject({ address: '8.8.8.8', via: 'socket' })
    }
  })

  it.each([
    ...[undefined, null, 'x', 7, {}, { headers: null }, { headers: 'x' }, { raw: {} }, { raw: null }],
    ...[{ req: null }, { req: { socket: {} } }],
  ])('the source %j is a TypeError', (source) => {
    const find = () => Reflect.apply(createClientAddress(), undefined, [source])
    expect(find).toThrow(TypeError)
    expect(find).toThrow('detect takes a request of Node, Express, Fastify or Koa, a Fetch Request, or')
  })

  it('uses the original request inside those of Fastify and Koa', () => {
    const request = { headers: { 'x-forwarded-for': '8.8.8.8' }, socket: { remoteAddress: '10.0.0.1' } }
    const headers = { 'x-forwarded-for': '9.9.9.9' }
    for (const source of [
      { raw: request, headers },
      { req: request, headers },
      { req: request, headers, socket: {} },
      // Express has no such member, but a program may add one.
      { ...request, raw: null, req: { headers } },
    ]) {
      expect(ask(TRUSTED, source)).toMatchObject({ address: '8.8.8.8' })
    }
  })
})

describe('the error message', () => {
  const OBJECT = 'the options of createClientAddress must be an object, such as { trustedProxies: … }'
  const NAME = 'forwardedHeader must be the name of a header field'
  it.each<[unknown, string]>([
    [null, `${OBJECT}, not null`],
    ['x', `${OBJECT}, not a string`],
    [['loopback'], `${OBJECT}, not an`],
    [{ trustedProxies: 1 }, 'not number: trusting everyone, or a number of hops, lets callers choose'],
    [{ forwardedHeader: 'forwarded' }, 'forwardedHeader is set, but trustedProxies is empty'],
    [{ ...TRUSTED, forwardedHeader: 'x forwarded' }, NAME],
    [{ ...TRUSTED, forwardedHeader: ['forwarded'] }, NAME],
    [{ ...TRUSTED, forwardedHeader: '' }, NAME],
    [{ trustedProxies: [7] }, 'trustedProxies: "7" cannot be trusted: it is not a string'],
    [{ trustedProxies: new Array(1) }, '"undefined" cannot be trusted: it is not a string'],
    [{ trustedProxies: ['fe80::1%eth0'] }, '"fe80::1%eth0" cannot be trusted'],
    [{ trustedProxies: ['__proto__'] }, '"__proto__" cannot be trusted'],
    [{ trustedProxies: ['10.0.0.0/33'] }, '"10.0.0.0/33" cannot be trusted: 10.0.0.0/33 is not'],
    [{ trustedProxies: ['0.0.0.0/0'] }, '"0.0.0.0/0" cannot be trusted: it would trust everyone'],
    [{ trustedProxies: ['::/0'] }, '"::/0" cannot be trusted: it would trust everyone'],
    [{ trustedProxies: ['::ffff:0:0/96'] }, 'it would trust every IPv4 address'],
    [
      { trustedProxies: ['localhost'] },
      '"localhost" cannot be trusted: it must be an address without a zone',
    ],
  ])('for the options %j', (options, message) => {
    const make = () => Reflect.apply(createClientAddress, undefined, [options])
    expect(make).toThrow(TypeError)
    expect(make).toThrow(message)
  })

  it.each([
    ['host=a b;for=8.8.8.8', 'its parameter host is neither a token nor a quoted string'],
    ['for=8.8.8.8;FOR=9.9.9.9', 'its parameter for is given twice'],
    ['evil=\u001b;for=8.8.8.8', 'one of its parameters is neither a token nor a quoted string'],
    ['for=8.8.8.8:80', 'its parameter for is not an address; with a port it needs quotes'],
  ])('for the element %j names the parameter', (forwarded, message) => {
    const clientAddress = createClientAddress({ ...TRUSTED, forwardedHeader: 'forwarded' })
    expect(() => clientAddress(behind({ forwarded }))).toThrow(`cannot be parsed: ${message}`)
  })

  it('has a cause if a network was refused', () => {
    expect(() => createClientAddress({ trustedProxies: ['10.0.0.1/8'] })).toThrow(
      expect.objectContaining({ cause: expect.any(TypeError) }),
    )
    expect(() => createClientAddress({ trustedProxies: ['localhost'] })).toThrow(
      expect.objectContaining({ cause: undefined }),
    )
  })

  const unix = { headers: {}, socket: UNIX_SOCKET }

  const FIELD = 'the header field x-forwarded-for'
  const socket = { remoteAddress: '10.0.0.1' }
  it.each<[source: unknown, message: string]>([
    [{ headers: {} }, 'the request has no peer address: the client has disconnected, or the program did'],
    [
      { headers: {}, rawHeaders: new Array(2000).fill('a'), socket },
      `${FIELD} may lack the line of the trusted proxy: Node drops header lines beyond server.maxHeadersCount, and repeated lines of some fields. Set server.maxHeadersCount to 0, or limit`,
    ],
    [unix, "the peer is a Unix socket, and trustedProxies does not contain 'unix:'"],
    [behind({}, 'localhost'), 'the remoteAddress of the peer is not an IP address'],
    [{ headers: null, socket }, 'the headers of the request must be an object'],
    [behind({ 'x-forwarded-for': ' '.repeat(8193) }), `${FIELD} is longer than 8192 characters`],
    [behind({ 'x-forwarded-for': 'x' }), `${FIELD} of a trusted proxy contains a hop that cannot be parsed`],
    [behind({ 'x-forwarded-for': 'unknown' }), `${FIELD} of a trusted proxy does not say who the client is`],
    [behind({ 'x-forwarded-for': '10.0.0.7' }), 'only trusted proxies are known, the farthest is 10.0.0.7'],
    [behind({}, '192.168.0.1'), '192.168.0.1 has no location'],
  ])('for a request without a client: %2$s', (source, message) => {
    expect(() => Reflect.apply(createClientAddress(TRUSTED), undefined, [source])).toThrow(message)
  })

  it('for a Unix socket alone names no farthest proxy', () => {
    expect(() => createClientAddress({ trustedProxies: ['unix:'] })(unix)).toThrow(
      /^only trusted proxies are known$/,
    )
  })
})
