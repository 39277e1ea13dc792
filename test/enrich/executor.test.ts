import { describe, expect, it } from 'vitest'
import type { Enriched } from '../../src/enrich/block-enricher.ts'
import { emptyCounts, type RunningCounts } from '../../src/enrich/counting/counts.ts'
import { type Executor, LocalExecutor, OrderedQueue } from '../../src/enrich/executor.ts'
import type { Block } from '../../src/enrich/reading/splitter.ts'

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
