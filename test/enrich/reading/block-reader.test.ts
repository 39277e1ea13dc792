import { afterEach, describe, expect, it, vi } from 'vitest'
import { EnrichError } from '../../../src/enrich/errors.ts'
import { layoutOf, makePlan } from '../../../src/enrich/formats/formats.ts'
import {
  BlockReader,
  DUE,
  IDLE_FLUSH_MS,
  LiveReader,
  MAX_LINE_AGE_MS,
} from '../../../src/enrich/reading/block-reader.ts'
import { SAMPLE_BYTES } from '../../../src/enrich/reading/sample.ts'
import { Splitter } from '../../../src/enrich/reading/splitter.ts'
import { text, utf8, wholeSample } from '../world.ts'

const { plan: PLAN } = makePlan(wholeSample('1.2.3.4\n'), {})

/** Gives texts, and waits for so many milliseconds at numbers; without an end when it ends with `null`. */
function sourceOf(...steps: readonly (string | number | null)[]) {
  const left = [...steps]
  return {
    read: async () => {
      for (;;) {
        const step = left.shift()
        if (step === undefined) return null
        if (step === null) await new Promise(() => {})
        else if (typeof step === 'string') return utf8(step)
        else await new Promise((resolve) => setTimeout(resolve, step))
      }
    },
  }
}

/** What the plan is made from at each attempt, of which the first ones fail. */
async function samplesOf(reader: BlockReader, failures = 0) {
  const samples: [string, boolean, boolean][] = []
  await reader.plan(({ bytes, isWhole = false, isCut = false }) => {
    samples.push([text(bytes), isWhole, isCut])
    if (samples.length <= failures) throw new EnrichError('ENRICH_FIELD_UNKNOWN', 'not enough')
  })
  return samples
}

async function textsOf(reader: BlockReader, skipped?: number): Promise<string[]> {
  const texts: string[] = []
  for await (const blocks of reader.blocks(new Splitter(layoutOf(PLAN)), skipped))
    texts.push(...blocks.map(({ bytes }) => text(bytes)))
  return texts
}

describe('BlockReader', () => {
  it('plans with all of a short input, and gives it in blocks', async () => {
    const reader = new BlockReader(sourceOf('a\n', 'b'))
    expect(await samplesOf(reader)).toEqual([['a\nb', true, false]])
    expect(await textsOf(reader)).toEqual(['a\nb'])
  })

  it('plans with a bounded part of a long one, and loses nothing', async () => {
    const chunks = Array.from({ length: 10 }, (_, index) => `${String(index).repeat(99_999)}\n`)
    const reader = new BlockReader(sourceOf(...chunks), false)
    const [[sample, isWhole, isCut] = ['', true, true]] = await samplesOf(reader)
    expect([sample.length, isWhole, isCut]).toEqual([SAMPLE_BYTES, false, false])
    expect((await textsOf(reader)).join('')).toBe(chunks.join(''))
  })

  it('reads on in its own memory, between chunks, and loses nothing', async () => {
    const lines = Array.from({ length: 40 }, (_, index) => utf8(`${String(index).repeat(50_000)}\n`))
    const input = Buffer.concat(lines)
    let at = 0
    let calls = 0
    let filled = 0
    const next = (size: number) => {
      const bytes = input.subarray(at, at + size)
      at += bytes.length
      return bytes
    }
    const source = {
      read: async () => (at === input.length ? null : next(70_000)),
      fill: (memory: Uint8Array) => {
        // Every third time, the next bytes must be read.
        if (calls++ % 3 === 2) return 0
        const bytes = next(Math.min(memory.length, 30_000))
        memory.set(bytes)
        filled += bytes.length
        return bytes.length
      },
    }
    const reader = new BlockReader(source, false)
    await samplesOf(reader)
    expect(filled).toBe(0)
    expect(Buffer.from((await textsOf(reader)).join('')).equals(input)).toBe(true)
    expect(filled).toBeGreaterThan(input.length / 4)
  })

  it('leaves out as many bytes as asked, across chunks', async () => {
    const reader = new BlockReader(sourceOf('ab', 'c\n', 'd\n'))
    await samplesOf(reader)
    expect(await textsOf(reader, 3)).toEqual(['\nd\n'])
  })

  it('does not wait for more of an input that pauses after a line', async () => {
    const reader = new BlockReader(sourceOf('a\nb', null))
    expect(await samplesOf(reader)).toEqual([['a\nb', false, true]])
    const blocks = reader.blocks(new Splitter(layoutOf(PLAN)))
    expect((await blocks.next()).value).toEqual([])
    expect((await blocks.next()).value).toMatchObject([{ bytes: utf8('a\n') }])
  })

  it('waits for the first line, and for all of a file', async () => {
    expect(await samplesOf(new BlockReader(sourceOf('a', 400, '\n', null)))).toEqual([['a\n', false, true]])
    expect(await samplesOf(new BlockReader(sourceOf('a\n', 400, 'b'), false))).toEqual([
      ['a\nb', true, false],
    ])
  })

  it('waits for a second line, because the first may be a header', async () => {
    const steps = ['ip\n', 150, '1.2.3.4\n', null] as const
    expect(await samplesOf(new BlockReader(sourceOf(...steps)), 1)).toEqual([
      ['ip\n', false, true],
      ['ip\n1.2.3.4\n', false, true],
    ])
    await expect(samplesOf(new BlockReader(sourceOf(...steps)), 2)).rejects.toThrow('not enough')
  })

  it('fails at once with an error that is not of the sample', async () => {
    const reader = new BlockReader(sourceOf('ip\n', null))
    const planning = reader.plan(() => {
      throw new TypeError('an option')
    })
    await expect(planning).rejects.toThrow('an option')
  })

  it('gives lines that are due in blocks of their own, and incomplete lines later', async () => {
    const reader = new BlockReader(sourceOf('a\n', 150, 'b\nc', 150, 'd\n', 'e\n'))
    await samplesOf(reader)
    expect(await textsOf(reader)).toEqual(['a\n', 'b\n', 'cd\ne\n'])
  })
})

