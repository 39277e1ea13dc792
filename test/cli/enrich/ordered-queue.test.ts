import { describe, expect, it } from 'vitest'
import { type Executor, OrderedQueue } from '../../../src/cli/enrich/ordered-queue.ts'
import type { Enriched } from '../../../src/enrich/block-enricher.ts'
import { emptyCounts } from '../../../src/enrich/counts.ts'
import type { Block } from '../../../src/enrich/splitter.ts'

const block = (line: number): Block => ({
  bytes: Uint8Array.of(line),
  firstLine: line,
  lines: 1,
  oversized: false,
  startsLine: true,
})

/** Finishes blocks when it is told to, in whatever order. */
class ManualEngine implements Executor {
  readonly capacity: number
  /** Memory that came back. */
  readonly released: ArrayBuffer[] = []
  readonly #pending = new Map<
    number,
    { resolve: (enriched: Enriched) => void; reject: (error: Error) => void }
  >()

  constructor(capacity: number) {
    this.capacity = capacity
  }

  release(memory: ArrayBuffer): void {
    this.released.push(memory)
  }

  get underWay(): number[] {
    return [...this.#pending.keys()]
  }

  enrich({ firstLine }: Block): Promise<Enriched> {
    return new Promise((resolve, reject) => {
      this.#pending.set(firstLine, { resolve, reject })
    })
  }

  /** @param rest what of the block is left */
  finish(line: number, rest: Block | null = null): void {
    this.#pending.get(line)?.resolve({ output: new Uint8Array(0), counts: emptyCounts(), rest })
    this.#pending.delete(line)
  }

  fail(line: number): void {
    this.#pending.get(line)?.reject(new Error(`line ${line}`))
    this.#pending.delete(line)
  }
}

const turns = () => new Promise((resolve) => setTimeout(resolve, 5))

describe('OrderedQueue', () => {
  it('hands results on in order, however they come', async () => {
    const engine = new ManualEngine(4)
    const received: number[] = []
    const queue = new OrderedQueue(engine, async (_, { firstLine }) => void received.push(firstLine))
    for (const line of [1, 2, 3]) await queue.add(block(line))
    engine.finish(3)
    engine.finish(2)
    await turns()
    expect(received).toEqual([])
    engine.finish(1)
    await queue.drain()
    expect(received).toEqual([1, 2, 3])
  })

  it('has the rest of a block enriched in its turn, before the blocks behind it are received', async () => {
    const engine = new ManualEngine(4)
    const received: number[] = []
    const queue = new OrderedQueue(engine, async () => void received.push(engine.released.length))
    for (const line of [10, 20, 30]) await queue.add(block(line))
    engine.finish(20, block(21))
    engine.finish(30)
    await turns()
    // The second waits with its rest for the first.
    expect(engine.underWay).toEqual([10])
    engine.finish(10, block(11))
    await turns()
    expect(engine.underWay).toEqual([11])
    engine.finish(11)
    await turns()
    expect(engine.underWay).toEqual([21])
    engine.finish(21, block(22))
    await turns()
    expect(engine.underWay).toEqual([22])
    engine.finish(22)
    await queue.drain()
    // Six pieces, each received when the memory of those before it had come back.
    expect(received).toEqual([0, 1, 2, 3, 4, 5])
    expect(engine.released).toHaveLength(6)
  })

  it('throws what the rest of a block fails with', async () => {
    const engine = new ManualEngine(4)
    const queue = new OrderedQueue(engine, async () => {})
    await queue.add(block(1))
    await queue.add(block(5))
    engine.finish(1, block(2))
    engine.finish(5)
    await turns()
    engine.fail(2)
    await expect(queue.drain()).rejects.toThrow('line 2')
  })

  it('gives memory back when the result in it was received, not before', async () => {
    const engine = new ManualEngine(3)
    let receive = (): void => {}
    const queue = new OrderedQueue(engine, () => new Promise((resolve) => (receive = resolve)))
    await queue.add(block(1))
    engine.finish(1)
    await turns()
    expect(engine.released).toHaveLength(0)
    receive()
    await queue.drain()
    expect(engine.released).toHaveLength(1)
  })

  it('waits where as many are under way as the engine takes', async () => {
    const engine = new ManualEngine(2)
    let isReceiving = false
    const queue = new OrderedQueue(engine, async () => {
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
    engine.finish(2)
    await turns()
    expect(hasRoom).toBe(false)
    engine.finish(1)
    await waiting
    await queue.drain()
  })

  it('throws the first error in the order of the input, and receives nothing behind it', async () => {
    const engine = new ManualEngine(5)
    const received: number[] = []
    const queue = new OrderedQueue(engine, async (_, { firstLine }) => void received.push(firstLine))
    for (const line of [1, 2, 3, 4]) await queue.add(block(line))
    engine.fail(4)
    engine.finish(3)
    engine.finish(1)
    await turns()
    engine.fail(2)
    await expect(queue.drain()).rejects.toThrow('line 2')
    expect(received).toEqual([1])
    await expect(queue.add(block(5)).then(() => queue.drain())).rejects.toThrow('line 2')
  })

  it('wakes who waits for room when the output fails', async () => {
    const engine = new ManualEngine(1)
    const queue = new OrderedQueue(engine, async () => {
      throw new Error('full')
    })
    const adding = queue.add(block(1))
    engine.finish(1)
    await expect(adding).rejects.toThrow('full')
  })
})
