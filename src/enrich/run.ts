import type { DatabaseSet } from '../location/database-set.ts'
import { checkAddresses } from './address-check.ts'
import { CARRIAGE_RETURN, LINE_FEED } from './ascii.ts'
import { BlockEnricher, type Enriched } from './block-enricher.ts'
import { queriesOf } from './count-plan.ts'
import {
  BAD_LINES_SHOWN,
  type BadLine,
  emptyCounts,
  mergeCounts,
  type RunningCounts,
} from './counting/counts.ts'
import { GroupTotals } from './counting/totals.ts'
import { BadLineError, InputMismatchError } from './errors.ts'
import { type Executor, OrderedQueue } from './executor.ts'
import { type Format, layoutOf, maskOf, type Plan, withFormats } from './formats/formats.ts'
import { BlockReader, type ChunkSource } from './reading/block-reader.ts'
import { headOf } from './reading/layout.ts'
import type { Sample } from './reading/sample.ts'
import { headBlock, Splitter } from './reading/splitter.ts'

/** An input of lines. */
export interface RunInput extends ChunkSource {
  /** For messages. */
  readonly name: string
  /** Whether it can pause between lines, as all inputs except files can. */
  readonly isLive: boolean
  /** When its file was last written, in milliseconds since 1970. */
  readonly writtenAt?: number | undefined
  /** Called once it is planned. @returns whether it starts again, with only what the plan needs */
  restart?(plan: Plan): Promise<boolean>
}

/** Where enriched lines go. */
export interface RunOutput {
  /** If the output makes a table of objects: the members that are its columns, once they are known. Lines then become its rows. */
  readonly columns?: readonly string[] | undefined
  /**
   * Resolves when more bytes can be written. The run makes one call at a time.
   *
   * @param objects where the bytes have objects, if they have rows: the start and the end of each
   * @param source of packed rows
   */
  write(bytes: Uint8Array, objects?: readonly number[], source?: number): Promise<void>
}

/** A line that could not be read, and its input. */
export interface BadInputLine extends BadLine {
  readonly input: string
}

export interface RunSettings {
  /** Read one after another. */
  readonly inputs: readonly RunInput[]
  /** Plans an input from its sample; see `makePlan`. */
  readonly plan: (sample: Sample, input: RunInput) => Plan
  /** The longest line that is parsed. Bytes. */
  readonly maxLineBytes: number | undefined
  /** The databases, for this thread. */
  readonly set: DatabaseSet
  readonly executor: Executor
  /** Imports the definitions of all formats; absent if they are loaded. */
  readonly loadFormats?: () => Promise<unknown>
}

/** What a run gives its caller. */
export type LineRun = Omit<Run, 'stop'>

/** Enriches several inputs, one after another, into one output. */
export class Run {
  /** Counts of the output so far, of all inputs. Line numbers are those of each input. */
  readonly counts: RunningCounts = emptyCounts()
  /** The first five bad lines of the run. */
  readonly badLines: BadInputLine[] = []
  /** The first five doubtful lines of the run. */
  readonly doubtfulLines: BadInputLine[] = []
  /** Bytes read, after decompression. */
  bytesRead = 0
  /** Bytes written, before compression. */
  bytesWritten = 0
  /** The input being read. An error of `read` is about this input, or about the output or the databases. */
  input: RunInput | null = null
  /** `null` after {@link read}: the databases can then be given up. */
  #settings: RunSettings | null
  readonly #missingLineEnd = new MissingLineEnd()
  /**
   * The groups of all inputs, for each query of the first plan: see `queriesOf`. Later inputs have the same format, and so the same
   * queries. None if no input has lines. Complete at the end.
   */
  groups: readonly GroupTotals[] = []
  /** The first input with lines. Later inputs must have its format, header and columns. */
  #first: KnownInput | null = null
  /** The enricher of the last input, and its plan as text. */
  #enricher: { readonly key: string; readonly enricher: BlockEnricher } | null = null
  #isStopped = false

  constructor(settings: RunSettings) {
    this.#settings = settings
  }

