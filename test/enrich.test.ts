import { Readable } from 'node:stream'
import { beforeAll, describe, expect, it, vi } from 'vitest'
import { BadLineError, EnrichError, enrich, enrichStream } from '../src/enrich.ts'
import { InvalidLocaleError } from '../src/errors.ts'
import type { Resolver } from '../src/resolver.ts'
import { AT, chunked, concatenated, openWorld, run, text, utf8 } from './enrich/world.ts'

let resolver: Resolver
beforeAll(async () => {
  resolver = await openWorld()
})

const LINE = '{"ip":"81.2.69.142"}\n'
/** Two million bytes, much more than a sample and a block. */
const MANY = LINE.repeat(100_000)

async function collect(chunks: AsyncIterable<Uint8Array>): Promise<Uint8Array> {
  const parts: Uint8Array[] = []
  for await (const chunk of chunks) parts.push(chunk)
  return concatenated(parts)
}

async function* inChunks(input: string, size: number): AsyncGenerator<Uint8Array> {
  yield* chunked(utf8(input), [size])
}

async function* texts(): AsyncGenerator<string> {
  for (let at = 0; at < MANY.length; at += 65_537) yield MANY.slice(at, at + 65_537)
}

async function* failing(): AsyncGenerator<Uint8Array> {
  yield utf8(LINE)
  throw new RangeError('the disk is gone')
}

/** A chunk that a program in JavaScript can give. */
async function* nothing(): AsyncGenerator<string> {
  yield null as unknown as string
}

/** Endless lines, with a note of how many chunks were asked for and whether they were given up. */
function endless() {
  const state = { pulled: 0, cancelled: undefined as unknown }
  const stream = new ReadableStream<Uint8Array>(
    {
      pull: (controller) => {
        state.pulled++
        controller.enqueue(utf8(LINE.repeat(3000)))
      },
      cancel: (reason) => {
        state.cancelled = reason ?? 'cancelled'
      },
    },
    { highWaterMark: 0 },
  )
  return { state, stream }
}

