// The loops of formats against the line-by-line path, which is the oracle: the output and the counts are the same.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { BlockEnricher } from '../../../src/enrich/block-enricher.ts'
import { type Counts, emptyCounts, mergeCounts } from '../../../src/enrich/counting/counts.ts'
import {
  definitionFor,
  type EnrichOptions,
  layoutOf,
  makePlan,
  type Plan,
} from '../../../src/enrich/formats/formats.ts'
import { LineLocator } from '../../../src/enrich/locating/line-locator.ts'
import { Splitter } from '../../../src/enrich/reading/splitter.ts'
import { effort } from '../../effort.ts'
import { mutatedBytes } from '../../fuzz/mutation.ts'
import { AT, concatenated, latin1, PLACED, UNPLACED, utf8, worldSet } from '../world.ts'

const GOLDEN = join(import.meta.dirname, '..', 'golden')
const set = worldSet()

interface Result {
  readonly output: string
  readonly counts: Counts
}

function enriched(plan: Plan, bytes: Uint8Array, isFused: boolean, blockBytes = 2 ** 18): Result {
  const enricher = new BlockEnricher(plan, set, undefined, isFused)
  const splitter = new Splitter(layoutOf(plan), blockBytes)
  const counts = emptyCounts()
  const outputs: Uint8Array[] = []
  let before = 0
  for (const block of [...splitter.push(bytes), ...splitter.end()]) {
    for (const { output, counts: added, lines } of enricher.pieces(block)) {
      outputs.push(output)
      mergeCounts(counts, added, before)
      before += lines
    }
  }
  return { output: latin1(concatenated(outputs)), counts }
}

function expectSame(
  sample: Uint8Array,
  bytes: Uint8Array,
  options: EnrichOptions,
  blockBytes?: number,
): void {
  const { plan } = makePlan(sample, true, { at: AT, force: true, ...options })
  const [fused, unfused] = [true, false].map((isFused) => enriched(plan, bytes, isFused, blockBytes))
  expect(fused?.output).toBe(unfused?.output)
  expect(fused?.counts).toEqual(unfused?.counts)
}

const FILTERS: readonly EnrichOptions[] = [
  {},
  { details: true },
  { onlyFailed: true, details: true },
  { dropUnresolved: true },
  { onBadLine: 'drop' },
  { maxLineBytes: 120 },
  { locale: 'de' },
]

/** For each format with a loop: a sample, the options that make its loops, and texts that its lines can have. */
const CASES: readonly (readonly [
  name: string,
  file: string,
  shortest: string,
  options: readonly EnrichOptions[],
])[] = [
  [
    'access log',
    'combined.log',
    '81.2.69.142 - - [15/Jan/2026:23:59:59 +0000] "GET / HTTP/2" 200 5',
    [
      {},
      { into: 'the "place"' },
      { append: true },
      { append: true, fields: ['country_code', 'city', 'timezone_offset', 'latitude'] },
    ],
  ],
]

const ADDRESSES = [
  ...PLACED,
  ...Object.keys(UNPLACED),
  '1.2.3.4.5',
  '81.2.69.256',
  '81.2.69',
  '255.255.255.255',
  '0.0.0.0',
]

describe.each(CASES)('the loop of the format %s', (_, file, shortest, optionsOfLoops) => {
  const sample = new Uint8Array(readFileSync(join(GOLDEN, file)))
  const lines = latin1(sample).split('\n')
  const bytesOf = (text: string): Uint8Array => Uint8Array.from(text, (each) => each.charCodeAt(0))
  const options = fc
    .tuple(fc.constantFrom(...optionsOfLoops), fc.constantFrom(...FILTERS))
    .map(([ofLoop, filter]) => ({ ...ofLoop, ...filter }))
  const format = file === 'combined.log' ? 'access-log' : 'csv'

  it('takes the usual lines', () => {
    const usual = bytesOf(`${lines.slice(0, 2).join('\n')}\n`)
    for (const ofLoop of optionsOfLoops) {
      const { plan } = makePlan(sample, true, { format, at: AT, ...ofLoop })
      const definition = definitionFor(plan)
      const locator = new LineLocator(set, plan, definition.locationTemplate?.(plan))
      const loop = definition.makeLines(plan, locator).makeLoop?.()
      loop?.arena.bytes.set(usual)
      expect(loop?.run(0, usual.length)).toBe(usual.length)
    }
  })

  it('does the same for its golden input', () => {
    for (const ofLoop of optionsOfLoops)
      for (const filter of FILTERS) expectSame(sample, sample, { format, ...ofLoop, ...filter })
  })

  it('does the same for lines with changed bytes, and other addresses', () => {
    const line = fc
      .tuple(fc.constantFrom(...lines), fc.constantFrom(...ADDRESSES), fc.boolean())
      .map(([text, ip, isOther]) => bytesOf(isOther ? text.replace(/[0-9a-f]+[.:][0-9a-f.:]+/, ip) : text))
    const input = fc
      .array(mutatedBytes(line, 2), { minLength: 1, maxLength: 12 })
      .map((all) => concatenated(all.flatMap((each) => [each, utf8('\n')])))
    fc.assert(
      fc.property(input, options, fc.integer({ min: 200, max: 2000 }), (bytes, given, blockBytes) => {
        expectSame(sample, bytes, { format, ...given }, blockBytes)
      }),
      { numRuns: effort({ short: 300, long: 20_000 }) },
    )
  })

  it('does the same for many lines, long lines, and a last line without a line feed', () => {
    const once = lines.filter((line) => line !== '').join('\n')
    const long = (lines[0] ?? '').replace(/"$/, `${'x'.repeat(200_000)}"`)
    const bytes = bytesOf([...Array<string>(300).fill(once), long, once, long, once].join('\n'))
    for (const ofLoop of optionsOfLoops) expectSame(sample, bytes, { format, ...ofLoop }, 2 ** 20)
  })

  it('does the same when its output is full', () => {
    const bytes = bytesOf(`${shortest}\n`.repeat(10_000))
    for (const ofLoop of optionsOfLoops)
      expectSame(sample, bytes, { format, details: true, ...ofLoop }, 2 ** 20)
  })
})
