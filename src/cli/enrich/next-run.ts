import {
  definitionOf,
  type EnrichOptions,
  FORMATS,
  type Format,
  makePlan,
  type Plan,
} from '../../enrich/formats/formats.ts'
import { DEFAULT_LINE_BYTES, MAX_LINE_BYTES, UNMASKED } from '../../enrich/options.ts'
import { Run, type RunInput, type RunSettings } from '../../enrich/run.ts'
import { UsageError } from '../terminal.ts'
import { asUsage, inWords } from './command-errors.ts'
import type { AddressOption } from './command-line.ts'
import type { Output } from './output.ts'

/** The location that the run before added to a line, and more. Bytes. */
const LOCATION_ROOM_BYTES = 65_536

/**
 * The format of the lines that a run writes, for the next run.
 *
 * @param name of the input, for messages
 * @throws UsageError when another address of these lines cannot be located
 */
export function nextFormat(plan: Plan, name: string): Format {
  const next = asUsage(() => definitionOf(plan.format).nextFormat?.(plan))
  if (next !== undefined) return next
  const formats = FORMATS.filter((format) => definitionOf(format).nextFormat !== undefined)
  throw new UsageError(`Several fields are for ${formats.join(', ')}, and ${name} is ${plan.format}.`)
}

/** What all runs after the first one have in common. */
export interface NextRunSettings {
  /** Of the lines, for messages. */
  readonly name: string
  /** Whether the lines can pause. */
  readonly isLive: boolean
  /** Those of the first run. */
  readonly options: EnrichOptions
  /** The format of the lines that the first run writes. Called when its first line arrives. */
  readonly format: () => Format | undefined
  /** Whether the output makes columns of locations. */
  readonly isTable: () => boolean
  readonly set: RunSettings['set']
  /** Makes the executor of a run. */
  readonly executor: () => RunSettings['executor']
  /** Tells the user what was guessed. */
  readonly note: (text: string) => void
}

/**
 * Makes a run for each of the other addresses of a line. Each writes to the next one, and the last one to `target`.
 *
 * @returns the runs in the order of the addresses; the lines of the first run go to the first one
 */
export function nextRuns(
  target: Output,
  addresses: readonly AddressOption[],
  settings: NextRunSettings,
): NextRun[] {
  const { name, isLive, options, format, isTable, set, executor, note } = settings
  // A line became longer by the locations before.
  const maxLineBytes = Math.min(
    (options.maxLineBytes ?? DEFAULT_LINE_BYTES) + LOCATION_ROOM_BYTES,
    MAX_LINE_BYTES,
  )
  const runs: NextRun[] = []
  for (const { field, into = '' } of [...addresses].reverse()) {
    const isLast = runs.length === 0
    const plan: RunSettings['plan'] = (sample, isWhole, isCut) => {
      const masks = isLast ? {} : UNMASKED
      const fields = isTable() ? undefined : options.fields
      const own = { field, into, format: format(), to: undefined, fields, details: false, maxLineBytes }
      const { plan, notes } = asUsage(() =>
        makePlan(sample, isWhole, { ...options, ...own, ...masks }, isCut),
      )
      for (const each of notes) note(`${name}: ${each}`)
      return plan
    }
    runs.unshift(
      new NextRun(runs[0] ?? target, name, into, isLive, { plan, maxLineBytes, set, executor: executor() }),
    )
  }
  return runs
}

/** Bytes on their way to the run; `null` is the end. */
interface Handover {
  readonly bytes: Uint8Array | null
  /** The run has read them, and their memory can be reused. */
  readonly taken: () => void
}

/** Locates one more address in the lines that a run writes: an output whose lines are the input of a run of its own. */
export class NextRun implements Output {
  readonly run: Run
  /** The name of what it adds. */
  readonly into: string
  readonly #target: Output
  #offered: Handover | null = null
  #reading: Handover | null = null
  /** Wakes the run, which waits for bytes. */
  #wake: (() => void) | null = null
  /** Resolves when the run has written its last line. `null` before the first line. */
  #completed: Promise<void> | null = null
  #isEnded = false

  /**
   * @param name of the lines, for messages
   * @param into the name of what it adds
   * @param isLive whether the lines can pause
   */
  constructor(
    target: Output,
    name: string,
    into: string,
    isLive: boolean,
    settings: Omit<RunSettings, 'inputs'>,
  ) {
    this.into = into
    this.#target = target
    const input: RunInput = { name, isLive, read: () => this.#read() }
    this.run = new Run({ ...settings, inputs: [input] })
  }

  /** @throws CommandFailure, ClosedPipe and what else the run fails with */
  async write(bytes: Uint8Array): Promise<void> {
    if (bytes.length > 0) await this.#offer(bytes)
  }

  async flush(): Promise<void> {
    if (this.#completed !== null && !this.#isEnded) {
      this.#isEnded = true
      await this.#offer(null)
      await this.#completed
    }
    await this.#target.flush()
  }

  async finish(): Promise<void> {
    await this.flush()
    await this.#target.finish()
  }

  discard(): void {
    this.run.stop()
    this.#target.discard()
  }

  async #offer(bytes: Uint8Array | null): Promise<void> {
    this.#completed ??= this.#complete()
    const taken = new Promise<void>((resolve) => {
      this.#offered = { bytes, taken: resolve }
    })
    this.#wake?.()
    // A run that has failed reads no more.
    await Promise.race([taken, this.#completed])
  }

  #complete(): Promise<void> {
    const completed = this.run.complete(this.#target).catch((error) => {
      throw inWords(error, this.run.input?.name ?? '')
    })
    // The next write or flush throws the error.
    completed.catch(() => {})
    return completed
  }

  async #read(): Promise<Uint8Array | null> {
    this.#reading?.taken()
    this.#reading = null
    while (this.#offered === null) {
      await new Promise<void>((resolve) => {
        this.#wake = resolve
      })
    }
    this.#reading = this.#offered
    this.#offered = null
    if (this.#reading.bytes === null) this.#reading.taken()
    return this.#reading.bytes
  }
}
