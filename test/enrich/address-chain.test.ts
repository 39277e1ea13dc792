import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { emptyCounts, mergeCounts } from '../../src/enrich/counting/counts.ts'
import { enricherOf } from '../../src/enrich/executor.ts'
import { type EnrichOptions, layoutOf, makePlan, type Plan } from '../../src/enrich/formats/formats.ts'
import { Splitter } from '../../src/enrich/reading/splitter.ts'
import { DatabaseSet } from '../../src/location/database-set.ts'
import { Database } from '../../src/mmdb/database.ts'
import { effort } from '../effort.ts'
import { LONG_ANSWERS } from './long-answers.ts'
import { AT, concatenated, run, text, utf8, worldSet } from './world.ts'

const FIRST = { at: AT, field: 'src', into: 'from', maxLineBytes: 300 } as const
const SECOND = { at: AT, field: 'dst', into: 'to', maxLineBytes: 65_836 } as const

const ADDRESS = fc.constantFrom('81.2.69.142', '10.0.0.1', 'x', '2001:4860::1', '-')
const LONG = 'y'.repeat(400)

/** Lines of each kind, by two addresses. */
const FORMATS: Readonly<
  Record<
    string,
    { readonly head: string; readonly others: readonly string[]; line(a: string, b: string): string }
  >
> = {
  ndjson: { head: '', others: ['', 'bad', LONG], line: (src, dst) => JSON.stringify({ src, dst }) },
  csv: {
    head: 'src,dst,t\n',
    others: ['', 'bad', '"a\nb",c,d', LONG],
    line: (src, dst) => `${src},${dst},t`,
  },
  zeek: {
    head: '#separator \\x09\n#fields\tsrc\tdst\n',
    others: ['bad', '#fields\tdst\tn\tsrc', '#fields\tsrc\tdst', '#unset_field\tx', LONG],
    line: (src, dst) => `${src}\t${dst}`,
  },
}

/** The plan for both addresses, by the whole input. */
function planOf(input: string, options: EnrichOptions): Plan {
  const forced = { ...options, force: true }
  const { plan } = makePlan(utf8(input), true, { ...forced, ...FIRST })
  const after = run(input, { ...forced, ...FIRST }).output
  return { ...plan, next: makePlan(after, true, { ...forced, ...SECOND }).plan }
}

describe('several addresses of a line', () => {
  it.each(Object.keys(FORMATS))('are those of two runs, whichever thread has a block: %s', (format) => {
    const { head = '', others = [], line = () => '' } = FORMATS[format] ?? {}
    const lines = fc.array(
      fc.oneof(
        { weight: 4, arbitrary: fc.tuple(ADDRESS, ADDRESS).map(([a, b]) => line(a, b)) },
        fc.constantFrom(...others),
      ),
      { minLength: 1, maxLength: 30 },
    )
    fc.assert(
      fc.property(lines, fc.integer({ min: 1, max: 400 }), (all, blockBytes) => {
        const input = `${head}${line('81.2.69.142', '81.2.69.142')}\n${all.join('\n')}\n`
        const options = { format: format as EnrichOptions['format'], force: true }
        const plan = planOf(input, options)
        const first = run(input, { ...options, ...FIRST })
        const second = run(first.output, { ...options, ...SECOND })
        const splitter = new Splitter(layoutOf(plan), blockBytes)
        const blocks = [...splitter.push(utf8(input)), ...splitter.end()]
        const pieces = blocks.map((block) => [
          ...enricherOf(structuredClone(plan), worldSet()).pieces(structuredClone(block)),
        ])
        expect(text(concatenated(pieces.flat().map(({ output }) => output)))).toBe(text(second.output))
        const counts = [emptyCounts(), emptyCounts()]
        for (const { counts: own, others: other = [] } of pieces.flat())
          for (const [index, each] of [own, ...other].entries())
            mergeCounts(counts[index] ?? emptyCounts(), each)
        for (const [index, { resolved, failed }] of [first.counts, second.counts].entries())
          expect(counts[index]).toMatchObject({ resolved, failed })
      }),
      { numRuns: effort({ short: 20, long: 1000 }) },
    )
  })

  it('come in pieces where locations are long, all lines in order', () => {
    const input = Array.from({ length: 1500 }, (_, n) => `{"src":"1.1.1.1","dst":"1.1.1.1","n":${n}}\n`).join(
      '',
    )
    const set = new DatabaseSet([new Database(LONG_ANSWERS)])
    const options = { at: AT, format: 'ndjson', force: true } as const
    const { plan } = makePlan(utf8(input), true, { ...options, ...FIRST })
    const { plan: next } = makePlan(utf8(input), true, { ...options, ...SECOND, maxLineBytes: 2 ** 24 })
    const [block] = new Splitter(layoutOf(plan), 60_000).push(utf8(input))
    if (block === undefined) throw new Error('no block')
    const pieces = [...enricherOf({ ...plan, next }, set).pieces(block)]
    expect(pieces.length).toBeGreaterThan(1)
    expect(Math.max(...pieces.map(({ output }) => output.length))).toBeLessThan(2 ** 25)
    const numbers = pieces.flatMap(({ output }) =>
      [...text(output).matchAll(/"n":(\d+),"from":/g)].map(([, n]) => n),
    )
    const own = [...text(block.bytes).matchAll(/"n":(\d+)/g)].map(([, n]) => n)
    expect(numbers).toEqual(own)
  })
})
