// The file of a packed database is closed when its last user has gone, whatever the user was.
import { renameSync } from 'node:fs'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { describe, expect, it, vi } from 'vitest'
import { createRowEnricher, enrich } from '../../src/enrich.ts'
import { createHandler } from '../../src/http.ts'
import { Resolver } from '../../src/index.ts'
import { BORROW, withDatabases } from '../../src/location/database-set.ts'
import { pack } from '../../src/writer.ts'
import { makeFile, temporaryFolder } from '../temporary.ts'
import { openFilesOf } from './file-descriptors.ts'
import { CANARY, generation, KNOWN } from './watched-files.ts'

const folder = temporaryFolder()
const [IP] = KNOWN

let count = 0
const written = (bytes: Uint8Array): string => makeFile(join(folder, `${count++}.packed`), bytes)

const lines = (): Readable => Readable.from([`{"ip":"${IP}"}\n`, `{"ip":"${IP}"}\n`])

const onProgress = (): never => {
  throw new Error('none')
}

/** Opens a file, and aborts that when the file is open. */
function aborted([path = '']: string[]): Promise<Resolver> {
  const controller = new AbortController()
  const opening = Resolver.open(path, { signal: controller.signal })
  controller.abort(new Error('none'))
  return opening
}

/** Uses of a resolver that end before it is closed. */
const uses: Readonly<Record<string, (geo: Resolver) => unknown>> = {
  'a lookup': (geo) => geo.lookup(IP),
  'lookupMany whose iterable throws': (geo) => {
    function* ips() {
      yield IP
      throw new Error('no more')
    }
    expect(() => geo.lookupMany(ips())).toThrow('no more')
  },
  'lookupMany whose iterable closes it': (geo) => {
    function* ips() {
      yield IP
      geo.close()
      yield IP
    }
    expect(geo.lookupMany(ips())).toMatchObject([{ city: 'city 1' }, { city: 'city 1' }])
  },
  'an HTTP answer': async (geo) => {
    const handler = createHandler(geo, { authenticate: null })
    const answer = await handler(new Request(`http://localhost/v1/ip/${IP}`))
    expect(await answer.json()).toMatchObject({ city: 'city 1' })
  },
  'an HTTP answer that fails': async (geo) => {
    const handler = createHandler(geo, { authenticate: null })
    expect((await handler(new Request('http://localhost/v1/ip/nonsense'))).status).toBe(400)
    expect((await handler(new Request(`http://localhost/v1/ip/${IP}?locale=_`))).status).toBe(400)
  },
  'a batch over HTTP': async (geo) => {
    const handler = createHandler(geo, { authenticate: null })
    const body = JSON.stringify({ ips: [IP, 'nonsense'] })
    const answer = await handler(
      new Request('http://localhost/v1/ip/batch', {
        method: 'POST',
        body,
        headers: { 'content-type': 'application/json' },
      }),
    )
    expect(answer.status).toBe(200)
  },
  'enrich to its end': async (geo) => {
    const { output, summary } = enrich(lines(), { resolver: geo })
    for await (const _ of output);
    expect((await summary).lines).toBe(2)
  },
  'enrich that its reader leaves': async (geo) => {
    for await (const _ of enrich(lines(), { resolver: geo }).output) break
  },
  'enrich that is cancelled before it starts': (geo) => enrich(lines(), { resolver: geo }).output.cancel(),
  'enrich of an input that fails': async (geo) => {
    const input = new Readable({ read: () => input.destroy(new Error('no more')) })
    const { output } = enrich(input, { resolver: geo })
    await expect(buffer(output)).rejects.toThrow('no more')
  },
  'enrich with wrong arguments': (geo) => {
    expect(() => Reflect.apply(enrich, undefined, [7, { resolver: geo }])).toThrow(TypeError)
    expect(() => Reflect.apply(enrich, undefined, [lines(), { resolver: geo, locale: '_' }])).toThrow(
      'BCP 47',
    )
  },
  rows: (geo) => {
    const rows = createRowEnricher({ resolver: geo, format: 'ndjson', field: 'ip', at: 0 })
    expect(rows(Buffer.from(`{"ip":"${IP}"}\n`))).toHaveLength(1)
    expect(() => Reflect.apply(rows, undefined, [7])).toThrow(TypeError)
  },
  'a share without an unpacked copy': (geo) => geo.share({ expand: false }),
  'a share': (geo) => geo.share(),
  verify: (geo) => geo.verify(),
  'networks to their end': (geo) => expect([...geo.networks()].length).toBeGreaterThan(0),
  'networks of which only the first is read': (geo) => {
    for (const _ of geo.networks()) break
  },
}

