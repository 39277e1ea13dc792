import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { NO_HEADER } from '../../../src/enrich/formats/delimited/header.ts'
import { layoutOf, type Plan } from '../../../src/enrich/formats/formats.ts'
import { type CommonPlan, commonPlan } from '../../../src/enrich/options.ts'
import { type Block, Splitter } from '../../../src/enrich/reading/splitter.ts'
import { processorMs } from '../../processor-time.ts'
import { chunked, concatenated, text, utf8 } from '../world.ts'

const common = (maxLineBytes: number): CommonPlan => commonPlan({ maxLineBytes, at: 0 })
const ndjson = (maxLineBytes = 1000): Plan => ({
  ...common(maxLineBytes),
  format: 'ndjson',
  path: ['ip'],
  timePath: null,
  dottedPath: null,
  dottedTimePath: null,
  requestFields: {},
})
const csv = (maxLineBytes = 1000): Plan => ({
  ...common(maxLineBytes),
  format: 'csv',
  delimiter: 0x2c,
  quotes: true,
  hasSeparatorLine: false,
  isObject: false,
  headerLine: 0,
  requestFields: {},
  names: ['ip', 'x'],
  header: { ...NO_HEADER, names: ['ip', 'x'] },
  address: 0,
  time: [],
  isClock: false,
  unset: '',
  fields: ['city'],
  columns: ['city'],
  replaced: [],
  maxRecordLines: 1000,
})

function split(input: string | Uint8Array, plan: Plan, cuts: readonly number[], blockBytes = 16): Block[] {
  // Reused memory still has the bytes of an earlier block.
  let count = 0
  const dirty = (size: number) => new Uint8Array(size).fill(count++ % 2 === 0 ? 0x0a : 0x22)
  const splitter = new Splitter(layoutOf(plan), blockBytes, dirty)
  const bytes = typeof input === 'string' ? utf8(input) : input
  const blocks = [...chunked(bytes, cuts)].flatMap((chunk, index) =>
    index % 2 === 0 ? splitter.push(chunk) : fill(splitter, chunk),
  )
  return [...blocks, ...splitter.end()]
}

/** Reads a chunk into the memory of the splitter as long as there is some. */
function fill(splitter: Splitter, chunk: Uint8Array): Block[] {
  const blocks: Block[] = []
  for (let rest = chunk; rest.length > 0; ) {
    const room = splitter.room()
    if (room.length === 0) return [...blocks, ...splitter.push(rest)]
    const part = rest.subarray(0, room.length)
    room.set(part)
    blocks.push(...splitter.filled(part.length))
    rest = rest.subarray(part.length)
  }
  return blocks
}

const texts = (blocks: readonly Block[]): string[] => blocks.map(({ bytes }) => text(bytes))
const sizes = fc.array(fc.integer({ min: 1, max: 40 }), { minLength: 1, maxLength: 5 })

