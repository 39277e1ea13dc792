import { join } from 'node:path'
import { geofixPrograms, ONE, rowsCommand, type Task } from '../enrich/programs.ts'
import { type Program, takeTurns, type WholeRun } from '../enrich/whole-process.ts'
import { amountRow, atMost, measurement, type Row, ratioRow } from '../row.ts'
import type { Scenario } from '../stage.ts'
import { goal, logOf, withTask } from './enrich-task.ts'

/** Processor time of a million lines without start and warm-up: that of a long log less that of a shorter one. */
export const steadyProcessorTime: Scenario = {
  title: 'enrich: steady processor time',
  onlyInFull: true,
  run: (stage, subject) =>
    withTask(stage, subject, steadyProcessorTime.title, async (task) => {
      const { lines, moreLines } = stage.scale
      const pairs = [
        {
          title: 'access log, --append',
          format: 'access-log',
          flags: ['--append'],
          less: lines,
          more: moreLines,
        },
        { title: 'access log to NDJSON', format: 'access-log', flags: [], less: lines, more: moreLines },
        { title: 'NDJSON of 900 bytes a line', format: 'ndjson', flags: [], less: lines >> 2, more: lines },
      ] as const
      const rows: Row[] = []
      for (const { title, format, flags, less, more } of pairs) {
        const only = async (count: number, name: string): Promise<Program[]> => {
          const programs = geofixPrograms(task, format, await logOf(stage, format, count), flags)
          return programs.filter((each) => each.name === ONE).map((each) => ({ ...each, name }))
        }
        const programs = [...(await only(less, 'less')), ...(await only(more, 'more'))]
        const runs = await takeTurns(programs, stage.scale.turns, ({ message }) => stage.skipped.add(message))
        const steady = steadySeconds(runs.get('less') ?? [], runs.get('more') ?? [], more - less)
        if (steady.length === 0) continue
        const what = `${title}: processor time of a million lines (${more / 1e6} million less ${less / 1e6})`
        rows.push(
          amountRow(
            subject.database.name,
            what,
            { ...measurement(steady), unit: 's' },
            goal(lines, atMost(1)),
          ),
        )
      }
      return rows
    }),
}

/** Seconds of processor time per million lines, of each pair of runs. */
export function steadySeconds(
  shorter: readonly WholeRun[],
  longer: readonly WholeRun[],
  moreLines: number,
): number[] {
  return longer.flatMap(({ processorSeconds }, turn) => {
    const other = shorter[turn]?.processorSeconds ?? null
    return processorSeconds === null || other === null ? [] : ((processorSeconds - other) / moreLines) * 1e6
  })
}

/** Numbers of processes that an engine runs at a time. */
const PARTITIONS = [1, 2, 4, 8]

/** Partitions of a table must not take more processor time than one process. */
const MAX_PARTITION_RATIO = 1.1

/** Processor time of `geofix enrich --rows` in several processes at a time, each of which reads a whole log. */
export const partitions: Scenario = {
  title: 'enrich: rows in partitions',
  onlyInFull: true,
  run: (stage, subject) =>
    withTask(stage, subject, partitions.title, async (task) => {
      const { lines, turns } = stage.scale
      const { path } = await logOf(stage, 'access-log', lines)
      const programs = PARTITIONS.map((count) => rowsProgram(task, path, count))
      const runs = await takeTurns(programs, turns, ({ message }) => stage.skipped.add(message))
      const figures = PARTITIONS.flatMap((count) => {
        const seconds = (runs.get(String(count)) ?? []).flatMap(({ processorSeconds }) =>
          processorSeconds === null ? [] : (processorSeconds / count / lines) * 1e6,
        )
        if (seconds.length === 0) return []
        const name = count === 1 ? '1 partition' : `${count} partitions`
        return { name, figure: { ...measurement(seconds), unit: 's' as const } }
      })
      const [one, ...others] = figures
      if (one === undefined) return []
      const target = goal(lines, atMost(MAX_PARTITION_RATIO))
      return others.map(({ name, figure }) => {
        const what = `access log, --rows: processor time of a million rows, ${name}`
        return ratioRow(subject.database.name, what, figure, one, target)
      })
    }),
}

function rowsProgram(task: Task, path: string, count: number): Program {
  const { file, args } = rowsCommand(task)
  const processes = Array.from({ length: count }, (_, index) => ({
    // Rows come from standard input.
    command: { name: 'rows', file: 'sh', args: ['-c', 'exec "$@" < "$0"', path, file, ...args] },
    output: join(task.folder, `output-${index}`),
  }))
  return { name: String(count), processes }
}
