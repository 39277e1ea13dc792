// The loops of formats against the line-by-line path, which is the oracle: the output and the counts are the same.

import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { withReport } from '../../../src/enrich/count.ts'
import { countPlan } from '../../../src/enrich/count-plan.ts'
import type { Counts } from '../../../src/enrich/counting/counts.ts'
import {
  definitionFor,
  type EnrichOptions,
  type Format,
  layoutOf,
  makePlan,
  type Plan,
  withCounted,
} from '../../../src/enrich/formats/formats.ts'
import { stateAfter } from '../../../src/enrich/reading/layout.ts'
import { viewOf } from '../../../src/enrich/swar.ts'
import { effort } from '../../effort.ts'
import { mutatedBytes } from '../../fuzz/mutation.ts'
import { golden } from '../golden/cases.ts'
import { AT, concatenated, latin1, PLACED, runPlan, UNPLACED, utf8, wholeSample, worldSet } from '../world.ts'

const set = worldSet()

interface Result {
  readonly output: string
  readonly counts: Counts
  readonly groups: readonly unknown[]
}

/** What a plan counts besides the locations. */
type Counting = 'nothing' | 'for a report' | 'by fields'

function countingPlan(plan: Plan, counting: Counting, fields: readonly string[]): Plan {
  if (counting === 'nothing') return plan
  if (counting === 'for a report') return withReport(plan, true)
  const names = definitionFor(plan).fieldNames?.(plan) ?? null
  const known = fields.filter((field) => names === null || names.includes(field))
  const count = countPlan({ by: ['country', 'local_hour', 'day', 'network', ...known], unique: true })
  return { ...withCounted(plan, known), count }
}

function enriched(plan: Plan, bytes: Uint8Array, usesLoop: boolean, blockBytes = 2 ** 18): Result {
  const { output, counts, groups } = runPlan(plan, bytes, { set, usesLoop, blockBytes })
  const all = groups.map((each) => [[...each.groups()], each.other, each.localTimes, each.absentFields])
  return { output: latin1(output), counts, groups: all }
}

function expectSame(
  sample: Uint8Array,
  bytes: Uint8Array,
  options: EnrichOptions,
  blockBytes?: number,
  counting: Counting = 'nothing',
  fields: readonly string[] = [],
): void {
  const made = makePlan(wholeSample(sample), { at: AT, force: true, ...options })
  const plan = countingPlan(made.plan, counting, fields)
  const [fused, unfused] = [true, false].map((usesLoop) => enriched(plan, bytes, usesLoop, blockBytes))
  expect(fused?.output).toBe(unfused?.output)
  expect(fused?.counts).toEqual(unfused?.counts)
  expect(fused?.groups).toEqual(unfused?.groups)
}

const FILTERS: readonly EnrichOptions[] = [
  {},
  { details: true },
  { onlyFailed: true, details: true },
  { dropUnresolved: true },
  { onBadLine: 'drop' },
  { maxLineBytes: 120 },
  { locale: 'de', onlyCountries: ['GB'] },
  { notCountries: ['US', 'IN'], details: true },
]

interface Case {
  readonly format: Format
  readonly file: string
  /** What comes before the lines; '' by default. */
  readonly header?: string
  /** Lines that loops take, besides those of the file. The first is as short as a line can be. */
  readonly usual: readonly string[]
  /** Lines that nearly are as the usual ones. */
  readonly unusual?: readonly string[]
  /** Fields that its loops count by, as far as the lines have them. */
  readonly fields: readonly string[]
  /** The options that make its loops. */
  readonly options: readonly EnrichOptions[]
}

