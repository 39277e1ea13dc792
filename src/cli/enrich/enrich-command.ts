import { basename } from 'node:path'
import { version } from '../../../package.json'
import type { DelimitedPlan } from '../../enrich/formats/delimited/plan.ts'
import { type EnrichOptions, makePlan, type Plan, withCells } from '../../enrich/formats/formats.ts'
import { checkedFields, columnNames, commonPlan, INTO, UNMASKED } from '../../enrich/options.ts'
import { type ReportFields, type ReportTallies, reportFields, withReport } from '../../enrich/report-plan.ts'
import { Run } from '../../enrich/run.ts'
import type { DatabaseSet } from '../../location/database-set.ts'
import { BORROW, withDatabases } from '../../resolver.ts'
import { checkLocations } from '../databases.ts'
import { bytesText, countOf } from '../figures.ts'
import { type ExitStatus, type Terminal, writeNote } from '../terminal.ts'
import { asUsage, inWords } from './command-errors.ts'
import { checkFit, type EnrichCommand } from './command-line.ts'
import { Input, sizeOfInputs } from './input.ts'
import { locatedStarts, type Start } from './located-sample.ts'
import { Notes } from './notes.ts'
import { ClosedPipe, type Output } from './output.ts'
import { openOutputFile, openStandardOutput } from './output-file.ts'
import type { ParquetRun } from './parquet/parquet-output.ts'
import type { ArrayOutput } from './rows/array-output.ts'
import type { TableOutput } from './rows/table-output.ts'
import { runSession, type Session } from './session.ts'
import { type Position, Progress, type RunFacts, statisticsJson, statisticsText } from './statistics.ts'
import { SummaryOutputs } from './summary-outputs.ts'
import { openForThreads } from './thread-databases.ts'
import { ThreadedExecutor, workersFor } from './threaded-executor.ts'
import type { WorkerPool } from './worker-pool.ts'

/**
 * Writes the lines of the inputs, each with its location.
 *
 * @throws UsageError when an option is wrong
 * @throws InvalidLocaleError when the locale is not a BCP 47 tag
 * @throws CommandFailure when an input or its lines cannot be used, an output cannot be written, a database has no
 *   locations, or a thread fails
 * @throws InvalidDatabaseError when a database cannot be read or is damaged
 */
export function runEnrich(command: EnrichCommand, terminal: Terminal): Promise<ExitStatus> {
  return runSession(new EnrichSession(command, terminal), terminal)
}

class EnrichSession implements Session {
  readonly #command: EnrichCommand
  readonly #terminal: Terminal
  readonly #startedAt = new Date()
  readonly #startTime = performance.now()
  readonly #inputs: Input[] = []
  readonly #outputs: Output[] = []
  /** Started early, so that the threads start up while the databases are read. */
  #workers: WorkerPool | null = null
  #progress: Progress | null = null
  #run: Run | null = null
  #parquetRun: ParquetRun | null = null
  #tableOutput: TableOutput | null = null
  #arrayOutput: ArrayOutput | null = null
  #set: DatabaseSet | null = null
  /** Where the figures of the report are in the tallies of the run. */
  #tallies: ReportTallies | null = null
  /** Those of the first input. */
  #reportFields: ReportFields | null = null
  /** The names of Parquet files that are read as tables. */
  readonly #tables = new Set<string>()
  readonly #notes: Notes
  /** Aborted by `giveUp`. */
  readonly #end = new AbortController()

  constructor(command: EnrichCommand, terminal: Terminal) {
    this.#command = command
    this.#terminal = terminal
    this.#notes = new Notes(terminal, command.isQuiet, () => this.#progress?.clear())
  }

