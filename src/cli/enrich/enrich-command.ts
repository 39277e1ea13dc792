import { basename } from 'node:path'
import { version } from '../../../package.json'
import { reportFields, withReport } from '../../enrich/count.ts'
import { countriesOf } from '../../enrich/counting/totals.ts'
import type { TablePlan } from '../../enrich/formats/delimited/table-reader.ts'
import type { KnownTable } from '../../enrich/formats/format-definition.ts'
import { type Plan, UNWRITTEN, withCells } from '../../enrich/formats/formats.ts'
import { checkedFields, INTO, type RequestFields } from '../../enrich/options.ts'
import type { Sample } from '../../enrich/reading/sample.ts'
import type { LineRun, RunInput, RunSettings } from '../../enrich/run.ts'
import type { ReportDetails } from '../report/report.ts'
import { type ExitStatus, type Terminal, writeNote } from '../terminal.ts'
import { checkFit, type EnrichCommand, enrichCommand, planStart } from './command-line.ts'
import type { EnrichFlags, SummaryTarget } from './flags.ts'
import { type FinishedRun, LineSession } from './line-session.ts'
import { ClosedPipe, type Output } from './output.ts'
import type { ParquetRun } from './parquet/parquet-output.ts'
import type { RowOutput } from './rows/row-output.ts'
import { type RunFacts, statisticsJson, statisticsText } from './statistics.ts'

/**
 * Writes the lines of the inputs, each with its location, or explains how it would.
 *
 * @throws UsageError when an option is wrong
 * @throws InvalidLocaleError when the locale is not a BCP 47 tag
 * @throws CommandFailure when an input or its lines cannot be used, an output cannot be written, a database has no
 *   locations, or a thread fails
 * @throws InvalidDatabaseError when a database cannot be read or is damaged
 */
export async function runEnrich(
  files: readonly string[],
  flags: EnrichFlags,
  terminal: Terminal,
): Promise<ExitStatus> {
  const command = enrichCommand(files, flags)
  if (!command.isExplained) return new EnrichSession(command, terminal).run()
  return (await import('./explain-command.ts')).runExplain(command, terminal)
}

class EnrichSession extends LineSession<EnrichCommand> {
  readonly #startedAt = new Date()
  /** The reports. They are opened before the first line is read, so that nothing is counted in vain. */
  readonly #reports: { readonly form: SummaryTarget['form']; readonly output: Output }[] = []
  #parquetRun: ParquetRun | null = null
  /** Makes rows of the lines that the run writes; `null` if lines are written. */
  #rows: RowOutput | null = null
  /** The fields of the first input that the report counts. */
  #reportFields: RequestFields | null = null
  /** The columns of the Parquet files that become tables, by the names of the files. */
  readonly #columns = new Map<string, readonly string[]>()

  protected override async open(target: Output): Promise<Output> {
    // Reads Parquet as tables where a table is written.
    const { table } = this.command
    for (const input of table === undefined ? [] : this.inputs) {
      input.readRows = (file, plan) => {
        this.#columns.set(input.name, file.columns)
        if (plan === null) return file.sample()
        return plan.format === table ? file.table(table) : file.lines()
      }
    }
    this.#rows = await this.#rowOutput(target)
    const lines = this.#parquetRun?.output ?? this.#rows
    for (const { form, path } of this.command.summaries)
      this.#reports.push({ form, output: await this.openOutput(path) })
    return lines === null ? target : this.keep<Output>(lines)
  }