/** The formats with a loop. */
const CASES: readonly Case[] = [
  {
    format: 'access-log',
    file: 'combined.log',
    usual: [
      '81.2.69.142 - - [15/Jan/2026:23:59:59 +0000] "GET / HTTP/2" 200 5',
      '1.128.3.4 - frank [15/Jul/2026:23:59:60 -0730] "GET /a?b HTTP/1.1" 404 - "-" "curl/8.5.0"',
      '8.8.8.8 - - [15/Jul/2026:00:00:00 +0000] "POST /a b HTTP/1.1" 201 0 "" "curl"',
    ],
    fields: ['status', 'method', 'target', 'bytes', 'protocol'],
    options: [
      {},
      { into: 'the "place"' },
      { append: true },
      { append: true, fields: ['country_code', 'city', 'timezone_offset', 'latitude'] },
    ],
  },
  {
    format: 'ndjson',
    file: 'rows.ndjson',
    usual: [
      '{"client":{"ip":"81.2.69.142"},"ts":1}',
      '{"client":{"ip":"1.128.3.4"},"ts":1785225600}',
      '{"client":{"ip":"81.2.69.7"},"ts":1785225600000}',
      '{"client":{"ip":"8.8.8.8"},"ts":1.5}',
    ],
    unusual: [
      '{"client":{"ip":"81.2.69.142"},"ts":1,"client":{"ip":"8.8.8.8"}}',
      '{"client":{"ip":"81.2.69.142","ip":"8.8.8.8"},"ts":1}',
      '{"client":{"ip":{"ip":"8.8.8.8"}},"ts":1}',
      '{"client":{"ip":["8.8.8.8"]},"ts":1}',
      '{"client":{"ip":"8.8.8\\u002e8"},"ts":1}',
      '{"client":{"ip":"8.8.8.8\\"},"ts":1}',
      '{"client":{"ip":"8.8.8.8\t"},"ts":1}',
      '{"client":{"ip":"8.8.8.8"},"ts":1}\r',
      '{"client":{"ip":"8.8.8.8"},"ts":01}',
      '{"client":{"ip":"8.8.8.8"},"ts":1} ',
      '{"client":{"ip":"8.8.8.8"},"ts":1}}',
      '{"client":{"ip":"8.8.8.8"},"ts":1',
      '{"client":{"ip":"255.255.255.255"},"ts":1}',
      '{"client":{"ip":""},"ts":1}',
      '{"client":{"ip":null},"ts":1}',
    ],
    fields: ['ts', 'client.ip', 'none'],
    options: [
      { field: 'client.ip' },
      { field: 'client.ip', timeField: 'ts', into: 'the "place"' },
      { field: 'client.ip', overwrite: true, trustedProxies: ['10.0.0.0/8'] },
    ],
  },
  {
    format: 'csv',
    file: 'quoted.csv',
    header: 'id,client ip,note,at\n',
    usual: ['1,81.2.69.142,,', '2,"1.128.3.4","a ""b"", c",2026-07-15T12:00:00+02:00', '3, 8.8.8.8 ,x,-'],
    fields: ['note', 'at', '2', '4'],
    options: [
      { field: 'client ip' },
      { field: 'client ip', timeField: 'at', fields: ['city', 'timezone_offset'] },
      { field: '2', header: false },
    ],
  },
  {
    format: 'w3c',
    file: 'iis.log',
    header: '#Date: 2026-03-28 22:10:05\n#Fields: date time cs-method c-ip cs(User-Agent) sc-status\n',
    usual: [
      '2026-03-28 23:59:59 GET 81.2.69.142 - 200',
      '2026-03-29 01:00:00 GET 1.128.3.4 "Mozilla (X11)" 200',
      '2026-03-29 1:00 - - curl 404',
    ],
    unusual: [
      '#Fields: time c-ip',
      '02:00:00 81.2.69.142',
      '22:10:04 "8.8.8.8"',
      '#Time Format: local',
      '02:00:00 1.128.3.4',
      '#Fields: date time',
      '2026-03-29 01:00:00',
      '#Time Format: UTC',
      '#Fields: date time cs-method c-ip cs(User-Agent) sc-status',
      '2026-03-29 01:00:00 GET 81.2.69.142 "a 200',
      '2026-03-29 01:00:00 GET 81.2.69.142 "a"b 200',
      '2026-03-29 01:00:00 "GET 81.2.69.142 a" 200',
      '2026-03-29 01:00:00 GET 81.2.69.142 a 200 ',
    ],
    fields: ['sc-status', 'cs(User-Agent)'],
    options: [{ field: 'c-ip' }, { field: 'c-ip', fields: ['city', 'timezone_offset'] }],
  },
  {
    format: 'zeek',
    file: 'zeek.log',
    header: '#separator \\x09\n#empty_field\t(empty)\n#fields\tts\tid.orig_h\ttags\n',
    usual: ['1\t81.2.69.142\t-', '1785225600.25\t-\t"', '-\t(empty)\ta b'],
    unusual: [
      '#unset_field\t(none)',
      '#fields\tid.orig_h\tts\tx',
      '81.2.69.142\t1785225600\t(none)',
      '(none)\t1\t',
    ],
    fields: ['tags', 'ts'],
    options: [{}, { fields: ['city', 'timezone_offset'] }],
  },
  {
    format: 'ssv',
    file: 'flow.log',
    header: 'version srcaddr start action\n',
    usual: ['2 81.2.69.142 1782864007 OK', '2 - - -', '2 1.128.3.4 1785225600 "'],
    unusual: ['# 81.2.69.142 1 OK', '2 81.2.69.142 1', '2 81.2.69.142 1 OK '],
    fields: ['action', 'start'],
    options: [{}, { fields: ['city', 'timezone_offset'] }],
  },
  {
    format: 'list',
    file: 'addresses.txt',
    usual: '8.8.8.8 81.2.69.142 2001:4860:0:0:0:0:0:1 ::ffff:89.160.20.112 localhost - 8.8.8.8:80'.split(' '),
    unusual: [
      '# 8.8.8.8',
      '#8.8.8.8',
      '8.8.8.8 ',
      '\t8.8.8.8',
      '8.8.8.8\r',
      '8.8.8.8,',
      '8.8.8.8 8.8.8.8',
      '',
      '"',
      '\\',
    ],
    fields: [],
    options: [
      {},
      { into: 'the "place"' },
      { fields: ['country_code', 'timezone_offset'] },
      { append: true },
      { append: true, fields: ['country_code', 'city', 'timezone_offset', 'latitude'] },
    ],
  },
]

