import { describe, expect, it } from 'vitest'
import { BlockEnricher, type Enriched } from '../../src/enrich/block-enricher.ts'
import { countTable } from '../../src/enrich/counting/count-rows.ts'
import { emptyCounts, mergeCounts } from '../../src/enrich/counting/counts.ts'
import { BadLineError } from '../../src/enrich/errors.ts'
import { type EnrichOptions, layoutOf, makePlan } from '../../src/enrich/formats/formats.ts'
import { Splitter, sampleBlocks } from '../../src/enrich/reading/splitter.ts'
import { DatabaseSet } from '../../src/location/database-set.ts'
import { Database } from '../../src/mmdb/database.ts'
import { LONG_ANSWERS } from './long-answers.ts'
import {
  AT,
  concatenated,
  enrichBytes,
  enrichRows,
  enrichText,
  type Run,
  run,
  text,
  utf8,
  wholeSample,
} from './world.ts'

const NDJSON = { format: 'ndjson', field: 'ip' } as const
const GOOD = '{"ip":"81.2.69.142"}'
const PRIVATE = '{"ip":"10.0.0.1"}'

describe('bad lines', () => {
  const input = `${GOOD}\nrubbish\n${PRIVATE}\n{"ip":"\u0000"}\r\n[]\n${GOOD}`

  it('are kept as they are, counted and shown', () => {
    const { output, counts } = run(input, NDJSON)
    expect(text(output).split('\n')[1]).toBe('rubbish')
    expect(text(output)).toContain('\n{"ip":"\u0000"}\r\n[]\n')
    expect(counts).toMatchObject({ lines: 6, resolved: 2, bad: 3, failed: { private: 1 } })
    expect(counts.badLines).toEqual([
      { line: 2, message: 'it is not a JSON object' },
      { line: 4, message: 'it is not valid JSON: see its byte 8' },
      { line: 5, message: 'it is not a JSON object' },
    ])
  })

  it('are left out with drop', () => {
    const { output, counts } = run(input, { ...NDJSON, onBadLine: 'drop' })
    expect(text(output).split('\n').length).toBe(3)
    expect(counts).toMatchObject({ lines: 6, bad: 3 })
  })

  it('end the run with fail', () => {
    const failing = () => run(input, { ...NDJSON, onBadLine: 'fail' }, { cuts: [5], blockBytes: 10 })
    const error = { code: 'ENRICH_BAD_LINE', line: 2, fault: 'it is not a JSON object' }
    expect(failing).toThrow(expect.objectContaining({ ...error, message: `line 2: ${error.fault}` }))
    expect(failing).toThrow(BadLineError)
  })

  it.each([
    [100, 1_000_000],
    [30, 20],
  ])('are those that are too long, in one piece or in many: %i', (size, blockBytes) => {
    const long = `{"ip":"81.2.69.142","x":"${'y'.repeat(size * 10)}"}`
    const options = { ...NDJSON, maxLineBytes: 99 } as const
    const kept = run(`${GOOD}\n${long}\r\n${PRIVATE}`, options, { cuts: [size], blockBytes })
    expect(text(kept.output).split('\n')[1]).toBe(`${long}\r`)
    expect(kept.counts).toMatchObject({ lines: 3, resolved: 1, bad: 1, failed: { private: 1 } })
    expect(kept.counts.badLines).toEqual([{ line: 2, message: 'it is longer than 99 bytes' }])
    const dropped = run(
      `${GOOD}\n${long}\r\n${PRIVATE}`,
      { ...options, onBadLine: 'drop' },
      { cuts: [size], blockBytes },
    )
    expect(text(dropped.output).split('\n').length).toBe(2)
    expect(() =>
      run(`${GOOD}\n${long}`, { ...options, onBadLine: 'fail' }, { cuts: [size], blockBytes }),
    ).toThrow('line 2: it is longer than 99 bytes')
  })

  it('may be the first after a byte order mark, in one piece or in many', () => {
    const input = `\ufeff${'x'.repeat(50)}\n`
    for (const blockBytes of [10, 1000]) {
      const kept = { maxLineBytes: 20 }
      expect(text(run(input, { ...NDJSON, ...kept }, { blockBytes }).output)).toBe(input)
      expect(text(run(input, { ...NDJSON, ...kept, onBadLine: 'drop' }, { blockBytes }).output)).toBe(
        '\ufeff',
      )
      const list = (options: EnrichOptions): string =>
        text(run(input, { ...kept, format: 'list', ...options }, { blockBytes }).output)
      expect(list({ onBadLine: 'keep' })).toBe(input.slice(1))
      expect(list({ append: true })).toBe(input)
      // In one piece or in many, NDJSON gets as much of it as a line may have.
      expect(list({})).toBe(`{"raw":"${'x'.repeat(20)}","location":null}\n`)
    }
  })

  it('a line that is too long is kept as it is among NDJSON', () => {
    for (const blockBytes of [10, 1000]) {
      const input = `81.2.69.142\n"${'é'.repeat(50)}\r\n10.0.0.1\n`
      const options = { format: 'list', maxLineBytes: 21, into: 'place' } as const
      const { output, counts } = run(input, options, { blockBytes })
      const [, second, third] = text(output).split('\n')
      // As much of it as a line may have; what is left of a character is U+FFFD.
      expect(JSON.parse(second ?? '')).toEqual({ raw: `"${'é'.repeat(10)}`, place: null })
      expect(JSON.parse(third ?? '')).toEqual({ ip: '10.0.0.1', place: null })
      expect(counts).toMatchObject({ lines: 3, resolved: 1, bad: 1, failed: { private: 1 } })
    }
  })

  it('are not those of exactly the length allowed, whatever they end with', () => {
    const line = GOOD.padEnd(50)
    for (const end of ['\n', '']) {
      expect(run(`${line}${end}`, { ...NDJSON, maxLineBytes: 50 }).counts).toMatchObject({
        resolved: 1,
        bad: 0,
      })
      expect(run(`${line} ${end}`, { ...NDJSON, maxLineBytes: 50 }).counts).toMatchObject({
        resolved: 0,
        bad: 1,
      })
    }
  })
})

