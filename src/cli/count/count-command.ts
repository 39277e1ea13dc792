import { type CountColumns, countColumns, countNotes } from '../../enrich/counting/count-rows.ts'
import { failuresOf } from '../../enrich/counting/counts.ts'
import { GroupTotals } from '../../enrich/counting/totals.ts'
import { makeCountPlan, type Plan } from '../../enrich/formats/formats.ts'
import type { Sample } from '../../enrich/reading/sample.ts'
import type { LineRun, RunInput } from '../../enrich/run.ts'
import { asUsage, checkFit } from '../enrich/command-line.ts'
import { type FinishedRun, LineSession, type LinesOutput } from '../enrich/line-session.ts'
import type { Output } from '../enrich/output.ts'
import { countOf, countText, shareText } from '../figures.ts'
import type { ExitStatus, Terminal } from '../terminal.ts'
import type { CountCommand } from './flags.ts'
import { parquetOf, textOf } from './forms.ts'

/**
 * Counts the lines of the inputs, and writes the counts.
 *
 * @throws what `runEnrich` throws
 */
export function runCount(command: CountCommand, terminal: Terminal): Promise<ExitStatus> {
  return new CountSession(command, terminal).run()
}

class CountSession extends LineSession<CountCommand> {
  protected override readonly showsLines = false

  /** No lines are written. */
  protected override async open(target: Output): Promise<LinesOutput> {
    for (const input of this.inputs)
      input.readRows = (file, plan) => (plan === null ? file.sample() : file.lines(plan))
    const nothing = async () => {}
    return { write: nothing, flush: nothing, finish: () => target.finish() }
  }

  protected override async tell({ run, target: output }: FinishedRun): Promise<void> {
    const { output: path, plan, top, form, isPlain, hasMark } = this.command
    const totals = run.groups[0] ?? new GroupTotals(plan)
    const table = countColumns(totals, top)
    const isShown = path === undefined && this.terminal.stdout.isTTY === true
    const parts =
      form === 'parquet'
        ? parquetOf(table)
        : textOf(table, form, { hasBars: isShown && !isPlain, hasMark, isShown })
    for await (const part of parts) await output.write(Buffer.from(part))
    await output.flush()
    this.#noteOmissions(run, table.hidden)
    for (const note of countNotes(totals)) this.note(note)
  }

  protected override plan(sample: Sample, { name, writtenAt }: RunInput): Plan {
    const { options, plan: count } = this.command
    const { plan, notes } = asUsage(() => makeCountPlan(sample, { ...options, writtenAt }, count))
    checkFit(options, plan.format, name)
    for (const note of notes) this.noteOnce(`${name}: ${note}`)
    return plan
  }

  /** Says what the rows leave out. */
  #noteOmissions({ counts, badLines }: LineRun, hidden: CountColumns['hidden']): void {
    const { lines, bad, blank, excluded, resolved } = counts
    const failures = failuresOf(counts).sort(([, a], [, b]) => b - a)
    const parts = [
      `${countText(resolved)} with a location`,
      ...failures.map(([reason, count]) => `${countText(count)} ${reason}`),
      ...(excluded > 0 ? [`${countText(excluded)} in other countries`] : []),
      ...(blank > 0 ? [`${countText(blank)} blank`] : []),
      ...(bad > 0 ? [`${countText(bad)} unreadable`] : []),
    ]
    this.note(`${countOf(lines, 'line', 'lines')}: ${parts.join(', ')}`)
    for (const { input, line, message } of badLines)
      this.note(`${input}, line ${countText(line)}: ${message}`)
    if (hidden.rows > 0) {
      const share = shareText(hidden.lines, lines)
      this.note(`--top leaves out ${countOf(hidden.rows, 'row', 'rows')} with ${share} of the lines`)
    }
  }
}