  async complete(): Promise<void> {
    const { inputs, output, summaries, databases, asn, options, threads, isParquet } = this.#command
    // Check everything about the command before reading anything.
    asUsage(() => commonPlan(options))
    const { signal } = this.#end
    for (const path of inputs) {
      const input = await Input.find(path, this.#terminal)
      if (options.format !== undefined) checkFit(options, options.format, input.name)
      this.#inputs.push(input)
    }
    const note = this.#notes.add
    const surroundings = { terminal: this.#terminal, inputs: this.#inputs, note, signal }
    const target = this.#keep(
      await (output === undefined ? openStandardOutput(surroundings) : openOutputFile(output, surroundings)),
    )
    await this.#readTables()
    const lines = isParquet ? await this.#parquet(target) : await this.#table(target)
    const reports = await SummaryOutputs.open(summaries, async (path) =>
      this.#keep(await openOutputFile(path, surroundings)),
    )
    if (inputs.includes('-') && this.#terminal.stdin.isTTY) {
      this.#notes.add('reading lines from this terminal: type them, then press Ctrl-D')
    }
    // Opening an output can take long: a named pipe waits for its reader.
    if (signal.aborted) return
    this.#workers = await workersFor(threads, signal)
    const resolver = await openForThreads(databases, asn, signal)
    withDatabases(resolver, checkLocations)
    const executor = new ThreadedExecutor(() => resolver.share(), this.#workers)
    // After sharing, so that this thread shares the decoded blocks.
    const set = resolver[BORROW]()
    this.#set = set
    this.#end.signal.addEventListener('abort', () => executor.stop())
    const run = new Run({
      inputs: this.#inputs,
      plan: (sample, isWhole, isCut, { name, writtenAt }) =>
        this.#plan(sample, isWhole, isCut, name, writtenAt),
      maxLineBytes: options.maxLineBytes,
      set,
      executor,
    })
    this.#run = run
    if (signal.aborted) return
    if (this.#showsProgress())
      this.#progress = new Progress(this.#terminal.stderr, () => positionOf(run, this.#inputs))
    await run.complete(lines).catch((error) => {
      throw inWords(error, run.input?.name ?? '')
    })
    await lines.flush()
    executor.stop()
    this.#progress?.stop()
    if (!reports.isEmpty) await this.#writeReports(run, executor.threads, set, reports).catch(unlessClosed)
    await this.#tell(run, executor.threads)
    // Files take their names last, because a run that fails leaves none.
    await reports.finish().catch(unlessClosed)
    await lines.finish()
  }

  /** Removes unfinished files and stops everything. Synchronous; never throws. */
  giveUp(): void {
    this.#end.abort()
    for (const output of this.#outputs) output.discard()
    for (const input of this.#inputs) input.close()
    this.#workers?.stop()
    this.#progress?.stop()
  }

  /** The progress of the run, for the message about an interruption. */
  get positionText(): string {
    if (this.#run === null) return 'before the first line'
    const { bytes, size, lines } = positionOf(this.#run, this.#inputs)
    const read = size === null ? `${bytesText(bytes)} read` : `${bytesText(bytes)} of ${bytesText(size)} read`
    return `after ${countOf(lines, 'line', 'lines')}, ${read}`
  }

  get #seconds(): number {
    return (performance.now() - this.#startTime) / 1000
  }

  #keep(output: Output): Output {
    this.#outputs.push(output)
    if (this.#end.signal.aborted) output.discard()
    return output
  }

  /** The output of a run that writes Parquet. Its code is loaded only then. */
  async #parquet(target: Output): Promise<Output> {
    const { parquetRun } = await import('./parquet/parquet-output.ts')
    this.#parquetRun = await parquetRun(target, this.#inputs, this.#command.options, (text) =>
      this.#notes.add(text),
    )
    return this.#keep(this.#parquetRun.output)
  }

  /** The output of a run that writes a table or an array, if it does. Its code is loaded only then. */
  async #table(target: Output): Promise<Output> {
    const { table: form, isArray, hasMark, options, others } = this.#command
    if (isArray) {
      const { ArrayOutput } = await import('./rows/array-output.ts')
      this.#arrayOutput = new ArrayOutput(target, options.into ?? INTO)
      return this.#keep(this.#arrayOutput)
    }
    if (form === undefined) return target
    const { TableOutput } = await import('./rows/table-output.ts')
    const fields = asUsage(() => checkedFields(options))
    const added = [options, ...others].map(({ into }) => {
      const names = asUsage(() => columnNames(fields, { into }))
      return {
        into: into ?? INTO,
        asn: commonPlan({ into, asn: options.asn }).asn ?? null,
        fields: new Map(fields.map((field, index) => [names[index] ?? '', field])),
      }
    })
    const isLive = this.#inputs.some((input) => input.isLive)
    const note = this.#notes.add
    this.#tableOutput = new TableOutput(target, { form, added, isLive, hasMark, note })
    return this.#keep(this.#tableOutput)
  }

  /** Reads Parquet as tables where a table is written. */
  async #readTables(): Promise<void> {
    if (this.#command.table !== 'csv') return
    for (const input of this.#inputs) {
      if (!(await input.isParquet())) continue
      input.readRows = (file) => file.csv()
      this.#tables.add(input.name)
    }
  }

  /** Plans an input, and prints what was guessed. @throws UsageError when an option does not fit it */
  #plan(sample: Uint8Array, isWhole: boolean, isCut: boolean, name: string, writtenAt?: number): Plan {
    const { to, table, isArray, leavesOut, others } = this.#command
    const given = this.#parquetRun?.options ?? this.#command.options
    const options = this.#tables.has(name) ? { ...given, format: 'csv' as const } : given
    // The other addresses must be there for the plans after this one.
    const masks = others.length > 0 ? UNMASKED : {}
    const planned = (more: Partial<EnrichOptions> = {}) =>
      asUsage(() => makePlan(sample, isWhole, { ...options, ...masks, to, writtenAt, ...more }, isCut))
    // The output makes columns of whole locations, unless the lines are such a table already, which is kept then.
    const first = table === undefined ? planned() : planned({ fields: undefined })
    const kept = () => planned({ fields: this.#command.options.fields, to: undefined })
    const isDocument = isArray && !leavesOut && first.plan.format === 'json' && this.#inputs.length === 1
    const { plan, notes } = first.plan.format === table || isDocument ? kept() : first
    checkFit(options, plan.format, name)
    if (this.#tableOutput !== null) this.#tableOutput.keepsBytes = plan.format === table
    if (this.#arrayOutput !== null) this.#arrayOutput.keepsBytes = isDocument
    this.#parquetRun?.usePlan(tableOf(plan) === null ? null : tableOf(kept().plan))
    if (!this.#parquetRun?.isPlanned) for (const note of notes) this.#notes.addOnce(`${name}: ${note}`)
    // The output makes columns of whole locations here too.
    const fields = this.#tableOutput?.keepsBytes === false ? undefined : options.fields
    const next = this.#nextPlans({ plan, notes, sample, isWhole, isCut }, { ...options, fields }, name)
    const whole = { ...plan, ...next }
    const output = this.#tableOutput
    const written =
      output === null || output.keepsBytes
        ? whole
        : withCells(whole, checkedFields(this.#command.options), output.separator)
    if (this.#command.summaries.length === 0) return written
    this.#reportFields ??= reportFields(plan)
    const reported = withReport(written, this.#command.namesAddresses, this.#reportFields)
    this.#tallies ??= reported.tallies
    return reported.plan
  }

  /** The plans for the other addresses of each line. */
  #nextPlans(first: Start, options: EnrichOptions, name: string): Pick<Plan, 'next'> {
    const { others } = this.#command
    if (others.length === 0 || this.#set === null) return {}
    const [, ...starts] = locatedStarts(first, others, options, name, this.#set)
    for (const { notes } of starts) for (const note of notes) this.#notes.addOnce(`${name}: ${note}`)
    return starts.reduceRight<Pick<Plan, 'next'>>(
      (after, { plan }) => ({ next: Object.assign(plan, after) }),
      {},
    )
  }

  #showsProgress(): boolean {
    const { stdout, stderr } = this.#terminal
    // Progress would mix with lines on the same terminal.
    const isMixed = this.#command.output === undefined && stdout.isTTY === true
    return stderr.isTTY === true && !this.#command.isQuiet && !isMixed
  }

  async #tell(run: Run, threads: number): Promise<void> {
    const { statistics } = this.#command
    if (statistics === 'none') return
    const facts: RunFacts = {
      inputs: this.#inputs.map(({ name }) => name),
      format: run.format,
      hasInstant: this.#command.options.at !== undefined,
      badLines: run.badLines,
      doubtfulLines: run.doubtfulLines,
      bytesRead: positionOf(run, this.#inputs).bytes,
      bytesWritten: run.bytesWritten,
      others: run.others.map((counts, index) => ({ into: this.#command.others[index]?.into ?? '', counts })),
      threads,
      seconds: this.#seconds,
    }
    const text = statistics === 'json' ? statisticsJson(run.counts, facts) : statisticsText(run.counts, facts)
    await writeNote(this.#terminal.stderr, text)
  }

  async #writeReports(run: Run, threads: number, set: DatabaseSet, reports: SummaryOutputs): Promise<void> {
    const { inputs, title, options, namesAddresses } = this.#command
    const { activityOf } = await import('../report/activity.ts')
    const systems = set.systems.isAvailable ? set.systems : null
    await reports.write(run.counts, {
      title,
      // Folders say where a file is on this machine, which a reader of the report need not know.
      sources: inputs.map((input) => (input === '-' ? input : basename(input))),
      locale: options.locale,
      activity:
        this.#tallies === null
          ? undefined
          : activityOf(run.groups, this.#tallies, { showsAddresses: namesAddresses, systems }),
      badLines: run.counts.badLineGroups,
      startedAt: this.#startedAt,
      seconds: this.#seconds,
      bytes: run.bytesRead,
      threads,
      version,
      databases: set.info,
    })
  }
}

function tableOf(plan: Plan): DelimitedPlan | null {
  return plan.format === 'csv' || plan.format === 'tsv' ? plan : null
}

/** For the report: if its reader stops early, the lines are still complete. @throws any other error */
function unlessClosed(error: unknown): void {
  if (!(error instanceof ClosedPipe)) throw error
}

/** Bytes read, before decompression, and lines enriched. Reading is ahead of enriching. */
export function positionOf({ counts }: Run, inputs: readonly Input[]): Position {
  const bytes = inputs.reduce((sum, { bytesRead }) => sum + bytesRead, 0)
  return { bytes, size: sizeOfInputs(inputs), lines: counts.lines }
}
