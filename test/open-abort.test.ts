import { getEventListeners } from 'node:events'
import { writeFileSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type ByteSource, Resolver as CoreResolver } from '../src/core.ts'
import { embedded, InvalidDatabaseError, Resolver } from '../src/index.ts'
import { foreign } from './foreign.ts'
import { portOf } from './listening.ts'
import { british } from './own-databases.ts'
import { makeFile, temporaryFolder } from './temporary.ts'

const folder = temporaryFolder()
const mmdb = british()
const file = makeFile(join(folder, 'sample.mmdb'), mmdb)

let server: Server
let url: string

beforeAll(async () => {
  // Never ends.
  server = createServer((_, response) => void response.write(mmdb.subarray(0, 100)))
  url = `http://127.0.0.1:${await portOf(server)}`
})

afterAll(() => {
  server.closeAllConnections()
  server.close()
})

/** A stream that gives some bytes and no end. */
function endless(): { stream: ReadableStream<Uint8Array>; cancelled: Promise<unknown> } {
  let tell: (reason: unknown) => void = () => {}
  const cancelled = new Promise((resolve) => {
    tell = resolve
  })
  const stream = new ReadableStream<Uint8Array>({
    start: (controller) => controller.enqueue(mmdb.subarray(0, 100)),
    cancel: (reason) => tell(reason),
  })
  return { stream, cancelled }
}

const caught = (promise: Promise<unknown>): Promise<unknown> =>
  promise.then(
    () => {
      throw new Error('it did not fail')
    },
    (error: unknown) => error,
  )

const soon = (milliseconds = 20): Promise<void> => new Promise((resolve) => setTimeout(resolve, milliseconds))

describe('a fetch that is aborted', () => {
  it.each([
    ['core', CoreResolver],
    ['Node', Resolver],
  ])('is an AbortError while its response is read, in the %s entry', async (_, Entry) => {
    const controller = new AbortController()
    const opening = caught(Entry.open(await fetch(url, { signal: controller.signal })))
    await soon()
    controller.abort()
    expect(await opening).toBe(controller.signal.reason)
    expect(await opening).toMatchObject({ name: 'AbortError' })
  })

  it('is an AbortError when that was before it is read', async () => {
    const controller = new AbortController()
    const response = await fetch(url, { signal: controller.signal })
    controller.abort()
    expect(await caught(Resolver.open(response))).toMatchObject({ name: 'AbortError' })
    const timeout = new AbortController()
    const another = await fetch(url, { signal: timeout.signal })
    timeout.abort(new DOMException('The operation was aborted due to timeout', 'TimeoutError'))
    expect(await caught(Resolver.open(another))).toMatchObject({ name: 'TimeoutError' })
  })

  it('is the reason of the abort, if open has the same signal', async () => {
    const controller = new AbortController()
    const { signal } = controller
    const opening = caught(Resolver.open(await fetch(url, { signal }), { signal }))
    await soon()
    const reason = new Error('the user has left')
    controller.abort(reason)
    expect(await opening).toBe(reason)
  })

  it('is still a bad file when the connection breaks', async () => {
    const response = await fetch(url)
    const opening = caught(Resolver.open(response))
    await soon()
    server.closeAllConnections()
    expect(await opening).toBeInstanceOf(InvalidDatabaseError)
  })
})

/** Every kind of source: a core takes those that are `ByteSource`. */
const SOURCES: readonly (readonly [kind: string, make: () => ByteSource])[] = [
  ['Uint8Array', () => mmdb],
  ['gzip bytes', () => gzipSync(mmdb)],
  ['ArrayBuffer', () => mmdb.buffer],
  ['Blob', () => new Blob([mmdb])],
  ['Response', () => new Response(mmdb)],
  ['ReadableStream', () => new Blob([mmdb]).stream()],
]
/** The entry for Node takes files too. */
const ALL_SOURCES: readonly (readonly [kind: string, make: () => ByteSource | string | URL])[] = [
  ...SOURCES,
  ['path', () => file],
  ['URL of the embedded database', () => embedded.country],
]

