import { countColumns, countNotes } from '../../enrich/counting/count-rows.ts'
import { failuresOf } from '../../enrich/counting/counts.ts'
import { GroupTotals } from '../../enrich/counting/totals.ts'
import { makeCountPlan, type Plan } from '../../enrich/formats/formats.ts'
import { commonPlan } from '../../enrich/options.ts'
import { Run } from '../../enrich/run.ts'
import { BORROW, withDatabases } from '../../resolver.ts'
import { checkLocations } from '../databases.ts'
import { asUsage, inWords } from '../enrich/command-errors.ts'
import { checkFit } from '../enrich/command-line.ts'
import { positionOf } from '../enrich/enrich-command.ts'
import { Input } from '../enrich/input.ts'
import { Notes } from '../enrich/notes.ts'
import type { Output } from '../enrich/output.ts'
import { openOutputFile, openStandardOutput } from '../enrich/output-file.ts'
import { runSession, type Session } from '../enrich/session.ts'
import { Progress } from '../enrich/statistics.ts'
import { openForThreads } from '../enrich/thread-databases.ts'
import { ThreadedExecutor, workersFor } from '../enrich/threaded-executor.ts'
import type { WorkerPool } from '../enrich/worker-pool.ts'
import { bytesText, countOf, countText, shareText } from '../figures.ts'
import type { ExitStatus, Terminal } from '../terminal.ts'
import type { CountCommand } from './flags.ts'
import { textOf } from './forms.ts'

/**
 * Counts the lines of the inputs, and writes the counts.
 *
 * @throws what `runEnrich` throws
 */
export function runCount(command: CountCommand, terminal: Terminal): Promise<ExitStatus> {
  return runSession(new CountSession(command, terminal), terminal)
}

class CountSession implements Session {
  readonly #command: CountCommand
  readonly #terminal: Terminal
  readonly #inputs: Input[] = []
  readonly #end = new AbortController()
  readonly #notes: Notes
  #output: Output | null = null
  #workers: WorkerPool | null = null
  #executor: ThreadedExecutor | null = null
  #progress: Progress | null = null
  #run: Run | null = null

  constructor(command: CountCommand, terminal: Terminal) {
    this.#command = command
    this.#terminal = terminal
    this.#notes = new Notes(terminal, command.isQuiet, () => this.#progress?.clear())
  }

  async complete(): Promise<void> {
    const {
      inputs,
      output: path,
      options,
      plan,
      databases,
      asnDatabases,
      threads,
      top,
      form,
      isPlain,
      hasMark,
    } = this.#command
    const terminal = this.#terminal
    const { signal } = this.#end
    asUsage(() => commonPlan(options))
    for (const each of inputs) this.#inputs.push(await Input.find(each, terminal))
    const context = { terminal, inputs: this.#inputs, note: this.#notes.add, signal }
    const output = await (path === undefined ? openStandardOutput(context) : openOutputFile(path, context))
    this.#output = output
    if (inputs.includes('-') && terminal.stdin.isTTY) {
      this.#notes.add('reading lines from this terminal: type them, then press Ctrl-D')
    }
    this.#workers = await workersFor(threads, signal)
    const resolver = await openForThreads(databases, asnDatabases, signal)
    withDatabases(resolver, checkLocations)
    const executor = new ThreadedExecutor(() => resolver.share(), this.#workers)
    this.#executor = executor
    const run = new Run({
      inputs: this.#inputs,
      plan: (sample, isWhole, isCut, input) =>
        this.#plan(sample, isWhole, isCut, input.name, input.writtenAt),
      maxLineBytes: options.maxLineBytes,
      set: resolver[BORROW](),
      executor,
    })
    this.#run = run
    if (signal.aborted) return
    if (terminal.stderr.isTTY && !this.#command.isQuiet)
      this.#progress = new Progress(terminal.stderr, () => positionOf(run, this.#inputs))
    await run.complete({ write: async () => {} }).catch((error) => {
      throw inWords(error, run.input?.name ?? '')
    })
    executor.stop()
    this.#progress?.stop()
    const totals = run.groups[0] ?? new GroupTotals(plan)
    const table = countColumns(totals, top)
    const isShown = path === undefined && terminal.stdout.isTTY === true
    if (form === 'parquet') {
      const { parquetOf } = await import('./parquet.ts')
      for (const part of parquetOf(table)) await output.write(part)
    } else {
      for (const part of textOf(table, form, { hasBars: isShown && !isPlain, hasMark, isShown }))
        await output.write(Buffer.from(part))
    }
    await output.flush()
    this.#tell(run, table.hidden)
    for (const note of countNotes(totals)) this.#notes.add(note)
    await output.finish()
  }

  giveUp(): void {
    this.#end.abort()
    this.#output?.discard()
    for (const input of this.#inputs) input.close()
    this.#executor?.stop()
    this.#workers?.stop()
    this.#progress?.stop()
  }

  get positionText(): string {
    if (this.#run === null) return 'before the first line'
    const { bytes, lines } = positionOf(this.#run, this.#inputs)
    return `after ${countOf(lines, 'line', 'lines')}, ${bytesText(bytes)} read`
  }

  #plan(sample: Uint8Array, isWhole: boolean, isCut: boolean, name: string, writtenAt?: number): Plan {
    const { options, plan: count } = this.#command
    const { plan, notes } = asUsage(() =>
      makeCountPlan(sample, isWhole, { ...options, writtenAt }, count, isCut),
    )
    checkFit(options, plan.format, name)
    for (const note of notes) this.#notes.addOnce(`${name}: ${note}`)
    return plan
  }

  /** Says what the rows leave out. */
  #tell({ counts, badLines }: Run, hidden: { readonly rows: number; readonly lines: number }): void {
    const { lines, bad, blank, excluded, resolved } = counts
    const failures = failuresOf(counts).sort(([, a], [, b]) => b - a)
    const parts = [
      `${countText(resolved)} with a location`,
      ...failures.map(([reason, count]) => `${countText(count)} ${reason}`),
      ...(excluded > 0 ? [`${countText(excluded)} in other countries`] : []),
      ...(blank > 0 ? [`${countText(blank)} blank`] : []),
      ...(bad > 0 ? [`${countText(bad)} unreadable`] : []),
    ]
    this.#notes.add(`${countOf(lines, 'line', 'lines')}: ${parts.join(', ')}`)
    for (const { input, line, message } of badLines)
      this.#notes.add(`${input}, line ${countText(line)}: ${message}`)
    if (hidden.rows > 0) {
      const share = shareText(hidden.lines, lines)
      this.#notes.add(`--top leaves out ${countOf(hidden.rows, 'row', 'rows')} with ${share} of the lines`)
    }
  }
}