afterEach(() => {
  vi.useRealTimers()
})

const CHUNK = Uint8Array.of(1)

/** A source that gives a chunk when `give` is called. */
function manual() {
  const waiting: ((chunk: Uint8Array | null) => void)[] = []
  return {
    read: vi.fn(() => new Promise<Uint8Array | null>((resolve) => waiting.push(resolve))),
    give: (chunk: Uint8Array | null) => waiting.shift()?.(chunk),
  }
}

describe('LiveReader', () => {
  it('says that lines are due after a pause, once, and loses nothing over it', async () => {
    vi.useFakeTimers()
    const source = manual()
    const reader = new LiveReader(source, true)
    const first = reader.next()
    source.give(CHUNK)
    expect(await first).toBe(CHUNK)
    const due = reader.next()
    await vi.advanceTimersByTimeAsync(IDLE_FLUSH_MS - 1)
    expect(vi.getTimerCount()).toBe(1)
    await vi.advanceTimersByTimeAsync(1)
    expect(await due).toBe(DUE)
    const late = reader.next()
    await vi.advanceTimersByTimeAsync(10_000)
    expect(vi.getTimerCount()).toBe(0)
    source.give(CHUNK)
    expect(await late).toBe(CHUNK)
    const end = reader.next()
    source.give(null)
    expect(await end).toBeNull()
    expect(source.read).toHaveBeenCalledTimes(3)
  })

  it('says that lines are due although more come all the time', async () => {
    vi.useFakeTimers()
    const startedAt = performance.now()
    let chunks = 0
    const read = async () => {
      await new Promise((resolve) => setTimeout(resolve, 20))
      chunks++
      return CHUNK
    }
    const reader = new LiveReader({ read }, true)
    const reading = (async () => {
      for (;;) if ((await reader.next()) === DUE) return performance.now() - startedAt
    })()
    await vi.advanceTimersByTimeAsync(1000)
    // The first chunk came after 20 milliseconds.
    expect(await reading).toBe(MAX_LINE_AGE_MS + 20)
    expect(chunks).toBeGreaterThan(5)
  })

  it('gives DUE even if the source keeps timers from firing', async () => {
    let now = 0
    vi.spyOn(performance, 'now').mockImplementation(() => now)
    // Each chunk takes a millisecond.
    const read = async () => {
      now++
      return CHUNK
    }
    const reader = new LiveReader({ read }, true)
    while ((await reader.next()) !== DUE) expect(now).toBeLessThan(2 * MAX_LINE_AGE_MS)
    expect(now).toBeGreaterThanOrEqual(MAX_LINE_AGE_MS)
  })

  it('fails with what its source fails with', async () => {
    let count = 0
    const read = async () => {
      if (count++ > 0) throw new Error('gone')
      return CHUNK
    }
    const reader = new LiveReader({ read }, true)
    await reader.next()
    await expect(reader.next()).rejects.toThrow('gone')
  })
})