describe('enrich', () => {
  it.each([
    ['a Node stream', () => Readable.from(chunked(utf8(MANY), [70_000]))],
    ['a generator of text', texts],
  ])('gives the output of one block enricher for %s', async (_, input) => {
    const { output, summary } = enrich(input(), { resolver, at: AT })
    const expected = run(MANY)
    expect(text(await collect(output))).toBe(text(expected.output))
    expect(await summary).toEqual({
      ...expected.counts,
      countries: new Map([['GB', { code: 'GB', name: 'United Kingdom', count: 100_000 }]]),
      format: 'ndjson',
      notes: ['the format is ndjson', 'the address is in ip'],
    })
  })

  it('counts places and local hours when asked to, as `count` does', async () => {
    const { output, summary } = enrich(Readable.from([`${LINE}{"ip":"10.0.0.1"}\n${LINE}`]), {
      resolver,
      details: true,
    })
    await collect(output)
    const { places, localHours } = await summary
    expect(places?.rows).toMatchObject([{ country: 'GB', city: 'London', latitude: 51.5142, count: 2 }])
    expect(localHours?.rows).toEqual([{ local_weekday: null, local_hour: null, count: 2 }])
  })

  it('reads characters that lie in two chunks of text', async () => {
    async function* halves() {
      const line = '{"ip":"81.2.69.142","x":"😀é"}\n'
      for (const unit of line.split('')) yield unit
      yield '{"ip":"10.0.0.1","x":"\ud83d'
    }
    const { output } = enrich(halves(), { resolver, at: AT })
    const lines = text(await collect(output)).split('\n')
    expect(JSON.parse(lines[0] ?? '').x).toBe('😀é')
    expect(lines[1]).toBe('{"ip":"10.0.0.1","x":"\ufffd')
  })

  it('gives no output for an empty input', async () => {
    const { output, summary } = enrich(inChunks('', 1), { resolver })
    expect((await collect(output)).length).toBe(0)
    expect(await summary).toMatchObject({ lines: 0 })
  })

  it('gives lines of a steady stream while more come, and of one that pauses', async () => {
    async function* steady() {
      for (let n = 0; n < 500; n++) {
        await new Promise((resolve) => setTimeout(resolve, 10))
        yield LINE
      }
    }
    for await (const chunk of enrich(steady(), { resolver }).output) {
      const count = text(chunk).split('\n').length - 1
      expect(count).toBeGreaterThan(0)
      // Those of 200 ms, not of all five seconds.
      expect(count).toBeLessThan(100)
      break
    }
    async function* pausing() {
      yield LINE
      await new Promise(() => {})
    }
    const reader = enrich(pausing(), { resolver, at: AT }).output.getReader()
    expect(text((await reader.read()).value ?? new Uint8Array(0))).toBe(text(run(LINE).output))
    await reader.cancel()
  })

  it.each([
    [1, { client: { ip: '81.2.69.142' } }],
    [2, { client: { ip: '81.2.69.142' } }],
    [2, { 'client.ip': '81.2.69.142', client: 'x' }],
  ])('waits for a named field that %i first lines of a stream do not have: %j', async (lines, later) => {
    const first = '{"msg":"start"}\n'.repeat(lines)
    let release = (): void => {}
    const released = new Promise<void>((resolve) => {
      release = resolve
    })
    async function* pausing() {
      yield first
      await released
      // Twice: lines like the one before take a shorter way.
      yield `${JSON.stringify(later)}\n`.repeat(2)
    }
    const { output, summary } = enrich(pausing(), { resolver, field: 'client.ip', timeField: 'ts' })
    const chunks = output[Symbol.asyncIterator]()
    const { value } = await chunks.next()
    expect(text(value ?? new Uint8Array(0))).toBe('{"msg":"start","location":null}\n'.repeat(lines))
    release()
    expect(text((await chunks.next()).value ?? new Uint8Array(0))).toContain('"London"')
    expect((await chunks.next()).done).toBe(true)
    expect((await summary).resolved).toBe(2)
  })

  it('counts nothing that comes after its reader has cancelled', async () => {
    let give = (_: string): void => {}
    async function* lines() {
      yield LINE
      yield await new Promise<string>((resolve) => {
        give = resolve
      })
    }
    const { output, summary } = enrich(lines(), { resolver })
    const reader = output.getReader()
    await reader.read()
    const pending = reader.read()
    await new Promise((resolve) => setTimeout(resolve, 5))
    await reader.cancel()
    const { lines: counted, countries } = await summary
    give(LINE)
    await new Promise((resolve) => setTimeout(resolve, 100))
    expect(await pending).toEqual({ done: true, value: undefined })
    expect([counted, ...[...countries.values()].map(({ count }) => count)]).toEqual([1, 1])
  })

  it('reads at most one chunk ahead of its reader', async () => {
    const { state, stream } = endless()
    const { output } = enrich(stream, { resolver })
    expect(state.pulled).toBe(0)
    const reader = output.getReader()
    await reader.read()
    const first = state.pulled
    // A sample of 256 KiB and a block at most: 60 kB a chunk.
    expect(first).toBeLessThanOrEqual(10)
    await new Promise((resolve) => setTimeout(resolve, 20))
    expect(state.pulled).toBe(first)
    for (let n = 0; n < 20; n++) await reader.read()
    expect(state.pulled).toBeLessThan(first + 20 * 5)
    await reader.cancel()
  })

  it('releases a Web stream when its reader cancels', async () => {
    const { state, stream } = endless()
    const { output, summary } = enrich(stream, { resolver })
    for await (const chunk of output) {
      expect(chunk.length).toBeGreaterThan(0)
      break
    }
    expect(state.cancelled).toBe('cancelled')
    expect((await summary).resolved).toBeGreaterThan(0)
  })

  it('releases a generator and a Node stream', async () => {
    const released = vi.fn()
    async function* lines() {
      try {
        for (;;) yield utf8(LINE.repeat(20_000))
      } finally {
        released()
      }
    }
    for await (const _ of enrich(lines(), { resolver }).output) break
    expect(released).toHaveBeenCalledOnce()
    const stream = Readable.from(lines())
    for await (const _ of enrich(stream, { resolver }).output) break
    expect(stream.destroyed).toBe(true)
  })

  it('releases an input that it waits for', async () => {
    const stalled = new Readable({ read: () => {} })
    const { output, summary } = enrich(stalled, { resolver })
    const reader = output.getReader()
    const pending = reader.read()
    await new Promise((resolve) => setTimeout(resolve, 5))
    await reader.cancel()
    expect(stalled.destroyed).toBe(true)
    expect(await pending).toEqual({ done: true, value: undefined })
    expect(await summary).toMatchObject({ lines: 0, format: null })
  })

  it.each([
    ['what the input fails with', failing, {}, RangeError],
    ['an input without a format', () => inChunks('no\nformat\n', 100), {}, EnrichError],
    ['an input without an address', () => inChunks('{"a":1}\n', 100), {}, EnrichError],
    ['a bad line', () => inChunks(`${LINE}x\n`, 100), { onBadLine: 'fail' }, BadLineError],
    ['values that are no chunks', () => Readable.from([7]), {}, TypeError],
    ['nothing among chunks', nothing, {}, TypeError],
  ] as const)('fails with %s', async (_, input, options, kind) => {
    const { output, summary } = enrich(input(), { resolver, ...options })
    await expect(collect(output)).rejects.toBeInstanceOf(kind)
    await expect(summary).rejects.toBeInstanceOf(kind)
  })

  it('releases the input when a line is bad', async () => {
    const { state, stream } = endless()
    const bad = stream.pipeThrough(
      new TransformStream<Uint8Array, Uint8Array>({
        transform: (chunk, controller) => controller.enqueue(state.pulled < 3 ? chunk : utf8('x\n')),
      }),
    )
    await expect(collect(enrich(bad, { resolver, onBadLine: 'fail' }).output)).rejects.toBeInstanceOf(
      BadLineError,
    )
    expect(state.cancelled).toBeInstanceOf(BadLineError)
  })

  it.each([
    [
      'a header',
      `${'long name,'.repeat(30_000)}ip\n${','.repeat(30_000)}81.2.69.142\n`,
      { fields: ['city'] },
    ],
    ['an object', `{"a":"${'x'.repeat(400_000)}","client":{"ip":"81.2.69.142"}}\n`, {}],
  ] as const)('takes as much for its plan as the first line has: %s', async (_, input, options) => {
    const { output, summary } = enrich(inChunks(input, 10_000), { resolver, at: AT, ...options })
    expect(text(await collect(output))).toBe(text(run(input, options).output))
    expect(await summary).toMatchObject({ lines: 1, resolved: 1 })
  })

  it('throws at once when its arguments are wrong', async () => {
    const closed = await openWorld()
    closed.close()
    const locked = new Blob([LINE]).stream()
    locked.getReader()
    expect(() => enrich('a path' as never, { resolver })).toThrow(TypeError)
    expect(() => enrich(locked, { resolver })).toThrow(TypeError)
    expect(() => enrich(inChunks(LINE, 10), { resolver: closed })).toThrow('closed')
    expect(() => enrich(inChunks(LINE, 10), {} as never)).toThrow('resolver')
    expect(() => enrich(inChunks(LINE, 10), undefined as never)).toThrow('resolver')
    expect(() => enrich(inChunks(LINE, 10), { resolver, into: '' })).toThrow(TypeError)
    expect(() => enrich(inChunks(LINE, 10), { resolver, locale: 'x y' })).toThrow(InvalidLocaleError)
  })

  it('accepts such an option with its default value, or if the format is guessed', async () => {
    const options = { resolver, format: 'ndjson', header: true, append: false, overwrite: false } as const
    expect(await collect(enrich(inChunks(LINE, 10), options).output)).not.toHaveLength(0)
    expect(await collect(enrich(inChunks(LINE, 10), { resolver, header: false }).output)).not.toHaveLength(0)
    const csv = { resolver, format: 'csv', into: 'location' } as const
    expect(text(await collect(enrich(inChunks('ip\n81.2.69.142\n', 10), csv).output))).toContain('London')
  })
})