describe('a packed file', () => {
  it.each(Object.entries(uses))('is closed with its resolver after %s', async (_, use) => {
    const path = written(pack(generation(1)))
    const geo = await Resolver.open(path)
    expect(openFilesOf(path)).toHaveLength(process.platform === 'linux' ? 1 : 0)
    await use(geo)
    geo.close()
    expect(openFilesOf(path)).toHaveLength(0)
    expect(() => geo.lookup(IP)).toThrow(new TypeError('the resolver is closed'))
  })

  it('is closed by share, whose copy the resolver then uses', async () => {
    const path = written(pack(generation(1)))
    const geo = await Resolver.open(path)
    geo.share()
    expect(openFilesOf(path)).toHaveLength(0)
    expect(geo.lookup(IP).city).toBe('city 1')
  })

  it('stays open for a stream that was started before, until it ends', async () => {
    const path = written(pack(generation(1)))
    const geo = await Resolver.open(path, { cacheBytes: 0 })
    const { output } = enrich(lines(), { resolver: geo })
    geo.close()
    expect(openFilesOf(path)).toHaveLength(process.platform === 'linux' ? 1 : 0)
    expect(String(await buffer(output))).toContain('city 1')
    expect(openFilesOf(path)).toHaveLength(0)
  })

  it('is closed when the last of several users has gone', async () => {
    const path = written(pack(generation(1)))
    const geo = await Resolver.open(path)
    const [one, two] = [geo[BORROW](), geo[BORROW]()]
    geo.close()
    withDatabases({ [BORROW]: () => one.retain() }, (set) => expect(set).toBe(one))
    one.release()
    expect(openFilesOf(path)).toHaveLength(process.platform === 'linux' ? 1 : 0)
    two.release()
    expect(openFilesOf(path)).toHaveLength(0)
    expect(() => two.retain()).toThrow('the databases are closed')
  })

  it.each([
    ['open', async (sources: string[]) => Resolver.open(sources)],
    ['openSync', async (sources: string[]) => Resolver.openSync(sources)],
    ['a canary', async ([path = '']: string[]) => Resolver.open(path, { canaries: [CANARY] })],
    ['a canary, sync', async ([path = '']: string[]) => Resolver.openSync(path, { canaries: [CANARY] })],
    ['onProgress', async ([path = '']: string[]) => Resolver.open(path, { onProgress })],
    ['onProgress, sync', async ([path = '']: string[]) => Resolver.openSync(path, { onProgress })],
    ['its signal', aborted],
  ])('is closed when %s fails later', async (_, open) => {
    const path = written(pack(generation(1)))
    await expect(open([path, join(folder, 'none')])).rejects.toThrow(/none|canary/)
    expect(openFilesOf(path)).toHaveLength(0)
  })

  it('is closed when another one replaces it, or is refused', async () => {
    const path = written(pack(generation(1, { canary: true })))
    const [reloaded, refused] = [vi.fn(), vi.fn()]
    const options = { watch: true, watchInterval: 5, canaries: [CANARY], cacheBytes: 0 }
    const geo = await Resolver.open(path, { ...options, onReload: reloaded, onReloadError: refused })
    for (let number = 2; number < 5; number++) {
      renameSync(written(pack(generation(number, { canary: true }))), path)
      await vi.waitFor(() => expect(geo.status.reloads).toBe(number - 1), 20_000)
      expect(openFilesOf(path)).toHaveLength(process.platform === 'linux' ? 1 : 0)
    }
    renameSync(written(pack(generation(9))), path)
    await vi.waitFor(() => expect(refused).toHaveBeenCalled(), 20_000)
    expect(openFilesOf(path)).toHaveLength(process.platform === 'linux' ? 1 : 0)
    expect(geo.lookup(IP).city).toBe('city 4')
    geo.close()
    expect(openFilesOf(path)).toHaveLength(0)
  })

  it.each([true, false])('answers on when another one is replaced, shared: %s', async (isShared) => {
    const [path, other] = [written(pack(generation(1))), written(pack(generation(2)))]
    const geo = await Resolver.open([path, other], { watch: true, watchInterval: 5, cacheBytes: 0 })
    if (isShared) geo.share()
    renameSync(written(pack(generation(3))), other)
    await vi.waitFor(() => expect(geo.status.reloads).toBe(1), 20_000)
    expect(geo.lookup(IP).city).toBe('city 1')
    geo.close()
    expect([...openFilesOf(path), ...openFilesOf(other)]).toEqual([])
  })
})