describe('what is written', () => {
  it('has no blank lines if it is only those that failed', () => {
    expect(text(run(`${GOOD}\n\nx\n`, { ...NDJSON, onlyFailed: true }).output)).toBe('x\n')
  })

  it.each<[string, EnrichOptions]>([
    [
      '81.2.69.142 - - [10/Oct/2026:13:55:36 +0000] "GET / HTTP/1.1" 200 2326\n81.2.69.7 cut off\n10.0.0.1 x\n',
      { format: 'access-log' },
    ],
    ['81.2.69.142\n10.0.0.1\n', { append: true }],
    ['ip,n\n81.2.69.142,1\n89.160.20.112,2\n10.0.0.1,3\n', {}],
  ])('is counted as all lines if only those that failed are written: %j', (text, options) => {
    const [all, failed] = [false, true].map((onlyFailed) =>
      run(text, { ...options, onlyFailed, details: true }),
    )
    expect(failed?.counts).toEqual(all?.counts)
    expect(failed?.groups.map(({ lines }) => lines)).toEqual(all?.groups.map(({ lines }) => lines))
    expect(failed?.counts.resolved).toBeGreaterThan(0)
    expect(failed?.output.length).toBeLessThan(all?.output.length ?? 0)
  })
})

describe('the option cityNames', () => {
  const CITY = 'Linköping "de"'
  const LOCAL = { locale: 'de', cityNames: 'locale' } as const
  const LINE = '89.160.20.112'

  it.each<[string, EnrichOptions, string, string]>([
    ['objects', NDJSON, `{"ip":"${LINE}"}`, JSON.stringify(CITY)],
    ['fields', { ...NDJSON, fields: ['city'] }, `{"ip":"${LINE}"}`, JSON.stringify(CITY)],
    ['columns', { format: 'csv', fields: ['city'] }, `ip,x\n${LINE},1`, CITY.replaceAll('"', '""')],
    ['annotations', { format: 'text' }, `from ${LINE} port 1`, `[SE ${CITY}]`],
  ])('applies to %s', (_, options, input, expected) => {
    expect(enrichText(`${input}\n`, { ...options, ...LOCAL })).toContain(expected)
    expect(enrichText(`${input}\n`, { ...options, locale: 'de' })).toContain('Östra')
  })

  it('applies to rows and to counts', () => {
    const rows = { format: 'tsv', quoting: 'none', field: '1', fields: ['city'], at: 0, ...LOCAL } as const
    expect(new TextDecoder().decode(enrichRows(utf8(`${LINE}\n`), rows))).toBe(`${LINE}\t${CITY}\n`)
    const { groups } = enrichBytes(utf8(`${LINE}\n`), { format: 'list', details: true, ...LOCAL })
    expect(groups[1]?.valuesOf(0, 0)).toContain(CITY)
  })
})