const ADDRESSES = [
  ...PLACED,
  ...Object.keys(UNPLACED),
  ...'1.2.3.4.5 81.2.69.256 81.2.69 255.255.255.255 0.0.0.0'.split(' '),
]

describe.each(CASES)(
  'the loop of the format $format',
  ({ format, file, header = '', usual, unusual = [], fields, options: optionsOfLoops }) => {
    const bytesOf = (text: string): Uint8Array => Uint8Array.from(text, (each) => each.charCodeAt(0))
    const kept = latin1(golden(file))
    const lines = [...usual, ...usual, ...unusual, ...kept.split('\n')]
    const sample = bytesOf(`${header}${usual.join('\n')}\n`)
    const whole = bytesOf(`${header}${usual.join('\n')}\n${unusual.join('\n')}\n${kept}`)
    const options = fc
      .tuple(fc.constantFrom(...optionsOfLoops), fc.constantFrom(...FILTERS))
      .map(([ofLoop, filter]) => ({ ...ofLoop, ...filter }))

    const blockSizes = fc.integer({ min: 200, max: 2000 })
    const countings = fc.constantFrom<Counting[]>('nothing', 'for a report', 'by fields')

    it('takes the usual lines', () => {
      const bytes = bytesOf(`${usual.join('\n')}\n`)
      const padded = concatenated([bytes, new Uint8Array(64)])
      for (const ofLoop of optionsOfLoops) {
        const { plan } = makePlan(wholeSample(sample), { format, at: AT, force: true, ...ofLoop })
        const reader = definitionFor(plan).makeReader(plan, true)
        const layout = layoutOf(plan)
        if (layout.directives !== null)
          reader.use(stateAfter(bytesOf(header), layout.directives.initial, layout))
        // The templates of NDJSON are learned from lines.
        for (const line of usual) reader.read(bytesOf(`${line}\n`), 0, line.length)
        for (let start = 0; start < bytes.length; ) {
          const end = padded.indexOf(0x0a, start)
          expect(reader.usual(padded, viewOf(padded), start, bytes.length)).toBe(end)
          start = end + 1
        }
      }
    })

    it('counts the groups of its lines', () => {
      const bytes = bytesOf(header + Array<string>(20).fill(lines.join('\n')).join('\n'))
      for (const ofLoop of optionsOfLoops)
        for (const counting of ['for a report', 'by fields'] as const)
          expectSame(sample, bytes, { format, ...ofLoop }, 2 ** 16, counting, fields)
    })

    it('does the same for its sample', () => {
      for (const ofLoop of optionsOfLoops)
        for (const filter of FILTERS) expectSame(sample, whole, { format, ...ofLoop, ...filter })
    })

    it('does the same for lines with changed bytes, and other addresses', () => {
      const line = fc
        .tuple(fc.constantFrom(...lines), fc.constantFrom(...ADDRESSES), fc.boolean())
        .map(([text, ip, isOther]) => bytesOf(isOther ? text.replace(/[0-9a-f]+[.:][0-9a-f.:]+/, ip) : text))
      const input = fc
        .array(fc.oneof(line, mutatedBytes(line, 2)), { minLength: 1, maxLength: 12 })
        .map((all) => concatenated([bytesOf(header), ...all.flatMap((each) => [each, utf8('\n')])]))
      fc.assert(
        fc.property(input, options, blockSizes, countings, (bytes, given, blockBytes, counting) => {
          expectSame(sample, bytes, { format, ...given }, blockBytes, counting, fields)
        }),
        { numRuns: effort({ short: 30, long: 5000 }) },
      )
    })

    it('does the same for many lines, long lines, and a last line without a line feed', () => {
      const once = lines.filter((line) => line !== '').join('\n')
      const long = (usual[1] ?? '').replace(/[a-z]/, (letter) => letter.repeat(20_000))
      const bytes = bytesOf(header + [...Array<string>(40).fill(once), long, once, long, once].join('\n'))
      // The long lines are longer than a block.
      for (const ofLoop of optionsOfLoops) expectSame(sample, bytes, { format, ...ofLoop }, 2 ** 17)
    })

    it('does the same when its output is full', () => {
      const bytes = bytesOf(`${header}${`${usual[0]}\n`.repeat(4000)}`)
      for (const ofLoop of optionsOfLoops)
        expectSame(sample, bytes, { format, details: true, ...ofLoop }, 2 ** 20)
    })
  },
)
