import { BlockReader } from '../../enrich/block-reader.ts'
import {
  BAD_LINES_SHOWN,
  type Counts,
  emptyCounts,
  mergeCounts,
  type RunningCounts,
} from '../../enrich/counts.ts'
import { BadLineError, EnrichError } from '../../enrich/errors.ts'
import type { Plan } from '../../enrich/formats/formats.ts'
import type { EnrichOptions, Planned } from '../../enrich/options.ts'
import { makePlan } from '../../enrich/plan.ts'
import type { Block } from '../../enrich/splitter.ts'
import { bytesText, countOf } from '../figures.ts'
import { CommandFailure, ExitStatus, UsageError } from '../terminal.ts'
import { type Input, sizeOf } from './input.ts'
import { checkFit } from './option-fit.ts'
import { OrderedQueue } from './ordered-queue.ts'
import type { Output } from './output.ts'
import type { AdaptiveEngine } from './pool.ts'
import type { Position } from './progress.ts'
import { checkSameKind, type Head, headOf, Seam, withoutHeader } from './seam.ts'
import type { BadLineOf, RunFacts } from './statistics.ts'
import { unreadable } from './system-error.ts'

/** Enriches several inputs, one after another, into one output. */
export class EnrichRun {
  /** The counts of all inputs. Line numbers are those of each input, not counting a header that was removed. */
  readonly tally: RunningCounts = emptyCounts()
  readonly #badLines: BadLineOf[] = []
  readonly #inputs: readonly Input[]
  readonly #output: Output
  readonly #engine: AdaptiveEngine
  readonly #options: EnrichOptions
  readonly #seam = new Seam()
  /** The first input with lines. Later inputs must have its format, header and columns. */
  #first: { readonly head: Head; readonly input: Input } | null = null
  /** Header lines that were removed from the start of the current input. Added to the line numbers in messages. */
  #linesBefore = 0
  #plainBytes = 0
  #bytesWritten = 0

  constructor(inputs: readonly Input[], output: Output, engine: AdaptiveEngine, options: EnrichOptions) {
    this.#inputs = inputs
    this.#output = output
    this.#engine = engine
    this.#options = options
  }

  /** Receives notes for the user about what was detected in an input. */
  onNote: (note: string) => void = () => {}

  /** Bytes read, after decompression. */
  get plainBytes(): number {
    return this.#plainBytes
  }

  /** Bytes read, before decompression, and lines enriched. Reading is ahead of enriching. */
  get position(): Position {
    const bytes = this.#inputs.reduce((sum, { bytesRead }) => sum + bytesRead, 0)
    return { bytes, size: sizeOf(this.#inputs), lines: this.tally.lines }
  }

  get whereabouts(): string {
    const { bytes, size, lines } = this.position
    const read = size === null ? `${bytesText(bytes)} read` : `${bytesText(bytes)} of ${bytesText(size)} read`
    return `after ${countOf(lines, 'line', 'lines')}, ${read}`
  }

  facts(seconds: number): RunFacts {
    return {
      inputs: this.#inputs.map(({ name }) => name),
      format: this.#first?.head.plan.format ?? null,
      hasInstant: this.#options.at !== undefined,
      badLines: this.#badLines,
      bytesRead: this.position.bytes,
      bytesWritten: this.#bytesWritten,
      threads: this.#engine.threads,
      seconds,
    }
  }

  /** @throws as `runEnrich` */
  async complete(): Promise<void> {
    for (const input of this.#inputs) {
      try {
        await this.#enrich(input)
      } catch (error) {
        throw this.#inWords(error, input)
      }
    }
  }

  async #enrich(input: Input): Promise<void> {
    const chunks = input.chunks()
    const read = async (): Promise<Uint8Array | null> => {
      const { value, done } = await chunks.next()
      if (done) return null
      this.#plainBytes += value.length
      return value
    }
    const reader = new BlockReader({ read }, !input.isFile, this.#options.maxLineBytes)
    const planned = await reader.plan((sample, isWhole) => {
      if (isWhole && sample.length === 0 && this.#inputs.length > 1) return null
      const { plan, notes } = this.#plan(sample, isWhole, input)
      return { plan, notes, head: headOf(sample, plan), sample, isWhole }
    })
    if (planned === null) return
    const { plan, notes, head, sample, isWhole } = planned
    for (const note of notes) this.onNote(`${input.name}: ${note}`)
    const isFirst = this.#first === null
    this.#first ??= { head, input }
    checkSameKind(this.#first.head, this.#first.input.name, head, input.name)
    this.#seam.begin()
    // The output has one header, and a byte order mark only at its start.
    const used = isFirst ? plan : withoutHeader(plan)
    this.#linesBefore = isFirst ? 0 : head.lines
    this.#engine.usePlan(used)
    // Do not check later inputs: one can be so small, such as a log that was rotated early, that it has no address.
    if (isFirst) this.#engine.checkAddresses(plan, sample, isWhole)
    const queue = new OrderedQueue(this.#engine, async ({ output, counts }) => {
      mergeCounts(this.tally, counts)
      this.#noteBadLines(counts, input)
      await this.#write(this.#seam.before(output))
      await this.#write(output)
    })
    // The race reports an error of the lines or the output at once, even while the input pauses.
    await Promise.race([enqueue(reader.blocks(used, isFirst ? 0 : head.length), queue), queue.failed])
  }

  #plan(sample: Uint8Array, isWhole: boolean, input: Input): Planned<Plan> {
    try {
      const planned = makePlan(sample, isWhole, this.#options)
      checkFit(this.#options, planned.plan.format, input.name)
      return planned
    } catch (error) {
      throw error instanceof TypeError ? new UsageError(error.message) : error
    }
  }

  async #write(bytes: Uint8Array): Promise<void> {
    if (bytes.length === 0) return
    this.#bytesWritten += bytes.length
    await this.#output.write(bytes)
  }

  #noteBadLines({ badLines }: Counts, input: Input): void {
    for (const { line, message } of badLines) {
      if (this.#badLines.length === BAD_LINES_SHOWN) return
      this.#badLines.push({ input: input.name, line: line + this.#linesBefore, message })
    }
  }

  /** Converts an error about lines to one that names the input. Returns other errors as they are. */
  #inWords(error: unknown, input: Input): unknown {
    if (error instanceof BadLineError) {
      return new CommandFailure(
        `${input.name}, line ${error.line + this.#linesBefore}: ${error.fault}`,
        ExitStatus.failed,
        error,
      )
    }
    if (error instanceof EnrichError) {
      if (error.code === 'ENRICH_INPUT_UNREADABLE') return unreadable(input.name, error)
      return new CommandFailure(`${input.name}: ${error.message}`, ExitStatus.failed, error)
    }
    return error
  }
}

async function enqueue(blocks: AsyncIterable<Block>, queue: OrderedQueue): Promise<void> {
  for await (const block of blocks) await queue.add(block)
  await queue.drain()
}
