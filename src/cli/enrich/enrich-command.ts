import packageJson from '../../../package.json' with { type: 'json' }
import { DEFAULT_MAX_BYTES } from '../../bytes/byte-limit.ts'
import { embedded } from '../../embedded.ts'
import { commonPlan } from '../../enrich/common-plan.ts'
import type { EnrichOptions } from '../../enrich/options.ts'
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
  /** Files; empty: the embedded database. */
  readonly databases: readonly string[]
  readonly options: EnrichOptions
  readonly threads: Threads
  /** What is said at the end, on standard error. */
  readonly statistics: 'text' | 'json' | 'none'
  /** A file for the report, or `undefined`. */
  readonly report: string | undefined
  /** No notes and no progress. */
  readonly isQuiet: boolean
}

/**
 * Writes the lines of the inputs with a location beside each.
 *
 * @throws UsageError when an option is wrong
 * @throws CommandFailure when an input cannot be read or an output cannot be written
 * @throws EnrichError, InvalidDatabaseError when lines or databases are not what they must be
 */
export async function runEnrich(command: EnrichCommand, terminal: Terminal): Promise<ExitStatus> {
  const session = new Session(command, terminal)
  const giveUp = (): void => session.giveUp()
  // Whoever ends the process, as a closed pipe does, leaves nothing that was begun.
  process.on('exit', giveUp)
  const signals = new SignalWatch(giveUp)
  try {
    await Promise.race([session.complete(), signals.signalled])
    return ExitStatus.ok
  } catch (error) {
    session.giveUp()
    if (error instanceof ClosedPipe) return ExitStatus.ok
    if (!(error instanceof Interruption)) throw error
    // Not waited for: a reader that sleeps would keep the process.
    terminal.stderr.write(messageLine(`${error.message} ${session.whereabouts}`))
    return error.status
  } finally {
    signals.stop()
    process.off('exit', giveUp)
  }
}

/** One run of the command, with all that it has open. */
class Session {
  readonly #command: EnrichCommand
  readonly #terminal: Terminal
  readonly #startedAt = new Date()
  readonly #startTime = performance.now()
  readonly #inputs: Input[] = []
  readonly #outputs: Output[] = []
  /** Threads that come up while the databases are read. */
  #workers: WorkerPool | null = null
  #engine: AdaptiveEngine | null = null
  #progress: Progress | null = null
  #run: EnrichRun | null = null
  /** Aborted when the run is given up. */
  readonly #end = new AbortController()

  constructor(command: EnrichCommand, terminal: Terminal) {
    this.#command = command
    this.#terminal = terminal
  }

  async complete(): Promise<void> {
    const { inputs, output, report, databases, options, threads } = this.#command
    // All that can be wrong with the command is found before anything is read.
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
      this.#note('waiting for lines from this terminal: type them, and end with Ctrl-D')
    }
    // Outputs can take long to open: a named pipe waits for its reader.
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

  /** Removes what is not finished and stops everything. Never throws, and is done when it returns. */
  giveUp(): void {
    this.#end.abort()
    for (const output of this.#outputs) output.discard()
    for (const input of this.#inputs) input.close()
    this.#workers?.stop()
    this.#engine?.stop()
    this.#progress?.stop()
  }

  /** How far it came, in words. */
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
    // Lines that go to the same terminal are progress enough.
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
    // Only who asks for a report waits for its code and its map.
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

/** @throws UsageError when an option of all formats is wrong */
function checkOptions(options: EnrichOptions): void {
  try {
    commonPlan(options)
  } catch (error) {
    throw error instanceof TypeError ? new UsageError(error.message) : error
  }
}
