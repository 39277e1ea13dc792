// A run of a command that reads lines, `geofix enrich` or `geofix count`: its inputs, output, threads, databases and progress.

import type { Plan } from '../../enrich/formats/formats.ts'
import { commonPlan } from '../../enrich/options.ts'
import { Run, type RunInput } from '../../enrich/run.ts'
import type { DatabaseSet } from '../../location/database-set.ts'
import { type SharedDatabases, shareDatabases } from '../../location/shared-databases.ts'
import { openForThreads } from '../databases.ts'
import { bytesText, countOf } from '../figures.ts'
import { databaseFiles } from '../options.ts'
import type { Terminal } from '../terminal.ts'
import { asUsage, checkFit, type EnrichCommand, inWords } from './command-line.ts'
import { Input, sizeOfInputs } from './input.ts'
import type { InputStart } from './located-sample.ts'
import type { Output } from './output.ts'
import { openOutputFile, openStandardOutput } from './output-file.ts'
import { Notes, type Session } from './session.ts'
import { type Position, Progress } from './statistics.ts'
import { ThreadedExecutor, workersFor } from './threaded-executor.ts'
import type { WorkerPool } from './worker-pool.ts'

/** The settings of a command for the lines that it reads. */
type LinesCommand = Pick<
  EnrichCommand,
  'inputs' | 'output' | 'options' | 'databases' | 'asn' | 'threads' | 'isQuiet'
>

/** Where a run writes its lines. */
export type LinesOutput = Omit<Output, 'discard'>

/** A run that has read all its lines. */
export interface FinishedRun {
  readonly run: Run
  readonly set: DatabaseSet
  readonly threads: number
  /** Time since the start. */
  readonly seconds: number
  /** The output of the command. */
  readonly target: Output
}

export abstract class LineSession<Command extends LinesCommand> implements Session {
  protected readonly inputs: Input[] = []
  protected readonly notes: Notes
  readonly #startTime = performance.now()
  readonly #outputs: Output[] = []
  /** The threads. They are started early, so that they start up while the databases are read. */
  #workers: WorkerPool | null = null
  #progress: Progress | null = null
  #run: Run | null = null
  /** `giveUp` aborts it. */
  readonly #end = new AbortController()

  constructor(
    protected readonly command: Command,
    protected readonly terminal: Terminal,
  ) {
    this.notes = new Notes(terminal, command.isQuiet, () => this.#progress?.clear())
  }

  /** Opens where lines are written. @param target the output of the command */
  protected abstract open(target: Output): Promise<LinesOutput>

  /** Plans an input, and notes what was guessed. @throws UsageError when an option does not fit it */
  protected abstract plan(start: InputStart, input: RunInput, set: DatabaseSet): Plan

  /** Writes what follows the lines, before their output gets its name. */
  protected abstract tell(finished: FinishedRun): Promise<void>

  async complete(): Promise<void> {
    const { inputs, output, options, databases, asn, threads } = this.command
    const { signal } = this.#end
    // Check everything about the command before reading anything.
    asUsage(() => commonPlan(options))
    for (const path of inputs) {
      const input = await Input.find(path, this.terminal)
      if (options.format !== undefined) checkFit(options, options.format, input.name)
      this.inputs.push(input)
    }
    const target = await this.openOutput(output)
    const lines = await this.open(target)
    if (inputs.includes('-') && this.terminal.stdin.isTTY) {
      this.notes.add('reading lines from this terminal: type them, then press Ctrl-D')
    }
    // Opening an output can take long: a named pipe waits for its reader.
    if (signal.aborted) return
    this.#workers = await workersFor(threads, signal)
    let set = await openForThreads(databases, asn, signal)
    const share = (): SharedDatabases => {
      const copy = shareDatabases(set)
      // It shares the decoded blocks with the threads.
      set = copy.set
      return copy.shared
    }
    const executor = new ThreadedExecutor(share, this.#workers)
    signal.addEventListener('abort', () => executor.stop())
    const run = new Run({
      inputs: this.inputs,
      plan: (sample, isWhole, isCut, input) => this.plan({ sample, isWhole, isCut }, input, set),
      maxLineBytes: options.maxLineBytes,
      set,
      executor,
    })
    this.#run = run
    if (signal.aborted) return
    if (this.showsProgress) this.#progress = new Progress(this.terminal.stderr, () => this.positionOf(run))
    await run.complete(lines).catch((error) => {
      throw inWords(error, run.input?.name ?? '')
    })
    await lines.flush()
    executor.stop()
    this.#progress?.stop()
    const seconds = (performance.now() - this.#startTime) / 1000
    await this.tell({ run, set, threads: executor.threads, seconds, target })
    // Files take their names last, because a run that fails leaves none.
    await lines.finish()
  }

  giveUp(): void {
    this.#end.abort()
    for (const output of this.#outputs) output.discard()
    for (const input of this.inputs) input.close()
    this.#workers?.stop()
    this.#progress?.stop()
  }

  get positionText(): string {
    if (this.#run === null) return 'before the first line'
    const { bytes, size, lines } = this.positionOf(this.#run)
    const read = size === null ? `${bytesText(bytes)} read` : `${bytesText(bytes)} of ${bytesText(size)} read`
    return `after ${countOf(lines, 'line', 'lines')}, ${read}`
  }

  /** @param path `undefined` for standard output */
  protected async openOutput(path: string | undefined): Promise<Output> {
    const { terminal, inputs, notes, command } = this
    const databases = databaseFiles(command)
    const context = { terminal, inputs, databases, note: notes.add, signal: this.#end.signal }
    return this.keep(await (path === undefined ? openStandardOutput(context) : openOutputFile(path, context)))
  }

  /** Discards an output if the run gives up. */
  protected keep<Kept extends Output>(output: Kept): Kept {
    this.#outputs.push(output)
    if (this.#end.signal.aborted) output.discard()
    return output
  }

  protected get showsProgress(): boolean {
    return this.terminal.stderr.isTTY === true && !this.command.isQuiet
  }

  /** Bytes read, before decompression, and lines enriched. Reading is ahead of enriching. */
  protected positionOf({ counts }: Run): Position {
    const bytes = this.inputs.reduce((sum, { bytesRead }) => sum + bytesRead, 0)
    return { bytes, size: sizeOfInputs(this.inputs), lines: counts.lines }
  }
}
