import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { emptyCounts, mergeCounts, type RunningCounts } from '../../src/enrich/counting/counts.ts'
import type { Enriched } from '../../src/enrich/enricher.ts'
import { type Executor, enricherOf, LocalExecutor, OrderedQueue } from '../../src/enrich/executor.ts'
import { type EnrichOptions, layoutOf, makePlan, type Plan } from '../../src/enrich/formats/formats.ts'
import { type Block, Splitter, sampleBlocks } from '../../src/enrich/reading/splitter.ts'
import { DatabaseSet } from '../../src/location/database-set.ts'
import { Database } from '../../src/mmdb/database.ts'
import { effort } from '../effort.ts'
import { LONG_ANSWERS } from './long-answers.ts'
import { AT, concatenated, run, text, utf8, worldSet } from './world.ts'

const block = (line: number): Block => ({
  bytes: Uint8Array.of(line),
  isHead: false,
  oversized: false,
  startsLine: true,
})

/** Finishes blocks when the test asks for it, in any order. */
class ManualExecutor implements Executor {
  readonly capacity: number
  /** Memory that came back. */
  readonly released: Uint8Array[] = []
  readonly #pending = new Map<
    number,
    { resolve: (enriched: Enriched) => void; reject: (error: Error) => void }
  >()

  constructor(capacity: number) {
    this.capacity = capacity
  }

  readonly blockBytes = 1

  usePlan(): void {}

  allocate(size: number): Uint8Array {
    return new Uint8Array(size)
  }

  async locationCounts(): Promise<readonly RunningCounts[]> {
    return []
  }

  release(output: Uint8Array): void {
    this.released.push(output)
  }

  get underWay(): number[] {
    return [...this.#pending.keys()]
  }

  enrich({ bytes: [line = 0] }: Block): Promise<Enriched> {
    return new Promise((resolve, reject) => {
      this.#pending.set(line, { resolve, reject })
    })
  }

  /** @param rest what of the block is left */
  finish(line: number, rest: Block | null = null): void {
    this.#pending.get(line)?.resolve({ output: new Uint8Array(0), counts: emptyCounts(), lines: 0, rest })
    this.#pending.delete(line)
  }

  fail(line: number): void {
    this.#pending.get(line)?.reject(new Error(`line ${line}`))
    this.#pending.delete(line)
  }
}

const turns = () => new Promise((resolve) => setTimeout(resolve, 5))

describe('OrderedQueue', () => {
  it('passes on results in the order of the blocks, even if they arrive in another', async () => {
    const executor = new ManualExecutor(4)
    const received: number[] = []
    const queue = new OrderedQueue(executor, async (_, { bytes }) => void received.push(...bytes))
    for (const line of [1, 2, 3]) await queue.add(block(line))
    executor.finish(3)
    executor.finish(2)
    await turns()
    expect(received).toEqual([])
    executor.finish(1)
    await queue.drain()
    expect(received).toEqual([1, 2, 3])
  })

  it('enriches the rest of a block before it passes on the results of later blocks', async () => {
    const executor = new ManualExecutor(4)
    const received: number[] = []
    const queue = new OrderedQueue(executor, async () => void received.push(executor.released.length))
    for (const line of [10, 20, 30]) await queue.add(block(line))
    executor.finish(20, block(21))
    executor.finish(30)
    await turns()
    // The second waits with its rest for the first.
    expect(executor.underWay).toEqual([10])
    executor.finish(10, block(11))
    await turns()
    expect(executor.underWay).toEqual([11])
    executor.finish(11)
    await turns()
    expect(executor.underWay).toEqual([21])
    executor.finish(21, block(22))
    await turns()
    expect(executor.underWay).toEqual([22])
    executor.finish(22)
    await queue.drain()
    // Six pieces, each received when the memory of those before it had come back.
    expect(received).toEqual([0, 1, 2, 3, 4, 5])
    expect(executor.released).toHaveLength(6)
  })

  it('throws the error of the rest of a block', async () => {
    const executor = new ManualExecutor(4)
    const queue = new OrderedQueue(executor, async () => {})
    await queue.add(block(1))
    await queue.add(block(5))
    executor.finish(1, block(2))
    executor.finish(5)
    await turns()
    executor.fail(2)
    await expect(queue.drain()).rejects.toThrow('line 2')
  })

  it('releases memory after the result in it was received', async () => {
    const executor = new ManualExecutor(3)
    let receive = (): void => {}
    const queue = new OrderedQueue(executor, () => new Promise((resolve) => (receive = resolve)))
    await queue.add(block(1))
    executor.finish(1)
    await turns()
    expect(executor.released).toHaveLength(0)
    receive()
    await queue.drain()
    expect(executor.released).toHaveLength(1)
  })

  it('waits while the executor is at its capacity', async () => {
    const executor = new ManualExecutor(2)
    let isReceiving = false
    const queue = new OrderedQueue(executor, async () => {
      expect(isReceiving).toBe(false)
      isReceiving = true
      await turns()
      isReceiving = false
    })
    await queue.add(block(1))
    let hasRoom = false
    const waiting = queue.add(block(2)).then(() => {
      hasRoom = true
    })
    await turns()
    expect(hasRoom).toBe(false)
    // Done with the second does not make room: the first is still held.
    executor.finish(2)
    await turns()
    expect(hasRoom).toBe(false)
    executor.finish(1)
    await waiting
    await queue.drain()
  })

  it('throws the first error in the order of the input, and receives no later result', async () => {
    const executor = new ManualExecutor(5)
    const received: number[] = []
    const queue = new OrderedQueue(executor, async (_, { bytes }) => void received.push(...bytes))
    for (const line of [1, 2, 3, 4]) await queue.add(block(line))
    executor.fail(4)
    executor.finish(3)
    executor.finish(1)
    await turns()
    executor.fail(2)
    await expect(queue.drain()).rejects.toThrow('line 2')
    expect(received).toEqual([1])
    await expect(queue.add(block(5)).then(() => queue.drain())).rejects.toThrow('line 2')
  })

  it('wakes the caller that waits for room when the output fails', async () => {
    const executor = new ManualExecutor(1)
    const queue = new OrderedQueue(executor, async () => {
      throw new Error('full')
    })
    const adding = queue.add(block(1))
    executor.finish(1)
    await expect(adding).rejects.toThrow('full')
  })
})

describe('LocalExecutor', () => {
  it('refuses a block before a plan', async () => {
    await expect(new LocalExecutor().enrich(block(1))).rejects.toThrow('a block came before its plan')
  })
})

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
        const blocks = [...sampleBlocks(utf8(input), true, layoutOf(plan), splitter)]
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

  it('are masked where an earlier plan cuts a line, whole or in pieces', () => {
    const options = { onBadLine: 'raw', force: true } as const
    const { plan } = makePlan(utf8('src,dst\n'), true, { ...options, ...FIRST, format: 'csv', to: 'ndjson' })
    const masked = { ...options, ...SECOND, format: 'ndjson', dropAddress: true } as const
    const { plan: next } = makePlan(utf8('{"src":"10.0.0.1","dst":"-"}\n'), true, masked)
    const enricher = enricherOf({ ...plan, next }, worldSet())
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