describe('the counts', () => {
  const input = `${GOOD}\n${PRIVATE}\n${GOOD}\n`

  it('are of countries, and of places and local hours when asked to', () => {
    const queriesOf = (details: boolean) =>
      run(input, { ...NDJSON, details }).groups.map((totals) => [totals.columns.length, [...totals.lines]])
    expect(queriesOf(false)).toEqual([[2, [2]]])
    expect(queriesOf(true)).toEqual([
      [2, [2]],
      [7, [2]],
      [2, [2]],
    ])
  })

  it('of parts are those of the whole', () => {
    const many = input.repeat(50)
    const options = { ...NDJSON, details: true } as const
    const rowsOf = ({ counts, groups }: Run) => [counts, groups.map((totals) => countTable(totals))]
    const parts = run(many, options, { cuts: [100], blockBytes: 150 })
    expect(rowsOf(parts)).toEqual(rowsOf(run(many, options, { blockBytes: 1_000_000 })))
  })
})

describe('a block whose output is large', () => {
  /** Enriches an input in blocks of a size. */
  function pieces(input: string, options: EnrichOptions, blockBytes: number): Enriched[] {
    const { plan } = makePlan(wholeSample(input), { at: AT, ...options })
    const enricher = new BlockEnricher(plan, new DatabaseSet([new Database(LONG_ANSWERS)]))
    const splitter = new Splitter(layoutOf(plan), blockBytes)
    const blocks = [...sampleBlocks(wholeSample(input), layoutOf(plan), splitter)]
    return blocks.flatMap((block) => [...enricher.pieces(block)])
  }

  const tallied = (parts: readonly Enriched[]) => {
    const counts = emptyCounts()
    let linesBefore = 0
    for (const part of parts) {
      mergeCounts(counts, part.counts, linesBefore)
      linesBefore += part.lines
    }
    return counts
  }

  const many = (count: number, line: (index: number) => string): string =>
    Array.from({ length: count }, (_, index) => line(index)).join('')

  it.each<[name: string, input: string, options: EnrichOptions]>([
    ['lines', many(2500, (n) => (n % 500 === 499 ? 'rubbish\n' : `{"ip":"1.1.1.1","n":${n}}\n`)), NDJSON],
    [
      'records of several lines',
      `\ufeffn,ip\n${many(14_000, (n) => `"${n}\r\n\n""x""",1.1.1.1\r\n`)}1`,
      { format: 'csv' },
    ],
    [
      'quotes that nothing closes',
      `n,ip\n${many(14_000, (n) => `${n % 100 === 0 ? '"' : n},1.1.1.1\n`)}"`,
      { format: 'csv', maxLineBytes: 1000 },
    ],
  ])('is left off between records: %s', (_, input, options) => {
    const parts = pieces(input, options, 1 << 20)
    expect(parts.length).toBeGreaterThan(2)
    for (const { output } of parts) expect(output.length).toBeLessThan(2 ** 24 + 65_536)
    // Of so small blocks none has a large output.
    const whole = pieces(input, options, 4000)
    expect(whole.every(({ rest }) => rest === null)).toBe(true)
    const same = Buffer.from(concatenated(parts.map(({ output }) => output))).equals(
      concatenated(whole.map(({ output }) => output)),
    )
    expect(same).toBe(true)
    expect(tallied(parts)).toEqual(tallied(whole))
    expect(tallied(parts).bad).toBeGreaterThan(0)
  })

  it('says what is left of it', () => {
    const [first] = pieces('1.1.1.1\n'.repeat(2000), { format: 'list' }, 1 << 20)
    const done = first?.counts.lines ?? 0
    expect(first?.rest).toMatchObject({ isHead: false, startsLine: true })
    expect(first?.lines).toBe(done)
    expect(first?.rest?.bytes).toHaveLength(8 * (2000 - done))
  })
})
