import { runInNewContext } from 'node:vm'
import { describe, expect, it } from 'vitest'
import { Resolver as CoreResolver } from '../src/core.ts'
import { enrich } from '../src/enrich.ts'
import { createClientAddress, InvalidDatabaseError, Resolver } from '../src/index.ts'
import { inThisRealm, isError, isOfClass, isUint8Array, timeOf } from '../src/realm.ts'
import { float, MmdbWriter } from '../src/writer.ts'
import { foreign, foreignBytes } from './foreign.ts'
import { databaseWith } from './own-databases.ts'
import { temporaryFolder } from './temporary.ts'

const mmdb = databaseWith({ country: { iso_code: 'GB' }, location: { time_zone: 'Europe/London' } })

/** The same, of memory that is not shared. */
const part = new Uint8Array(mmdb)

const IP = '81.2.69.142'

describe('sources of another realm', () => {
  const { buffer } = foreignBytes(mmdb)
  const shared: unknown = runInNewContext('new SharedArrayBuffer(size)', { size: mmdb.length })
  if (!isOfClass(shared, 'SharedArrayBuffer')) throw new Error('node:vm made something else')
  new Uint8Array(shared).set(mmdb)
  const sync = [
    ['Uint8Array', foreignBytes(mmdb)],
    ['ArrayBuffer', buffer],
    ['SharedArrayBuffer', shared],
    ['array', runInNewContext('[bytes]', { bytes: mmdb })],
  ] as const
  const later = [
    ['Blob', () => foreign(new Blob([part]))],
    ['File', () => foreign(new File([part], 'x'))],
    ['Response', () => foreign(new Response(part))],
    ['ReadableStream', () => foreign(new Blob([part]).stream())],
    ['ReadableStream of its own bytes', () => streamOf(foreignBytes(mmdb))],
  ] as const

  it.each(sync)('are opened at once: %s', async (_, source) => {
    expect(source).not.toBeInstanceOf(Object)
    expect((await CoreResolver.open(source)).lookup(IP).country.code).toBe('GB')
    expect((await Resolver.open(source)).lookup(IP).country.code).toBe('GB')
    expect(Resolver.openSync(source).lookup(IP).country.code).toBe('GB')
  })

  it.each(later)('are opened when they have come: %s', async (_, source) => {
    expect((await CoreResolver.open(source())).lookup(IP).country.code).toBe('GB')
    expect((await Resolver.open(source())).lookup(IP).country.code).toBe('GB')
    await expect(Resolver.open(source(), { maxBytes: 10 })).rejects.toThrow(InvalidDatabaseError)
  })

  it('are URLs of files, too', async () => {
    const url = foreign(new URL(`file://${temporaryFolder()}/missing`))
    expect(url).not.toBeInstanceOf(URL)
    const missing = expect.objectContaining({ code: 'INVALID_DATABASE', path: url.pathname })
    await expect(Resolver.open(url)).rejects.toThrow(missing)
    expect(() => Resolver.openSync(url)).toThrow(missing)
  })

  it('are refused when they are of no kind that is taken', async () => {
    for (const source of [
      runInNewContext('new Uint16Array(4)'),
      runInNewContext('new DataView(new ArrayBuffer(4))'),
      runInNewContext('({})'),
      // What other libraries have for a body is a stream of another kind.
      foreign(new Response(), { body: { pipe: () => {} } }),
    ]) {
      await expect(Resolver.open(source)).rejects.toThrow(TypeError)
    }
  })
})

