import type { Enriched } from '../../enrich/block-enricher.ts'
import type { Block } from '../../enrich/splitter.ts'

/** Takes a result: a block, or the next piece of it. One at a time, in the order of the input. */
export type Receive = (enriched: Enriched, block: Block) => Promise<void>

/** What blocks are brought through. */
export interface Machine {
  /** Blocks that may be under way together. */
  readonly capacity: number
  /** Enriches a block, or the first piece of it. */
  enrich(block: Block): Promise<Enriched>
  /** Takes the memory of an output that nobody reads any more. */
  release(memory: ArrayBuffer): void
}

/** Brings blocks through a machine and their results on in order, with a bounded number under way. */
export class Conveyor {
  /** Rejects with what the machine or the receiver threw first; never resolves. */
  readonly failed: Promise<never>
  readonly #machine: Machine
  readonly #receive: Receive
  /** The results in order: each is received when the one before it was. */
  #last: Promise<void> = Promise.resolve()
  #underWay = 0
  /** Wakes who waits for room. */
  #wake: (() => void) | null = null
  #fail: (error: unknown) => void = () => {}

  constructor(machine: Machine, receive: Receive) {
    this.failed = new Promise((_, reject) => {
      this.#fail = reject
    })
    this.failed.catch(() => {})
    this.#machine = machine
    this.#receive = receive
  }

  /**
   * Resolves when there is room for a further block.
   *
   * @throws what the machine or the receiver of an earlier block threw; nothing behind it is received
   */
  async add(block: Block): Promise<void> {
    this.#underWay++
    const enriched = this.#machine.enrich(block)
    // Met below, in its turn.
    enriched.catch(() => {})
    this.#last = this.#pass(this.#last, enriched, block)
    this.#last.catch(this.#fail)
    while (this.#underWay >= this.#machine.capacity) await Promise.race([this.#last, this.#room()])
  }

  /** Resolves when everything was received. */
  async drain(): Promise<void> {
    await this.#last
  }

  async #pass(before: Promise<void>, enriched: Promise<Enriched>, block: Block): Promise<void> {
    await before
    let result = await enriched
    await this.#receive(result, block)
    // The rest waits for its turn, so that each block under way has one piece of output at most.
    while (result.rest !== null) {
      this.#machine.release(result.output.buffer)
      result = await this.#machine.enrich(result.rest)
      await this.#receive(result, block)
    }
    this.#machine.release(result.output.buffer)
    this.#underWay--
    this.#wake?.()
  }

  #room(): Promise<void> {
    return new Promise((resolve) => {
      this.#wake = resolve
    })
  }
}
