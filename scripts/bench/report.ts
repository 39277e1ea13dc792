import type { BenchDatabase } from './databases.ts'
import type { Machine } from './machine.ts'
import { isMet, type Row } from './row.ts'
import type { Scale } from './scale.ts'
import { markdownTable } from './table.ts'

/** All that a run has found out. */
export interface Report {
  /** Day of the run. */
  readonly date: string
  readonly mode: 'full' | 'quick'
  readonly scale: Scale
  readonly machine: Machine
  readonly databases: readonly BenchDatabase[]
  /** Of peers: names and versions. */
  readonly versions: readonly string[]
  readonly rows: readonly Row[]
  /** What could not be run, and why. */
  readonly skipped: readonly string[]
}

/** The report for people: a paragraph on where and with what it was measured, and a table for each database. */
export function markdownReport({ date, mode, machine, databases, versions, rows, skipped }: Report): string {
  const { node, cpu, cores, memoryGB, system } = machine
  const parts = [
    `Measured on ${date}, ${mode} run: Node ${node}, ${system}, ${cores} cores of ${cpu}, ${memoryGB} GB.`,
    ...(versions.length === 0 ? [] : [`Beside ${versions.join(', ')}.`]),
  ]
  const built = new Map(
    databases.map((each) => [each.name, ` of ${each.built}, ${Math.round(each.size / 1e6)} MB`]),
  )
  for (const database of new Set(rows.map((row) => row.database))) {
    const title = database === 'none' ? 'Without a database' : `On ${database}${built.get(database) ?? ''}`
    parts.push(`${title}:`, markdownTable(rows.filter((row) => row.database === database)))
  }
  if (skipped.length > 0) parts.push(`Not run:\n${skipped.map((reason) => `- ${reason}`).join('\n')}`)
  return parts.join('\n\n')
}

/** The report for programs: every round is in it. */
export function jsonReport(report: Report): string {
  const rows = report.rows.map((row) => ({ ...row, met: isMet(row) }))
  const databases = report.databases.map(({ name, built, size }) => ({ name, built, size }))
  return `${JSON.stringify({ ...report, databases, rows }, null, 2)}\n`
}