describe('options and arguments of another realm', () => {
  const geo = Resolver.openSync(mmdb)

  it('are instants', () => {
    const at: Date = runInNewContext('new Date("2026-07-01T12:00:00Z")')
    expect(geo.lookup(IP, { at }).timezone.offset).toBe('+01:00')
    expect(() => geo.lookup(IP, { at: runInNewContext('new Date(NaN)') })).toThrow(TypeError)
    const pretence: Date = Object.create(Date.prototype)
    expect(() => geo.lookup(IP, { at: pretence })).toThrow('the option "at" must be a valid Date')
  })

  it('are options, lists and addresses', () => {
    expect(geo.lookupMany(runInNewContext('new Set(["81.2.69.142"])'))).toHaveLength(1)
    const options = runInNewContext('({ trustedProxies: ["10.0.0.0/8"], canaries: ["81.2.69.142"] })')
    expect(Resolver.openSync(mmdb, options).databases).toHaveLength(1)
  })

  it('are requests', () => {
    const client = createClientAddress({ trustedProxies: ['10.0.0.0/8'] })
    const plain = runInNewContext(
      '({ headers: { "x-forwarded-for": ["81.2.69.142"] }, remoteAddress: "10.0.0.1" })',
    )
    expect(client(plain).address).toBe(IP)
    const request = new Request('https://example.com', { headers: { 'x-forwarded-for': IP } })
    const other = foreign(request, { headers: foreign(request.headers) })
    expect(other).not.toBeInstanceOf(Request)
    expect(client(other, { remoteAddress: '10.0.0.1' }).address).toBe(IP)
  })

  it('are inputs of enrich, whole and in pieces', async () => {
    const line = new TextEncoder().encode('{"ip":"81.2.69.142"}\n')
    const at: Date = runInNewContext('new Date("2026-07-01T12:00:00Z")')
    for (const input of [
      foreign(new Blob([line]).stream()),
      streamOf(foreignBytes(line)),
      runInNewContext('(async function* () { yield bytes })()', { bytes: foreignBytes(line) }),
    ]) {
      const { output } = enrich(input, { resolver: geo, at })
      expect(await new Response(output).text()).toContain('"offset":"+01:00"')
    }
  })
})

describe('the writer', () => {
  it('takes dates, maps and bytes of another realm', () => {
    const buildDate = new Date('2026-06-05T00:00:00Z')
    const record = { a: [1, 'x'], b: Uint8Array.of(1, 2), m: new Map([['k', float(1)]]) }
    const expected = new MmdbWriter({ databaseType: 'X', buildDate }).insert('::/0', record).toBytes()
    const context = { float: float(1) }
    const other = runInNewContext(
      '({ options: { databaseType: "X", buildDate: new Date("2026-06-05T00:00:00Z") }, record: { a: [1, "x"], b: Uint8Array.of(1, 2), m: new Map([["k", float]]) } })',
      context,
    )
    expect(new MmdbWriter(other.options).insert('::/0', other.record).toBytes()).toEqual(expected)
  })

  it('takes numbers of another copy of this package', () => {
    const record = { a: foreign(float(1.5)) }
    expect(record.a).not.toBeInstanceOf(Object)
    const writer = new MmdbWriter({ databaseType: 'X' })
    const same = new MmdbWriter({ databaseType: 'X' }).insert('::/0', { a: float(1.5) }).toBytes()
    expect(writer.insert('::/0', record).toBytes()).toEqual(same)
  })

  it('refuses other objects still', () => {
    const writer = new MmdbWriter({ databaseType: 'X' })
    for (const code of ['new Set()', 'new Date(0)', '[undefined]', '/x/', 'new (class A {})()']) {
      expect(() => writer.insert('::/0', runInNewContext(`({ a: ${code} })`))).toThrow(TypeError)
    }
  })
})

describe('recognising', () => {
  it('recognises classes by their tags, and bytes and dates by their internal slots', () => {
    expect(isOfClass(new Map(), 'Map')).toBe(true)
    expect(isOfClass(null, 'Map')).toBe(false)
    expect(isOfClass('Map', 'Map')).toBe(false)
    expect(isUint8Array({ [Symbol.toStringTag]: 'Uint8Array' })).toBe(false)
    expect(timeOf({ [Symbol.toStringTag]: 'Date', getTime: () => 0 })).toBe(undefined)
    expect(timeOf(5)).toBe(undefined)
  })

  it('copies no bytes', () => {
    const own = Uint8Array.of(1)
    expect(inThisRealm(own)).toBe(own)
    const other = foreignBytes(Uint8Array.of(1, 2, 3)).subarray(1)
    const view = inThisRealm(other)
    expect(view).toBeInstanceOf(Uint8Array)
    expect([view.buffer, [...view]]).toEqual([other.buffer, [2, 3]])
  })

  it('tells errors', () => {
    expect(isError(runInNewContext('new RangeError("x")'))).toBe(true)
    expect(isError(foreign(new DOMException('x', 'AbortError')))).toBe(true)
    expect(isError({ message: 'x' })).toBe(false)
  })
})

function streamOf(bytes: Uint8Array): ReadableStream<Uint8Array> {
  return new ReadableStream({
    start: (controller) => {
      controller.enqueue(bytes)
      controller.close()
    },
  })
}
