import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { BlockEnricher } from '../../../src/enrich/block-enricher.ts'
import { emptyCounts, mergeCounts } from '../../../src/enrich/counting/counts.ts'
import { type EnrichOptions, layoutOf, makePlan, type Plan } from '../../../src/enrich/formats/formats.ts'
import { Splitter, sampleBlocks } from '../../../src/enrich/reading/splitter.ts'
import { DatabaseSet } from '../../../src/location/database-set.ts'
import { Database } from '../../../src/mmdb/database.ts'
import { effort } from '../../effort.ts'
import { LONG_ANSWERS } from '../long-answers.ts'
import { AT, concatenated, run, text, utf8, wholeSample, worldSet } from '../world.ts'

const FIRST = { at: AT, field: 'src', into: 'from', maxLineBytes: 300 } as const
const SECOND = { ...FIRST, field: 'dst', into: 'to' } as const
/** What locates the second address in the lines that a run for the first has written. */
const APART = { ...SECOND, maxLineBytes: 65_836 } as const

const ADDRESS = fc.constantFrom('81.2.69.142', '10.0.0.1', 'x', '2001:4860::1', '-')
const LONG = 'y'.repeat(400)

interface Lines {
  readonly head?: string
  readonly options: EnrichOptions
  readonly others: readonly string[]
  line(a: string, b: string): string
}

/** Lines of each kind, by two addresses. */
const LINES: Readonly<Record<string, Lines>> = {
  ndjson: {
    options: { format: 'ndjson' },
    others: ['', 'bad', LONG, '{}', ' { } '],
    line: (src, dst) => JSON.stringify({ src, dst }),
  },
  'members that are replaced': {
    options: { format: 'ndjson', overwrite: true, asn: false },
    others: ['{"to":1,"src":"81.2.69.142","from":[2],"dst":"-"}', '{"to":{}}', '{"dst":"-","from":"x"}'],
    line: (src, dst) => JSON.stringify({ src, from: { a: 1 }, dst }),
  },
  'indented JSON': {
    options: { format: 'json' },
    others: ['{}', '{ }', '{\n\t"src": "x"\n}', '[]', LONG],
    line: (src, dst) => JSON.stringify({ src, dst }, null, 2),
  },
  csv: {
    head: 'src,dst,t\n',
    options: { format: 'csv' },
    others: ['', 'bad', '"a\nb",c,d', LONG],
    line: (src, dst) => `${src},${dst},t`,
  },
  'columns that are replaced': {
    head: 'to_city,src,from_country_code,dst,to_country_code,t\n',
    options: { format: 'csv', overwrite: true, fields: ['country_code', 'city'] },
    others: ['', 'bad', '"a\nb",c,d,e,f,g', LONG],
    line: (src, dst) => `"1,2",${src},x,${dst},,t`,
  },
  'columns of the second that are replaced': {
    head: 'src,dst,to_city\n',
    options: { format: 'csv', overwrite: true, fields: ['country_code', 'city'] },
    others: ['bad'],
    line: (src, dst) => `${src},${dst},x`,
  },
  zeek: {
    head: '#separator \\x09\n#fields\tsrc\tdst\n',
    options: { format: 'zeek' },
    others: ['bad', '#fields\tdst\tn\tsrc', '#fields\tsrc\tdst', '#unset_field\tx', LONG],
    line: (src, dst) => `${src}\t${dst}`,
  },
}

/** The plan for both addresses, by the whole input. */
function planOf(input: string, options: EnrichOptions): Plan {
  const [plan, other] = [FIRST, SECOND].map(
    (own) => makePlan(wholeSample(input), { ...options, ...own, force: true }).plan,
  )
  if (plan === undefined || other === undefined) throw new Error('no plan')
  return { ...plan, others: [other] }
}

