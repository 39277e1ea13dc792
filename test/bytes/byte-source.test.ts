import { describe, expect, it } from 'vitest'
import { asUint8Array, type ByteSource, readBytes } from '../../src/bytes/byte-source.ts'
import { InvalidDatabaseError } from '../../src/errors.ts'

const BYTES = Uint8Array.of(1, 2, 3, 4, 5)

function shared(): SharedArrayBuffer {
  const buffer = new SharedArrayBuffer(5)
  new Uint8Array(buffer).set(BYTES)
  return buffer
}

function stream(...chunks: Uint8Array[]): ReadableStream<Uint8Array> {
  return new ReadableStream({
    start: (controller) => {
      for (const chunk of chunks) controller.enqueue(chunk)
      controller.close()
    },
  })
}

describe('readBytes', () => {
  it.each<[string, () => ByteSource]>([
    ['Uint8Array', () => BYTES],
    ['a view with an offset', () => Uint8Array.of(9, 9, ...BYTES, 9).subarray(2, 7)],
    ['Buffer', () => Buffer.from(BYTES)],
    ['ArrayBuffer', () => BYTES.buffer.slice(0)],
    ['SharedArrayBuffer', shared],
    ['a view of a SharedArrayBuffer', () => new Uint8Array(shared())],
    ['Blob', () => new Blob([BYTES])],
    ['File', () => new File([BYTES], 'x.mmdb')],
    ['Response', () => new Response(BYTES)],
    ['Response 206', () => new Response(BYTES, { status: 206 })],
    ['ReadableStream', () => stream(BYTES)],
    ['ReadableStream of chunks', () => stream(BYTES.subarray(0, 2), new Uint8Array(), BYTES.subarray(2))],
  ])('%s', async (_, source) => {
    expect([...(await readBytes(source()))]).toEqual([...BYTES])
  })

  it('does not copy bytes that are in memory', async () => {
    const view = Uint8Array.of(9, ...BYTES).subarray(1)
    expect(await readBytes(view)).toBe(view)
    const memory = shared()
    expect((await readBytes(memory)).buffer).toBe(memory)
    expect(asUint8Array(BYTES.buffer).buffer).toBe(BYTES.buffer)
  })

  it('reads an empty response as no bytes', async () => {
    expect((await readBytes(new Response(null))).length).toBe(0)
    expect((await readBytes(stream())).length).toBe(0)
  })

  it.each([404, 403, 500, 302, 304])('refuses a response of status %i', async (status) => {
    const promise = readBytes(new Response(null, { status }))
    await expect(promise).rejects.toThrow(InvalidDatabaseError)
    await expect(promise).rejects.toThrow(`The database: the response has status ${status}`)
  })

  it('names the URL of a refused response, without its secrets', async () => {
    const response = new Response('gone', { status: 410 })
    Object.defineProperty(response, 'url', {
      value: 'https://user:pass@example.com/db.mmdb?license_key=SECRET',
    })
    await expect(readBytes(response)).rejects.toThrow(
      new InvalidDatabaseError('the response from https://example.com/db.mmdb has status 410'),
    )
  })

  it.each<[string, () => ByteSource]>([
    ['bytes', () => BYTES],
    ['an ArrayBuffer', () => BYTES.slice().buffer],
    ['a Blob', () => new Blob([BYTES])],
    ['a Response', () => new Response(BYTES)],
    ['a stream', () => stream(BYTES.subarray(0, 2), BYTES.subarray(2))],
  ])('accepts bytes of %s up to the limit only', async (_, source) => {
    expect(await readBytes(source(), { maxBytes: 5 })).toHaveLength(5)
    const refused = () => readBytes(source(), { maxBytes: 4 })
    await expect(refused()).rejects.toThrow(InvalidDatabaseError)
    await expect(refused()).rejects.toThrow('it has more than 4 bytes, the limit that maxBytes')
  })

  it.each([1, 1000, 3_000_000])('stops an endless stream, in chunks of %i', async (size) => {
    let given = 0
    let stopped: unknown
    const endless = new ReadableStream<Uint8Array>({
      pull: (controller) => {
        given += size
        controller.enqueue(new Uint8Array(size))
      },
      // Cancelling does not end either.
      cancel: (reason) => {
        stopped = reason
        return new Promise(() => {})
      },
    })
    const before = process.memoryUsage().arrayBuffers
    await expect(readBytes(new Response(endless), { maxBytes: 100_000 })).rejects.toThrow(
      'more than 100000 bytes',
    )
    expect(given).toBeLessThan(100_000 + 3 * size)
    expect(stopped).toBeInstanceOf(InvalidDatabaseError)
    expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(20_000_000)
  })

  it('refuses chunks that are not bytes', async () => {
    const texts = new ReadableStream({ start: (controller) => controller.enqueue('text') })
    await expect(readBytes(texts)).rejects.toThrow(TypeError)
  })

  it('names the reason why a stream breaks', async () => {
    const broken = new ReadableStream<Uint8Array>({
      pull: (controller) => controller.error(new RangeError('connection lost')),
    })
    await expect(readBytes(broken)).rejects.toThrow('connection lost')
  })

  it('truncates the reason why a source cannot be read', async () => {
    const broken = new ReadableStream<Uint8Array>({
      pull: (controller) => controller.error(new Error('x'.repeat(1_000_000))),
    })
    const error = await readBytes(broken).catch((reason: unknown) => reason)
    expect(error).toBeInstanceOf(InvalidDatabaseError)
    expect(String(error).length).toBeLessThan(400)
  })

  it('cannot read a body twice', async () => {
    const response = new Response(BYTES)
    await readBytes(response)
    await expect(readBytes(response)).rejects.toThrow(TypeError)
    const used = stream(BYTES)
    await readBytes(used)
    await expect(readBytes(used)).rejects.toThrow(TypeError)
  })

  it.each([
    undefined,
    'path.mmdb', // only the Node entry accepts paths
    new URL('file:///x.mmdb'),
    [1, 2, 3],
    { arrayBuffer: () => Promise.resolve(new ArrayBuffer(4)) },
    new Request('https://example.com'),
  ])('refuses other kinds: row %#', async (source) => {
    // A program without types could pass it.
    const promise = readBytes(source as unknown as ByteSource)
    await expect(promise).rejects.toThrow(TypeError)
    await expect(promise).rejects.toThrow(/^a database is given as Uint8Array.* await fetch\(url\)$/)
  })
})
