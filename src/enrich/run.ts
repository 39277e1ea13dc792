import type { DatabaseSet } from '../location/database-set.ts'
import { checkAddresses } from './address-check.ts'
import { BlockEnricher, type Enriched } from './block-enricher.ts'
import { BlockReader, type ChunkSource } from './block-reader.ts'
import { BAD_LINES_SHOWN, type BadLine, emptyCounts, mergeCounts, type RunningCounts } from './counts.ts'
import { BadLineError } from './errors.ts'
import { type Executor, OrderedQueue } from './executor.ts'
import type { Format, Plan } from './formats/formats.ts'
import { checkSameKind, type Head, headOf, Seam, withoutHeader } from './seam.ts'
import { Splitter } from './splitter.ts'

/** An input of lines. */
export interface RunInput extends ChunkSource {
  /** For messages. */
  readonly name: string
  /** Whether it can pause between lines, as all inputs except files can. */
  readonly isLive: boolean
}

/** Where enriched lines go. */
export interface RunOutput {
  /** Resolves when more bytes can be written. The run makes one call at a time. */
  write(bytes: Uint8Array): Promise<void>
}

/** A line that could not be read, and its input. */
export interface BadInputLine extends BadLine {
  readonly input: string
}

export interface RunSettings {
  /** Read one after another. */
  readonly inputs: readonly RunInput[]
  /** Plans an input from its sample; see `makePlan`. */
  readonly plan: (sample: Uint8Array, isWhole: boolean, input: RunInput) => Plan
  /** The longest line that is parsed. Bytes. */
  readonly maxLineBytes: number | undefined
  /** The databases, for this thread. */
  readonly set: DatabaseSet
  readonly executor: Executor
}

/** Enriches several inputs, one after another, into one output. */
export class Run {
  /** Counts of the output so far, of all inputs. Line numbers are those of each input. */
  readonly counts: RunningCounts = emptyCounts()
  /** The first five of the run. */
  readonly badLines: BadInputLine[] = []
  /** Bytes read, after decompression. */
  bytesRead = 0
  /** Before compression. */
  bytesWritten = 0
  /** The input that is read. An error of `complete` is about this input, or about the output or the databases. */
  input: RunInput | null = null
  readonly #settings: RunSettings
  readonly #seam = new Seam()
  /** The first input with lines. Later inputs must have its format, header and columns. */
  #first: { readonly head: Head; readonly name: string } | null = null
  #isStopped = false

  constructor(settings: RunSettings) {
    this.#settings = settings
  }

  /** `null` until the start of an input has been read. */
  get format(): Format | null {
    return this.#first?.head.plan.format ?? null
  }

  /**
   * Reads the inputs to their end. Call it once.
   *
   * @throws EnrichError when an input does not fit its plan
   * @throws BadLineError when a line cannot be read and `onBadLine` of the plan is `fail`
   * @throws InputMismatchError when two inputs differ in format or columns
   * @throws InvalidDatabaseError when the databases have no locations
   * @throws what the plan, the inputs, the executor and the output fail with
   */
  async complete(output: RunOutput): Promise<void> {
    for (const input of this.#settings.inputs) {
      this.input = input
      await this.#enrich(input, output)
    }
  }

  /** Ends the run before the next block: blocks that are still being read are neither counted nor written. */
  stop(): void {
    this.#isStopped = true
  }

  async #enrich(input: RunInput, output: RunOutput): Promise<void> {
    const { inputs, maxLineBytes, set, executor } = this.#settings
    const reader = new BlockReader({ read: () => this.#read(input) }, input.isLive, maxLineBytes)
    const planned = await reader.plan((sample, isWhole) => {
      if (isWhole && sample.length === 0 && inputs.length > 1) return null
      return { plan: this.#settings.plan(sample, isWhole, input), sample, isWhole }
    })
    if (planned === null) return
    const { plan, sample, isWhole } = planned
    const head = headOf(sample, plan)
    const isFirst = this.#first === null
    this.#first ??= { head, name: input.name }
    checkSameKind(this.#first.head, this.#first.name, head, input.name)
    this.#seam.begin()
    // The output has one header, and a byte order mark only at its start.
    const used = isFirst ? plan : withoutHeader(plan)
    const enricher = new BlockEnricher(used, set)
    // Do not check later inputs: one can be so small, such as a log that was rotated early, that it has no address.
    if (isFirst) checkAddresses(enricher, plan, sample, isWhole)
    executor.usePlan(used, enricher)
    // A header that was removed counts in line numbers.
    const linesBefore = isFirst ? 0 : head.lines
    const queue = new OrderedQueue(executor, (enriched) => this.#take(enriched, linesBefore, input, output))
    const addAll = async (): Promise<void> => {
      const splitter = new Splitter(used, executor.blockBytes, executor.allocate)
      for await (const block of reader.blocks(splitter, isFirst ? 0 : head.length)) {
        if (this.#isStopped) return
        await queue.add(block)
      }
      await queue.drain()
    }
    try {
      // The race reports an error of the lines or the output at once, even while the input pauses.
      await Promise.race([addAll(), queue.failed])
    } catch (error) {
      if (!(error instanceof BadLineError)) throw error
      throw new BadLineError(error.line + linesBefore, error.fault)
    }
  }

  async #read(input: RunInput): Promise<Uint8Array | null> {
    const chunk = await input.read()
    this.bytesRead += chunk?.length ?? 0
    return chunk
  }

  /** Counts and writes the result of a block, or of a part of it. */
  async #take({ output: bytes, counts }: Enriched, linesBefore: number, input: RunInput, output: RunOutput) {
    if (this.#isStopped) return
    const badLines = counts.badLines.map(({ line, message }) => ({ line: line + linesBefore, message }))
    mergeCounts(this.counts, { ...counts, badLines })
    for (const badLine of badLines.slice(0, BAD_LINES_SHOWN - this.badLines.length)) {
      this.badLines.push({ input: input.name, ...badLine })
    }
    for (const part of [this.#seam.before(bytes), bytes]) {
      if (part.length === 0) continue
      this.bytesWritten += part.length
      await output.write(part)
    }
  }
}
