import { describe, expect, it } from 'vitest'
import { BlockReader } from '../../src/enrich/block-reader.ts'
import { EnrichError } from '../../src/enrich/errors.ts'
import { makePlan } from '../../src/enrich/plan.ts'
import { SAMPLE_BYTES } from '../../src/enrich/sample-size.ts'
import { text, utf8 } from './world.ts'

const { plan: PLAN } = makePlan(utf8('1.2.3.4\n'), true, {})

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
  const samples: [string, boolean][] = []
  await reader.plan((sample, isWhole) => {
    samples.push([text(sample), isWhole])
    if (samples.length <= failures) throw new EnrichError('ENRICH_FIELD_UNKNOWN', 'not enough')
  })
  return samples
}

async function textsOf(reader: BlockReader, skipped?: number): Promise<string[]> {
  const texts: string[] = []
  for await (const { bytes } of reader.blocks(PLAN, skipped)) texts.push(text(bytes))
  return texts
}

describe('BlockReader', () => {
  it('plans with all of a short input, and gives it in blocks', async () => {
    const reader = new BlockReader(sourceOf('a\n', 'b'))
    expect(await samplesOf(reader)).toEqual([['a\nb', true]])
    expect(await textsOf(reader)).toEqual(['a\nb'])
  })

  it('plans with a bounded part of a long one, and loses nothing', async () => {
    const chunks = Array.from({ length: 10 }, (_, index) => `${String(index).repeat(99_999)}\n`)
    const reader = new BlockReader(sourceOf(...chunks), false)
    const [[sample, isWhole] = ['', true]] = await samplesOf(reader)
    expect([sample.length, isWhole]).toEqual([SAMPLE_BYTES, false])
    expect((await textsOf(reader)).join('')).toBe(chunks.join(''))
  })

  it('leaves out what it is told to, over chunks', async () => {
    const reader = new BlockReader(sourceOf('ab', 'c\n', 'd\n'))
    await samplesOf(reader)
    expect(await textsOf(reader, 3)).toEqual(['\nd\n'])
  })

  it('does not wait for more of an input that pauses after a line (trial fault 3)', async () => {
    const reader = new BlockReader(sourceOf('a\nb', null))
    expect(await samplesOf(reader)).toEqual([['a\nb', false]])
    expect((await reader.blocks(PLAN).next()).value).toMatchObject({ bytes: utf8('a\n') })
  })

  it('waits for the first line, and for all of a file', async () => {
    expect(await samplesOf(new BlockReader(sourceOf('a', 400, '\n', null)))).toEqual([['a\n', false]])
    expect(await samplesOf(new BlockReader(sourceOf('a\n', 400, 'b'), false))).toEqual([['a\nb', true]])
  })

  it('waits for a second line where the first says too little: it may be a header', async () => {
    const steps = ['ip\n', 150, '1.2.3.4\n', null] as const
    expect(await samplesOf(new BlockReader(sourceOf(...steps)), 1)).toEqual([
      ['ip\n', false],
      ['ip\n1.2.3.4\n', false],
    ])
    await expect(samplesOf(new BlockReader(sourceOf(...steps)), 2)).rejects.toThrow('not enough')
  })

  it('fails at once with what is no matter of the sample', async () => {
    const reader = new BlockReader(sourceOf('ip\n', null))
    const planning = reader.plan(() => {
      throw new TypeError('an option')
    })
    await expect(planning).rejects.toThrow('an option')
  })

  it('gives lines that are due in blocks of their own, and what has no end yet later', async () => {
    const reader = new BlockReader(sourceOf('a\n', 150, 'b\nc', 150, 'd\n', 'e\n'))
    await samplesOf(reader)
    expect(await textsOf(reader)).toEqual(['a\n', 'b\n', 'cd\ne\n'])
  })
})