  protected override async tell(finished: FinishedRun): Promise<void> {
    if (this.#reports.length > 0) await this.#writeReports(finished).catch(unlessClosed)
    await this.#writeStatistics(finished)
    for (const { output } of this.#reports) await output.finish().catch(unlessClosed)
  }

  protected override get showsLines(): boolean {
    return this.command.output === undefined
  }

  protected override get makesReport(): boolean {
    return this.#reports.length > 0
  }

  /** Columns are read, located and written in one thread. */
  protected override get threads(): number {
    return this.#parquetRun?.makeRun === undefined ? super.threads : 1
  }

  protected override makeRun(settings: RunSettings): LineRun {
    return this.#parquetRun?.makeRun?.(settings, this.signal) ?? super.makeRun(settings)
  }

  /** The output of a run whose lines become Parquet, a table or an array, if they do. Its code is loaded only then. */
  async #rowOutput(target: Output): Promise<RowOutput | null> {
    const { table: form, isArray, isParquet, hasMark, options, others } = this.command
    const note = this.noteOnce
    if (isParquet) {
      const { parquetRun } = await import('./parquet/parquet-output.ts')
      this.#parquetRun = await parquetRun(target, this.inputs, this.command, note)
      return this.#parquetRun.rows
    }
    if (isArray) {
      const { ArrayOutput } = await import('./rows/row-output.ts')
      return new ArrayOutput(target, options.into ?? INTO)
    }
    if (form === undefined) return null
    const { addedColumns } = await import('./rows/row-output.ts')
    const { TableOutput } = await import('./rows/table-output.ts')
    const added = addedColumns(options, others)
    const isLive = this.inputs.some((input) => input.isLive)
    return new TableOutput(target, { form, added, isLive, hasMark, note })
  }

  protected override plan(sample: Sample, { name, writtenAt }: RunInput): Plan {
    const { table, isParquet, summaries, namesAddresses } = this.command
    const [rows, run] = [this.#rows, this.#parquetRun]
    const read: Pick<ParquetRun, 'options' | 'others'> | null = this.#tableRead(sample, name) ?? run
    const { options, others } = read ?? this.command
    // The output makes columns of whole locations. If the lines are such a table already, the run adds the columns itself.
    const whole = table !== undefined || isParquet ? { fields: undefined } : {}
    const planned = planStart(sample, { ...this.command, others }, { ...options, writtenAt }, whole)
    const { plan, notes, isKept } = planned
    checkFit(this.command.options, read?.options.table === undefined ? plan.format : 'ndjson', name)
    if (rows !== null) rows.keepsBytes = isKept
    rows?.usePlan(isParquet && tableOf(plan) !== null ? tableOf(planned.kept().plan) : null)
    for (const note of notes) this.noteOnce(`${name}: ${note}`)
    const cells = run?.output.cells ?? rows?.cells ?? null
    const cut = { ...plan, ...(this.command.isArray && !isKept && { cutsLines: true }) }
    const written = cells === null ? cut : withCells(cut, checkedFields(this.command.options), cells)
    // Columns of a million random addresses in Parquet take 0.93 of the time if nothing is counted.
    if (summaries.length === 0)
      return this.command.statistics === 'none' ? { ...written, tallies: null } : written
    this.#reportFields ??= run?.makeRun === undefined ? reportFields(plan) : {}
    return withReport(written, namesAddresses, this.#reportFields)
  }

  /** How a Parquet file is read that becomes a table; `null` for other files, or if parts of its columns are needed. */
  #tableRead(sample: Sample, name: string): Pick<ParquetRun, 'options' | 'others'> | null {
    const { command } = this
    const { options, others, table } = command
    const names = this.#columns.get(name)
    if (names === undefined || options.format === 'text') return null
    const { plan, notes } = planStart(sample, command, {
      ...options,
      ...UNWRITTEN,
      fields: undefined,
      asn: false,
      format: 'ndjson',
    })
    const [first, ...tables] = [plan, ...(plan.others ?? [])].map((each) => tableIn(each, names, sample))
    if (first === undefined || tables.includes(undefined)) return null
    for (const note of notes) this.noteOnce(`${name}: ${note}`)
    return {
      options: { ...options, format: table, table: first },
      others: others.map((other, index) => ({ ...other, table: tables[index] })),
    }
  }

  async #writeStatistics({ run, threads, seconds }: FinishedRun): Promise<void> {
    const { statistics } = this.command
    if (statistics === 'none') return
    const facts: RunFacts = {
      inputs: this.inputs.map(({ name }) => name),
      format: run.format,
      countries: countriesOf(run.groups[0]),
      otherCountries: run.groups[0]?.other ?? 0,
      hasInstant: this.command.options.at !== undefined,
      badLines: run.badLines,
      doubtfulLines: run.doubtfulLines,
      bytesRead: this.position().bytes,
      bytesWritten: (this.#parquetRun?.output ?? this.#rows ?? run).bytesWritten,
      others: (run.counts.others ?? []).map((counts, index) => ({
        into: this.command.others[index]?.into ?? '',
        counts,
      })),
      threads,
      seconds,
    }
    const text = statistics === 'json' ? statisticsJson(run.counts, facts) : statisticsText(run.counts, facts)
    await writeNote(this.terminal.stderr, text)
  }

  /** Writes the reports, and leaves them without their names. @throws CommandFailure, ClosedPipe */
  async #writeReports({ run, threads, seconds, databases, systems }: FinishedRun): Promise<void> {
    const { inputs, title, options, namesAddresses } = this.command
    // Lazy: the report's code and map are only loaded when asked for.
    const [
      { activityOf },
      { placesOf, reportTotals },
      { renderReport },
      { summaryGeoJson, summaryJson, summaryOf },
    ] = await Promise.all([
      import('../report/activity.ts'),
      import('../report/places.ts'),
      import('../report/report.ts'),
      import('../report/summary.ts'),
    ])
    const totals = reportTotals(run.groups)
    const counts = { ...run.counts, ...placesOf(totals) }
    const details: ReportDetails = {
      title,
      // Folders say where a file is on this machine, which a reader of the report need not know.
      sources: inputs.map((input) => (input === '-' ? input : basename(input))),
      locale: options.locale,
      activity: activityOf(totals, { showsAddresses: namesAddresses, systems }),
      startedAt: this.#startedAt,
      seconds,
      bytes: run.bytesRead,
      threads,
      version,
      databases,
    }
    const texts = {
      html: () => renderReport(counts, details),
      json: () => summaryJson(summaryOf(counts, details)),
      geojson: () => summaryGeoJson(summaryOf(counts, details)),
    }
    for (const { form, output } of this.#reports) {
      await output.write(Buffer.from(texts[form]()))
      await output.flush()
    }
  }
}

/** The table of rows with these columns; `undefined` if the address or the time is a part of a column. */
function tableIn(plan: Plan, names: readonly string[], { bytes }: Sample): KnownTable | undefined {
  if (plan.format !== 'ndjson' || plan.inside !== undefined) return undefined
  const { path, timePath, hasPort = false, requestFields = {} } = plan
  const indexOf = ([name = '', ...rest]: readonly string[]): number =>
    rest.length > 0 ? -1 : names.indexOf(name)
  // Without rows any column will do.
  const address = bytes.length === 0 ? 0 : indexOf(path)
  const time = timePath === null ? null : indexOf(timePath)
  return address === -1 || time === -1 ? undefined : { names, address, time, hasPort, requestFields }
}

function tableOf(plan: Plan): TablePlan | null {
  return plan.format === 'csv' || plan.format === 'tsv' ? plan : null
}

/** For the report: if its reader stops early, the lines are still complete. @throws any other error */
function unlessClosed(error: unknown): void {
  if (!(error instanceof ClosedPipe)) throw error
}