describe('blocks', () => {
  it('of a long line that comes at once are cut in linear time', () => {
    const input = new Uint8Array(2 ** 24).fill(0x78)
    const splitter = new Splitter(layoutOf(ndjson(100)), 256)
    let pieces = 0
    expect(processorMs(() => (pieces = splitter.push(input).length))).toBeLessThan(20_000)
    expect(pieces).toBeGreaterThan(60_000)
  })

  const plans = fc
    .tuple(fc.boolean(), fc.integer({ min: 1, max: 60 }))
    .map(([isCsv, max]) => (isCsv ? csv(max) : ndjson(max)))
  const input = fc
    .array(
      fc.oneof(
        {
          arbitrary: fc.constantFrom('\n', '\r\n', '"', ',', '""', '\u0000', '\ufeff', '"a\n"', ',"'),
          weight: 3,
        },
        fc.string({ maxLength: 30 }),
      ),
    )
    .map((parts) => parts.join(''))

  it('are the input when put together', () => {
    fc.assert(
      fc.property(input, plans, sizes, fc.integer({ min: 1, max: 64 }), (whole, plan, cuts, blockBytes) => {
        const blocks = split(whole, plan, cuts, blockBytes)
        expect(concatenated(blocks.map(({ bytes }) => bytes))).toEqual(utf8(whole))
        for (const [index, block] of blocks.entries()) {
          expect(block.bytes.length).toBeGreaterThan(0)
          const isOpen = block.bytes.at(-1) !== 0x0a
          // Only the last block, and pieces of a line that is too long, end without a line end.
          if (isOpen && index < blocks.length - 1) expect(block.oversized).toBe(true)
          if (!block.oversized) expect(block.startsLine).toBe(true)
        }
      }),
      { numRuns: 500 },
    )
  })

  it('have memory of their own, also the pieces of a line that is too long, and no more of it than asked for', () => {
    const input = Buffer.from(`${'{"a":1}\n'.repeat(100)}${'x'.repeat(5000)}\n{}\n`)
    const blocks = split(input, ndjson(), [input.length], 64)
    expect(blocks.filter(({ oversized }) => oversized).length).toBeGreaterThan(2)
    const memories = blocks.map(({ bytes }) => bytes.buffer)
    expect(new Set([...memories, input.buffer]).size).toBe(blocks.length + 1)
    expect(Math.max(...memories.map(({ byteLength }) => byteLength))).toBeLessThanOrEqual(2000)
    expect(texts(blocks).join('')).toBe(input.toString())
  })

  it('do not part a record with line ends in quotes', () => {
    expect(texts(split('a,"x\n\ny"\nb,"z""\n"\nc,d', csv(), [1], 4))).toEqual([
      'a,"x\n\ny"\n',
      'b,"z""\n"\nc,d',
    ])
    expect(texts(split('a,x"\nb,y\n', csv(), [1], 4))).toEqual(['a,x"\n', 'b,y\n'])
  })

  it('come early when asked for, without the line that has not ended', () => {
    for (const plan of [ndjson(), csv()]) {
      const splitter = new Splitter(layoutOf(plan), 1000)
      expect(splitter.flush()).toEqual([])
      expect(splitter.push(utf8('a,"b"\nc,"'))).toEqual([])
      expect(texts(splitter.flush())).toEqual(['a,"b"\n'])
      expect(splitter.flush()).toEqual([])
      expect(splitter.push(utf8('d"\n'))).toEqual([])
      expect(splitter.flush()).toMatchObject([{ startsLine: true }])
      expect(splitter.end()).toEqual([])
    }
  })
})

describe('a line that is too long', () => {
  it('is passed on in pieces', () => {
    const blocks = split(`a\n${'x'.repeat(100)}\nb\n`, ndjson(20), [10], 16)
    expect(blocks.filter(({ oversized }) => oversized).length).toBeGreaterThan(1)
    expect(blocks.filter(({ oversized, startsLine }) => oversized && startsLine)).toHaveLength(1)
    expect(blocks.at(-1)?.oversized).toBe(false)
  })

  it('is reported as soon as it is too long, after a short line too', () => {
    const splitter = new Splitter(layoutOf(ndjson(100)), 1)
    let held = 0
    for (const byte of utf8(`${'a'.repeat(20)}\n${'x'.repeat(150)}`)) {
      held += 1 - splitter.push(Uint8Array.of(byte)).reduce((size, { bytes }) => size + bytes.length, 0)
      expect(held).toBeLessThanOrEqual(102)
    }
  })

  it('of 100 MB takes no more memory than the bound', () => {
    const chunk = new Uint8Array(1024 * 1024).fill(0x20)
    const splitter = new Splitter(layoutOf(ndjson(65_536)), 65_536)
    let passed = 0
    let largest = 0
    const take = (blocks: readonly Block[]): void => {
      for (const { bytes } of blocks) {
        passed += bytes.length
        largest = Math.max(largest, bytes.buffer.byteLength)
      }
    }
    for (let megabytes = 0; megabytes < 100; megabytes++) {
      take(splitter.push(chunk))
      // What is held back is less than a line and two blocks.
      expect((megabytes + 1) * chunk.length - passed).toBeLessThan(3 * 65_536)
    }
    take(splitter.end())
    expect(passed).toBe(100 * chunk.length)
    expect(largest).toBeLessThanOrEqual(4 * 65_536)
  })

  it('with quotes that never close gives up one line only, in a time that grows with the input', () => {
    const lines = `a,"b\n${'c,d\n'.repeat(20)}`
    const blocks = split(lines, csv(40), [7], 16)
    expect(texts(blocks).join('')).toBe(lines)
    expect(blocks.every(({ oversized }) => !oversized)).toBe(true)
    // Every line opens a quote that the next one closes and opens again.
    const hostile = utf8(',"x\n",'.repeat(300_000))
    const taken = processorMs(() => {
      expect(split(hostile, csv(1024 * 1024), [65_536], 1024 * 1024).length).toBeGreaterThan(0)
    })
    expect(taken).toBeLessThan(20_000)
  })
})