const located = (plan: Plan, input: string, blockBytes: number) => {
  const splitter = new Splitter(layoutOf(plan), blockBytes)
  const pieces = [...sampleBlocks(wholeSample(input), layoutOf(plan), splitter)].flatMap((block) => [
    ...new BlockEnricher(structuredClone(plan), worldSet()).pieces(structuredClone(block)),
  ])
  const counts = emptyCounts()
  for (const piece of pieces) mergeCounts(counts, piece.counts)
  return { output: text(concatenated(pieces.map(({ output }) => output))), counts }
}

describe('several addresses of a line', () => {
  it.each(Object.keys(LINES))('are those of two runs, whichever thread has a block: %s', (kind) => {
    const { head = '', options = {}, others = [], line = () => '' } = LINES[kind] ?? {}
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
        const first = run(input, { ...options, force: true, ...FIRST })
        const second = run(first.output, { ...options, force: true, ...APART })
        const { output, counts } = located(planOf(input, options), input, blockBytes)
        expect(output).toBe(text(second.output))
        for (const [index, { resolved, failed }] of [first.counts, second.counts].entries())
          expect([counts, ...(counts.others ?? [])][index]).toMatchObject({ resolved, failed })
      }),
      { numRuns: effort({ short: 20, long: 1000 }) },
    )
  })

  it.each([
    [
      'a member that exists',
      'ndjson',
      '{"src":"81.2.69.142","dst":"-","to":1}\n',
      /^it has a member "to" already$/,
    ],
    [
      'a header without its field',
      'zeek',
      '#fields\tsrc\tx\n81.2.69.142\t-\n',
      /^its header has no field "dst"$/,
    ],
  ])('leave a line as it is that cannot be read for one of them: %s', (_, kind, rest, message) => {
    const { head = '', options = {}, line = () => '' } = LINES[kind] ?? {}
    const input = `${head}${line('81.2.69.142', '81.2.69.142')}\n`
    const { output, counts } = located(planOf(input, options), `${input}${rest}`, 4096)
    expect(output.endsWith(`\n${rest}`)).toBe(true)
    expect(counts).toMatchObject({ resolved: 1, bad: 1, others: [{ resolved: 1, bad: 0 }] })
    expect(counts.badLines[0]?.message).toMatch(message)
  })

  it('are masked where a line is cut, whole or in pieces', () => {
    const options = { onBadLine: 'raw', format: 'csv', to: 'ndjson', dropAddress: true } as const
    const enricher = new BlockEnricher(planOf('src,dst\n', options), worldSet())
    for (let before = 270; before < 305; before++) {
      const bytes = utf8(`${'y'.repeat(before)} 81.2.69.142 ${LONG}\n`)
      for (const oversized of [false, true]) {
        const { output } = enricher.block({ bytes, isHead: false, oversized, startsLine: true })
        expect(text(output)).toMatch(/^\{"raw":"y+( (- ?y*)?)?","from":null,"to":null\}\n$/)
      }
    }
  })

  it('come in pieces where locations are long, all lines in order', () => {
    const input = Array.from({ length: 1500 }, (_, n) => `{"src":"1.1.1.1","dst":"1.1.1.1","n":${n}}\n`).join(
      '',
    )
    const set = new DatabaseSet([new Database(LONG_ANSWERS)])
    const plan = planOf(input, { format: 'ndjson' })
    const [block] = new Splitter(layoutOf(plan), 60_000).push(utf8(input))
    if (block === undefined) throw new Error('no block')
    const pieces = [...new BlockEnricher(plan, set).pieces(block)]
    expect(pieces.length).toBeGreaterThan(1)
    expect(Math.max(...pieces.map(({ output }) => output.length))).toBeLessThan(2 ** 25)
    const numbers = pieces.flatMap(({ output }) =>
      [...text(output).matchAll(/"n":(\d+),"from":/g)].map(([, n]) => n),
    )
    const own = [...text(block.bytes).matchAll(/"n":(\d+)/g)].map(([, n]) => n)
    expect(numbers).toEqual(own)
  })
})
