import { describe, expect, it } from 'vitest'
import { ChunkReader, PAUSE } from '../../../src/cli/enrich/chunk-reader.ts'
import { takeSample } from '../../../src/cli/enrich/sample.ts'
import { MAX_LINE_BYTES } from '../../../src/enrich/common-plan.ts'

const bytes = (text: string) => new TextEncoder().encode(text)

async function* chunks(...texts: string[]) {
  for (const text of texts) yield bytes(text)
}

/** Gives some chunks and then nothing until it is let. */
function pausing(...texts: string[]) {
  let release: () => void = () => {}
  const released = new Promise<void>((resolve) => {
    release = resolve
  })
  async function* generate() {
    yield* chunks(...texts)
    await released
    yield bytes('late')
  }
  return { reader: new ChunkReader(generate()), release: () => release() }
}

describe('ChunkReader', () => {
  it('tells a pause from the end, and loses nothing over it', async () => {
    const { reader, release } = pausing('a')
    expect(await reader.nextWithin(1000)).toEqual(bytes('a'))
    expect(await reader.nextWithin(5)).toBe(PAUSE)
    expect(await reader.nextWithin(5)).toBe(PAUSE)
    release()
    expect(await reader.next()).toEqual(bytes('late'))
    expect(await reader.nextWithin(1000)).toBeNull()
    expect(await reader.next()).toBeNull()
  })
})

describe('takeSample', () => {
  it('takes all of a short input', async () => {
    const sample = await takeSample(new ChunkReader(chunks('a\n', 'b')), false, MAX_LINE_BYTES)
    expect(sample).toEqual({ bytes: Buffer.from('a\nb'), isWhole: true, chunks: [bytes('a\n'), bytes('b')] })
  })

  it('takes a bounded part of a long one, and keeps what it read', async () => {
    const piece = `${'x'.repeat(99_999)}\n`
    const sample = await takeSample(
      new ChunkReader(chunks(...Array<string>(10).fill(piece))),
      false,
      MAX_LINE_BYTES,
    )
    expect(sample.bytes.length).toBe(256 * 1024)
    expect(sample.isWhole).toBe(false)
    expect(sample.chunks).toHaveLength(3)
  })

  it('does not wait for a pipe that pauses behind a line', async () => {
    const { reader, release } = pausing('a\nb')
    const sample = await takeSample(reader, true, MAX_LINE_BYTES)
    expect(sample).toMatchObject({ bytes: Buffer.from('a\nb'), isWhole: false })
    release()
    expect(await reader.next()).toEqual(bytes('late'))
  })

  it('waits for the first line of a pipe', async () => {
    const { reader, release } = pausing('a')
    const taking = takeSample(reader, true, MAX_LINE_BYTES)
    await new Promise((resolve) => setTimeout(resolve, 400))
    release()
    expect(await taking).toMatchObject({ bytes: Buffer.from('alate'), isWhole: true })
  })
})