describe('the signal of Resolver.open', () => {
  it.each(ALL_SOURCES)(
    'that is aborted before fails with its reason, and touches nothing: %s',
    async (_, make) => {
      for (const reason of [undefined, new Error('own reason'), 'a text']) {
        const signal = AbortSignal.abort(reason)
        const source = make()
        expect(await caught(Resolver.open(source, { signal }))).toBe(signal.reason)
        if (source instanceof Response) expect(source.bodyUsed).toBe(false)
        if (typeof source === 'string' || source instanceof URL) {
          expect(() => Resolver.openSync(source, { signal })).toThrow(signal.reason)
        } else {
          expect(await caught(CoreResolver.open(source, { signal }))).toBe(signal.reason)
        }
      }
    },
  )

  it.each(ALL_SOURCES)('that is aborted in the middle fails with its reason: %s', async (_, make) => {
    const controller = new AbortController()
    const { signal } = controller
    const opening = caught(Resolver.open(make(), { signal }))
    controller.abort()
    expect(await opening).toBe(signal.reason)
    expect(await opening).toMatchObject({ name: 'AbortError' })
    expect(getEventListeners(signal, 'abort')).toEqual([])
  })

  it.each(ALL_SOURCES)('that is aborted afterwards does nothing, and is let go: %s', async (_, make) => {
    const controller = new AbortController()
    const { signal } = controller
    const geo = await Resolver.open(make(), { signal })
    expect(getEventListeners(signal, 'abort')).toEqual([])
    controller.abort()
    await soon()
    expect(geo.lookup('81.2.69.142').country.code).toBe('GB')
  })

  it('that is aborted at any moment leaves a resolver or its reason, never a bad file', async () => {
    for (const source of [embedded.country, file]) {
      for (let turn = 0; turn < 30; turn++) {
        const controller = new AbortController()
        const { signal } = controller
        const opening = Resolver.open(source, { signal }).catch((error: unknown) => error)
        for (let i = 0; i < turn; i++) await new Promise(setImmediate)
        controller.abort()
        const outcome = await opening
        if (outcome !== signal.reason) expect(outcome).toBeInstanceOf(Resolver)
        expect(getEventListeners(signal, 'abort')).toEqual([])
      }
    }
  })

  it('ends the reading of a stream that does not end', async () => {
    for (const Entry of [CoreResolver, Resolver]) {
      const { stream, cancelled } = endless()
      const controller = new AbortController()
      const opening = caught(Entry.open(new Response(stream), { signal: controller.signal }))
      await soon()
      controller.abort()
      expect(await opening).toBe(controller.signal.reason)
      expect(await cancelled).toBe(controller.signal.reason)
    }
  })

  it('fails while a file is decompressed', async () => {
    const large = makeFile(join(folder, 'large.gz'), gzipSync(new Uint8Array(2 ** 27), { level: 1 }))
    const controller = new AbortController()
    const opening = caught(Resolver.open(large, { signal: controller.signal }))
    setTimeout(() => controller.abort(), 5)
    expect(await opening).toBe(controller.signal.reason)
  })

  it('ends at the source that it meets, and reads no other', async () => {
    const controller = new AbortController()
    const { signal } = controller
    const next = new Response(mmdb)
    const opening = caught(Resolver.open([file, endless().stream, next], { signal }))
    await soon(50)
    controller.abort()
    expect(await opening).toBe(signal.reason)
    expect(next.bodyUsed).toBe(false)
  })

  it('goes together with watch: an aborted one follows nothing, an open one goes on', async () => {
    const controller = new AbortController()
    const { signal } = controller
    const options = { signal, watch: true, watchInterval: 5 }
    const geo = await Resolver.open(file, options)
    controller.abort()
    await soon()
    expect(geo.status.watching).toBe(true)
    geo.close()
    let reloads = 0
    expect(await caught(Resolver.open(file, { ...options, onReload: () => reloads++ }))).toBe(signal.reason)
    writeFileSync(file, mmdb)
    await soon(50)
    expect(reloads).toBe(0)
  })

  it('can be of another realm', async () => {
    const signal = foreign(AbortSignal.abort())
    expect(await caught(Resolver.open(mmdb, { signal }))).toBe(signal.reason)
  })

  it('is an AbortSignal', async () => {
    for (const signal of [null, {}, new AbortController(), 5000]) {
      for (const Entry of [CoreResolver, Resolver]) {
        const opening: Promise<unknown> = Reflect.apply(Entry.open, Entry, [mmdb, { signal }])
        await expect(opening).rejects.toThrow(
          new TypeError(
            'signal must be an AbortSignal, such as that of an AbortController or AbortSignal.timeout(…)',
          ),
        )
      }
      expect(() => Reflect.apply(Resolver.openSync, Resolver, [mmdb, { signal }])).toThrow(TypeError)
    }
  })
})

describe('a page in place of a database', () => {
  it.each([
    '<!DOCTYPE html>\n<html lang="en">',
    '\ufeff\r\n <!-- built --><!doctype   HTML>',
    '<?xml version="1.0"?>\n<html xmlns="http://www.w3.org/1999/xhtml">',
    '<html><body>log in</body></html>',
  ])('is named: %j', async (page) => {
    const message = 'it is a page of HTML'
    for (const bytes of [Buffer.from(page), gzipSync(page)]) {
      await expect(Resolver.open(new Response(bytes))).rejects.toThrow(message)
      await expect(CoreResolver.open(bytes)).rejects.toThrow(message)
      expect(() => Resolver.openSync(bytes)).toThrow(InvalidDatabaseError)
    }
    writeFileSync(join(folder, 'page'), page)
    const path = join(folder, 'page')
    await expect(Resolver.open(path)).rejects.toThrow(`${path}: ${message}`)
  })

  it('is not every text with a bracket', async () => {
    for (const text of ['<', 'a <html>', '<p>', '{"html": "<html>"}', '<htmlx>']) {
      await expect(Resolver.open(new Response(text))).rejects.toThrow('not a MaxMind DB file')
    }
  })
})