describe('enrichStream', () => {
  it('is a pair for pipeThrough', async () => {
    const pair = enrichStream({ resolver, at: AT })
    const output = new Blob([MANY]).stream().pipeThrough(pair)
    expect(output).toBe(pair.readable)
    expect(text(await collect(pair.readable))).toBe(text(run(MANY).output))
    expect(await pair.summary).toMatchObject({ lines: 100_000, resolved: 100_000, format: 'ndjson' })
  })

  it('takes text', async () => {
    const { writable, readable } = enrichStream({ resolver, at: AT })
    const writer = writable.getWriter()
    Promise.all([writer.write(LINE), writer.close()]).catch(() => {})
    expect(text(await collect(readable))).toBe(text(run(LINE).output))
  })

  it('stops its writer when the reader cancels', async () => {
    const { state, stream } = endless()
    for await (const chunk of stream.pipeThrough(
      enrichStream({ resolver }),
    ) as never as AsyncIterable<Uint8Array>) {
      expect(chunk.length).toBeGreaterThan(0)
      break
    }
    await vi.waitFor(() => expect(state.cancelled).toBeDefined())
  })

  it('fails with the reason of an aborted writer', async () => {
    const { writable, readable } = enrichStream({ resolver })
    const writer = writable.getWriter()
    writer.write(LINE).catch(() => {})
    writer.abort(new RangeError('enough')).catch(() => {})
    await expect(collect(readable)).rejects.toThrow('enough')
  })
})
