// A run of a command that reads lines, `geofix enrich` or `geofix count`: its inputs, output, threads, databases and progress.

import type { Plan } from '../../enrich/formats/formats.ts'
import { commonPlan } from '../../enrich/options.ts'
import type { Sample } from '../../enrich/reading/sample.ts'
import { type LineRun, Run, type RunInput, type RunSettings } from '../../enrich/run.ts'
import { AutonomousSystems, areSystemsOpen } from '../../location/autonomous-systems.ts'
import { shareDatabases } from '../../location/shared-databases.ts'
import type { DatabaseInfo } from '../../location/vendors.ts'
import { openDatabases } from '../databases.ts'
import { bytesText, countOf } from '../figures.ts'
import { databaseFiles } from '../options.ts'
import type { Terminal } from '../terminal.ts'
import { collectGarbage } from '../v8-flags.ts'
import { asUsage, checkFit, type EnrichCommand, loadFormats, withInputName } from './command-line.ts'
import { Input } from './input.ts'
import type { Output } from './output.ts'
import { Session } from './session.ts'
import type { Position } from './statistics.ts'
import { ThreadedExecutor, workersFor } from './threaded-executor.ts'
import type { WorkerPool } from './worker-pool.ts'

/** The settings of a command for the lines that it reads. */
type LinesCommand = Pick<
  EnrichCommand,
  'inputs' | 'output' | 'options' | 'databases' | 'asn' | 'keys' | 'threads' | 'isQuiet'
>

/** Where a run writes its lines. */
export type LinesOutput = Omit<Output, 'discard'>

/** A run that has read all its lines. */
export interface FinishedRun {
  readonly run: LineRun
  readonly databases: readonly DatabaseInfo[]
  /** The owners of networks; `null` without a database of them, or if no report is made. */
  readonly systems: AutonomousSystems | null
  readonly threads: number
  /** Time since the start. */
  readonly seconds: number
  /** The output of the command. */
  readonly target: Output
}

export abstract class LineSession<Command extends LinesCommand> extends Session {
  protected readonly inputs: Input[] = []
  readonly #startTime = performance.now()
  /** The threads. They are started early, so that they start up while the databases are read. */
  #workers: WorkerPool | null = null
  #executor: ThreadedExecutor | null = null
  #run: LineRun | null = null

  constructor(
    protected readonly command: Command,
    terminal: Terminal,
  ) {
    super(terminal, command.isQuiet)
  }

  /** Opens where lines are written. @param target the output of the command */
  protected abstract open(target: Output): Promise<LinesOutput>

  /** Plans an input, and notes what was guessed. @throws UsageError when an option does not fit it */
  protected abstract plan(sample: Sample, input: RunInput): Plan

  /** Writes what follows the lines, before their output gets its name. */
  protected abstract tell(finished: FinishedRun): Promise<void>

  protected get threads(): number {
    return this.command.threads
  }

  protected makeRun(settings: RunSettings): LineRun {
    return new Run(settings)
  }

  /** Whether lines are written to standard output. */
  protected abstract readonly showsLines: boolean

  /** Whether {@link tell} takes much memory, so that the databases should be gone by then. */
  protected get makesReport(): boolean {
    return false
  }

  protected override async complete(): Promise<void> {
    const { inputs, output, options } = this.command
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
      this.note('reading lines from this terminal: type them, then press Ctrl-D')
    }
    // Opening an output can take long: a named pipe waits for its reader.
    if (this.signal.aborted) return
    const read = await this.#read(lines)
    if (read === null) return
    if (this.makesReport) collectGarbage()
    const seconds = (performance.now() - this.#startTime) / 1000
    await this.tell({ ...read, seconds, target })
    // Files take their names last, because a run that fails leaves none.
    await lines.finish()
  }

  /** Reads and writes the lines. Nothing holds the databases of locations afterwards. @returns `null` if the run was aborted */
  async #read(lines: LinesOutput): Promise<Omit<FinishedRun, 'seconds' | 'target'> | null> {
    const { signal } = this
    const { databases, asn } = this.command
    this.#workers = await workersFor(this.threads, signal)
    const opened = await openDatabases(databases, asn, { isWhole: true, signal })
    // A set that is shared has the decoded blocks of all threads.
    const { set, shared } = this.#workers === null ? { set: opened, shared: null } : shareDatabases(opened)
    const executor = new ThreadedExecutor(shared, this.#workers)
    this.#executor = executor
    const run = this.makeRun({
      inputs: this.inputs,
      plan: (sample, input) => this.plan(sample, input),
      maxLineBytes: this.command.options.maxLineBytes,
      set,
      executor,
      loadFormats,
    })
    this.#run = run
    if (signal.aborted) return null
    this.showProgress(this.position, this.showsLines)
    await run.read(lines).catch((error) => {
      throw withInputName(error, run.input?.name ?? '')
    })
    await lines.flush()
    executor.stop()
    this.#executor = this.#workers = null
    this.endProgress()
    const systems = this.makesReport && areSystemsOpen(set.systems) ? withoutOthers(set.systems) : null
    return { run, databases: set.info, systems, threads: executor.threads }
  }

  protected override giveUp(): void {
    super.giveUp()
    for (const input of this.inputs) input.close()
    this.#workers?.stop()
    this.#executor?.stop()
  }

  protected override get positionText(): string {
    if (this.#run === null) return 'before the first line'
    const { bytes, size, lines } = this.position()
    const read = size === null ? `${bytesText(bytes)} read` : `${bytesText(bytes)} of ${bytesText(size)} read`
    return `after ${countOf(lines, 'line', 'lines')}, ${read}`
  }

  protected override openOutput(path: string | undefined): Promise<Output> {
    return super.openOutput(path, {
      inputs: this.inputs,
      reads: [...databaseFiles(this.command), ...this.command.keys],
    })
  }

  /**
   * Bytes read, before decompression, and lines enriched. Reading is ahead of enriching. A member, because a function made in `#read`
   * would hold the databases.
   */
  protected readonly position = (): Position => {
    let bytes = 0
    let size: number | null = 0
    for (const input of this.inputs) {
      bytes += input.bytesRead
      size = size === null || input.size === null ? null : size + input.size
    }
    return { bytes, size, lines: this.#run?.counts.lines ?? 0 }
  }
}

/** The systems without the databases that have none, which they would hold in memory. */
function withoutOthers({ tables }: AutonomousSystems): AutonomousSystems {
  return new AutonomousSystems(
    tables.map(({ database }) => database),
    [],
  )
}