  /** `null` until the start of an input has been read. */
  get format(): Format | null {
    return this.#first?.plan.format ?? null
  }

  /**
   * Reads the inputs to their end. Call it once. The run holds no databases then.
   *
   * @throws EnrichError when an input does not fit its plan
   * @throws BadLineError when a line cannot be read and `onBadLine` of the plan is `fail`
   * @throws InputMismatchError when two inputs differ in format or columns
   * @throws InvalidDatabaseError when the databases have no locations
   * @throws what the plan, the inputs, the executor and the output fail with
   */
  async read(output: RunOutput): Promise<void> {
    for (const input of this.#running.inputs) {
      this.input = input
      await this.#enrich(input, output)
    }
    this.#settings = this.#enricher = null
  }

  /** Ends the run before the next block: blocks that are still being read are neither counted nor written. */
  async stop(): Promise<void> {
    this.#isStopped = true
    await this.#countLocations()
  }

  get #running(): RunSettings {
    if (this.#settings === null) throw new TypeError('the run has read its inputs')
    return this.#settings
  }

  async #enrich(input: RunInput, output: RunOutput): Promise<void> {
    const { inputs, maxLineBytes, executor } = this.#running
    const source = { read: () => this.#read(input), fill: (memory: Uint8Array) => this.#fill(input, memory) }
    const open = () => new BlockReader(source, input.isLive, maxLineBytes)
    const bytesBefore = this.bytesRead
    let reader = open()
    const planned = await reader.plan((sample) => {
      if (sample.isWhole && sample.bytes.length === 0 && inputs.length > 1) return null
      return this.#withFormats(() => ({ plan: this.#running.plan(sample, input), sample }))
    })
    if (planned === null) return
    const { plan } = planned
    let { sample } = planned
    if (await input.restart?.(plan)) {
      this.bytesRead = bytesBefore
      reader = open()
      sample = await reader.plan((restarted) => restarted)
    }
    const head = headOf(sample.bytes, layoutOf(plan))
    const isFirst = this.#first === null
    const known: KnownInput = { name: input.name, plan, header: head.header }
    this.#first ??= known
    if (isFirst) {
      const mask = plan.count === undefined ? null : maskOf(plan)
      this.groups = queriesOf(plan).map((query) => new GroupTotals(query, mask))
    }
    checkSameKind(this.#first, known)
    this.#missingLineEnd.begin()
    const enricher = this.#enricherOf(plan)
    // Do not check later inputs: a small one, such as a log that was rotated early, can have no address.
    if (isFirst) await this.#withFormats(() => checkAddresses(enricher, sample))
    // Line numbers count a header that was removed.
    let linesBefore = isFirst ? 0 : head.lines
    const queue = new OrderedQueue(executor, (enriched) => {
      const taken = this.#take(enriched, linesBefore, input, output)
      linesBefore += enriched.lines
      return taken
    })
    const addAll = async (): Promise<void> => {
      // The output has one header, and a byte order mark only at its start.
      if (isFirst && head.length > 0) await queue.add(headBlock(sample.bytes, layoutOf(plan)))
      const splitter = new Splitter(layoutOf(plan), executor.blockBytes, executor.allocate)
      for await (const blocks of reader.blocks(splitter, head.length)) {
        for (const block of blocks) {
          if (this.#isStopped) return
          const { columns } = output
          await queue.add(columns === undefined ? block : { ...block, columns })
        }
      }
      await queue.drain()
      await this.#countLocations()
    }
    try {
      // The race reports an error of the lines or the output at once, even while the input pauses.
      await Promise.race([addAll(), queue.failed])
    } catch (error) {
      if (!(error instanceof BadLineError)) throw error
      throw new BadLineError(error.line + linesBefore, error.fault)
    }
  }

  /** Adds the counts of the locations, once for all blocks of an input. */
  async #countLocations(): Promise<void> {
    // A reader can cancel after the last line.
    for (const { parts = [] } of (await this.#settings?.executor.locationCounts()) ?? [])
      for (const [query, part] of parts.entries()) this.groups[query]?.add(part)
  }

  /** Inputs with one plan share an enricher, so that its caches are filled once for all of them. */
  #enricherOf(plan: Plan): BlockEnricher {
    const key = JSON.stringify(plan)
    if (this.#enricher?.key === key) return this.#enricher.enricher
    const { set, executor } = this.#running
    const enricher = new BlockEnricher(plan, set)
    executor.usePlan(plan, enricher)
    this.#enricher = { key, enricher }
    return enricher
  }

  async #withFormats<Made>(use: () => Made): Promise<Made> {
    return withFormats(use, async () => this.#running.loadFormats?.())
  }

  async #read(input: RunInput): Promise<Uint8Array | null> {
    const chunk = await input.read()
    this.bytesRead += chunk?.length ?? 0
    return chunk
  }

  #fill(input: RunInput, memory: Uint8Array): number {
    const size = input.fill?.(memory) ?? 0
    this.bytesRead += size
    return size
  }

  /** Counts and writes the result of a block, or of a part of it. */
  async #take(
    { output: bytes, objects, source, counts }: Enriched,
    linesBefore: number,
    input: RunInput,
    output: RunOutput,
  ) {
    if (this.#isStopped) return
    mergeCounts(this.counts, counts, linesBefore)
    for (const name of ['badLines', 'doubtfulLines'] as const) {
      for (const { line, message } of counts[name].slice(0, BAD_LINES_SHOWN - this[name].length)) {
        this[name].push({ input: input.name, line: line + linesBefore, message })
      }
    }
    for (const part of [this.#missingLineEnd.before(bytes), bytes]) {
      if (part.length === 0) continue
      this.bytesWritten += part.length
      await output.write(part, objects, source)
    }
  }
}

const NO_BYTES = new Uint8Array(0)

/** An input that has lines, to compare others with. */
interface KnownInput {
  readonly name: string
  readonly plan: Plan
  readonly header: Uint8Array
}

/** @throws InputMismatchError when the formats, headers or numbers of columns of two inputs differ */
function checkSameKind(first: KnownInput, next: KnownInput): void {
  const { name } = next
  if (next.plan.format !== first.plan.format) {
    throw new InputMismatchError(
      `${name} is ${next.plan.format}, and ${first.name} is ${first.plan.format}: one run takes files of one format`,
    )
  }
  if (!isSame(first.header, next.header)) {
    throw new InputMismatchError(`the header of ${name} is not that of ${first.name}`)
  }
  const [columns, before] = [layoutOf(next.plan).columns, layoutOf(first.plan).columns]
  if (columns !== before) {
    throw new InputMismatchError(`${name} has ${columns} columns, and ${first.name} has ${before}`)
  }
}

function isSame(a: Uint8Array, b: Uint8Array): boolean {
  return a.length === b.length && a.every((byte, index) => byte === b[index])
}

/** Adds a line end after an input that ends without one, so that the next input starts on a new line. */
export class MissingLineEnd {
  #lacksLineEnd = false
  #isAtStart = false
  #lineEnd = Uint8Array.of(LINE_FEED)

  /** Call this before the first output of each input. */
  begin(): void {
    this.#isAtStart = true
  }

  /** @returns what must be written before the output: the missing line end of the previous input, or no bytes */
  before(output: Uint8Array): Uint8Array {
    if (output.length === 0) return NO_BYTES
    const missing = this.#isAtStart && this.#lacksLineEnd ? this.#lineEnd : NO_BYTES
    this.#isAtStart = false
    this.#lacksLineEnd = output.at(-1) !== LINE_FEED
    const lineFeed = output.lastIndexOf(LINE_FEED)
    if (lineFeed > 0) {
      const isPair = output[lineFeed - 1] === CARRIAGE_RETURN
      this.#lineEnd = isPair ? Uint8Array.of(CARRIAGE_RETURN, LINE_FEED) : Uint8Array.of(LINE_FEED)
    }
    return missing
  }
}
