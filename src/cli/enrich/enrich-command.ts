import packageJson from '../../../package.json'
import { DEFAULT_MAX_BYTES } from '../../bytes/byte-limit.ts'
import { embedded } from '../../embedded.ts'
import { commonPlan, type EnrichOptions } from '../../enrich/options.ts'
import { ExitStatus, messageLine, printable, type Terminal, UsageError, writeLine } from '../terminal.ts'
import { EnrichRun } from './enrich-run.ts'
import { Input, sizeOf } from './input.ts'
import { Interruption, SignalWatch } from './interruption.ts'
import { checkFit } from './option-fit.ts'
import { ClosedPipe, type Output } from './output.ts'
import { openOutputFile, openStandardOutput } from './output-file.ts'
import { AdaptiveEngine, type Threads, type WorkerPool, workersFor } from './pool.ts'
import { Progress } from './progress.ts'
import { loadShared } from './shared-database.ts'
import { statisticsJson, statisticsText } from './statistics.ts'

export interface EnrichCommand {
  /** Files; `-` is standard input. At least one. */
  readonly inputs: readonly string[]
  /** A file; `undefined` is standard output. */
  readonly output: string | undefined
  /** Files. If empty, the embedded database is used. */
  readonly databases: readonly string[]
  readonly options: EnrichOptions
  readonly threads: Threads
  /** The form of the statistics that are printed on standard error at the end. */
  readonly statistics: 'text' | 'json' | 'none'
  /** A file for the report, or `undefined`. */
  readonly report: string | undefined
  /** Prints no notes and no progress. */
  readonly isQuiet: boolean
}

/**
 * Writes the lines of the inputs, each with its location.
 *
 * @throws UsageError when an option is wrong
 * @throws InvalidLocaleError when the locale is not a BCP 47 tag
 * @throws CommandFailure when an input or its lines cannot be used, an output cannot be written, a database has no
 *   locations, or a thread fails
 * @throws InvalidDatabaseError when a database cannot be read or is damaged
 */
export async function runEnrich(command: EnrichCommand, terminal: Terminal): Promise<ExitStatus> {
  const session = new Session(command, terminal)
  const giveUp = (): void => session.giveUp()
  // Remove unfinished files also when other code ends the process.
  process.on('exit', giveUp)
  const signals = new SignalWatch(giveUp)
  try {
    await Promise.race([session.complete(), signals.signalled])
    return ExitStatus.ok
  } catch (error) {
    session.giveUp()
    if (error instanceof ClosedPipe) return ExitStatus.ok
    if (!(error instanceof Interruption)) throw error
    // Do not wait for the write: a stalled reader would keep the process alive.
    terminal.stderr.write(messageLine(`${error.message} ${session.whereabouts}`))
    return error.status
  } finally {
    signals.stop()
    process.off('exit', giveUp)
  }
}

/** One run of the command, with the files and threads that it opened. */
class Session {
  readonly #command: EnrichCommand
  readonly #terminal: Terminal
  readonly #startedAt = new Date()
  readonly #startTime = performance.now()
  readonly #inputs: Input[] = []
  readonly #outputs: Output[] = []
  /** Started early, so that the threads start up while the databases are read. */
  #workers: WorkerPool | null = null
  #engine: AdaptiveEngine | null = null
  #progress: Progress | null = null
  #run: EnrichRun | null = null
  /** Aborted by `giveUp`. */
  readonly #end = new AbortController()

  constructor(command: EnrichCommand, terminal: Terminal) {
    this.#command = command
    this.#terminal = terminal
  }

  async complete(): Promise<void> {
    const { inputs, output, report, databases, options, threads } = this.#command
    // Check everything about the command before reading anything.
    checkOptions(options)
    const { signal } = this.#end
    for (const path of inputs) {
      const input = await Input.find(path, this.#terminal)
      if (options.format !== undefined) checkFit(options, options.format, input.name)
      this.#inputs.push(input)
    }
    const surroundings = { terminal: this.#terminal, inputs: this.#inputs, signal }
    const lines = this.#keep(
      await (output === undefined ? openStandardOutput(surroundings) : openOutputFile(output, surroundings)),
    )
    const page = report === undefined ? null : this.#keep(await openOutputFile(report, surroundings))
    if (inputs.includes('-') && this.#terminal.stdin.isTTY) {
      this.#note('reading lines from this terminal: type them, then press Ctrl-D')
    }
    // Opening an output can take long: a named pipe waits for its reader.
    if (signal.aborted) return
    this.#workers = workersFor(sizeOf(this.#inputs), threads)
    const sources = databases.length > 0 ? databases : [embedded.city]
    const loaded = await Promise.all(sources.map((source) => loadShared(source, DEFAULT_MAX_BYTES, signal)))
    this.#engine = new AdaptiveEngine(loaded, threads, this.#workers)
    const run = new EnrichRun(this.#inputs, lines, this.#engine, options)
    this.#run = run
    if (signal.aborted) return
    run.onNote = (note) => this.#note(note)
    if (this.#showsProgress()) this.#progress = new Progress(this.#terminal.stderr, () => run.position)
    await run.complete()
    await lines.finish()
    this.#engine.stop()
    this.#progress?.stop()
    if (page !== null) await this.#writeReport(run, page)
    await this.#tell(run)
  }

  /** Removes unfinished files and stops everything. Synchronous; never throws. */
  giveUp(): void {
    this.#end.abort()
    for (const output of this.#outputs) output.discard()
    for (const input of this.#inputs) input.close()
    this.#workers?.stop()
    this.#engine?.stop()
    this.#progress?.stop()
  }

  /** The progress of the run, for the message about an interruption. */
  get whereabouts(): string {
    return this.#run === null ? 'before the first line' : this.#run.whereabouts
  }

  get #seconds(): number {
    return (performance.now() - this.#startTime) / 1000
  }

  #keep(output: Output): Output {
    this.#outputs.push(output)
    if (this.#end.signal.aborted) output.discard()
    return output
  }

  #showsProgress(): boolean {
    const { stdout, stderr } = this.#terminal
    // Progress would mix with lines on the same terminal.
    const isMixed = this.#command.output === undefined && stdout.isTTY === true
    return stderr.isTTY === true && !this.#command.isQuiet && !isMixed
  }

  #note(note: string): void {
    if (this.#command.isQuiet) return
    this.#progress?.clear()
    this.#terminal.stderr.write(`geofix: ${printable(note)}\n`)
  }

  async #tell(run: EnrichRun): Promise<void> {
    const { statistics } = this.#command
    if (statistics === 'none') return
    const facts = run.facts(this.#seconds)
    const text = statistics === 'json' ? statisticsJson(run.tally, facts) : statisticsText(run.tally, facts)
    await writeLine(this.#terminal.stderr, text)
  }

  async #writeReport(run: EnrichRun, page: Output): Promise<void> {
    // Lazy: the report's code and map are only loaded when asked for.
    const { renderReport } = await import('../report/report.ts')
    const html = renderReport(run.tally, {
      sources: this.#command.inputs,
      startedAt: this.#startedAt,
      seconds: this.#seconds,
      bytes: run.plainBytes,
      threads: this.#engine?.threads ?? 1,
      version: packageJson.version,
      databases: this.#engine?.databases ?? [],
    })
    await page.write(Buffer.from(html))
    await page.finish()
  }
}

/** @throws UsageError, InvalidLocaleError when an option that all formats have is invalid */
function checkOptions(options: EnrichOptions): void {
  try {
    commonPlan(options)
  } catch (error) {
    throw error instanceof TypeError ? new UsageError(error.message) : error
  }
}
