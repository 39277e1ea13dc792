import { cpus, totalmem } from 'node:os'
import type { BenchDatabase } from './artifacts.ts'
import type { Scale } from './options.ts'
import { type Figure, isMet, type Row } from './row.ts'

/** The machine of the measurements. */
export interface Machine {
  readonly cpu: string
  readonly cores: number
  readonly memoryGB: number
  readonly system: string
  readonly node: string
}

export function thisMachine(): Machine {
  const all = cpus()
  return {
    cpu: all[0]?.model.trim() ?? 'unknown',
    cores: all.length,
    memoryGB: Math.round(totalmem() / 2 ** 30),
    system: `${process.platform} ${process.arch}`,
    node: process.version,
  }
}

/** The results of a run. */
export interface Report {
  /** Date of the run. */
  readonly date: string
  readonly mode: 'full' | 'quick'
  readonly scale: Scale
  readonly machine: Machine
  readonly databases: readonly BenchDatabase[]
  /** Names and versions of the other libraries. */
  readonly versions: readonly string[]
  readonly rows: readonly Row[]
  /** Reasons why something was not run. */
  readonly skipped: readonly string[]
}

/** The report as Markdown: a paragraph about the machine and the libraries, and a table for each database. */
export function markdownReport({ date, mode, machine, databases, versions, rows, skipped }: Report): string {
  const { node, cpu, cores, memoryGB, system } = machine
  const parts = [
    `Measured on ${date}, ${mode} run: Node ${node}, ${system}, ${cores} cores of ${cpu}, ${memoryGB} GB.`,
    ...(versions.length === 0 ? [] : [`Compared with ${versions.join(', ')}.`]),
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

/** The report as JSON, with every round. */
export function jsonReport(report: Report): string {
  const rows = report.rows.map((row) => ({ ...row, met: isMet(row) }))
  const databases = report.databases.map(({ name, built, size }) => ({ name, built, size }))
  return `${JSON.stringify({ ...report, databases, rows }, null, 2)}\n`
}

const HEADINGS = ['what', 'Geofix', 'compared with', 'its figure', 'ratio', 'target', 'met']

/** Rows as a Markdown table: medians, with the lowest and the highest round in parentheses. */
export function markdownTable(rows: readonly Row[]): string {
  const cells = rows.map((row) => [
    row.what,
    figureText(row.figure),
    row.peer?.name ?? '',
    row.peer === null ? '' : figureText(row.peer.figure),
    row.ratio === null ? '' : numberText(row.ratio),
    targetText(row),
    metText(row),
  ])
  const lines = [HEADINGS, HEADINGS.map(() => '---'), ...cells]
  return lines.map((line) => `| ${line.join(' | ')} |`).join('\n')
}

function figureText({ median, lowest, highest, unit, rounds }: Figure): string {
  const [scale, shown] = unit !== 'a second' ? [1, unit] : median >= 1e6 ? [1e6, 'M/s'] : [1e3, 'k/s']
  const [middle, low, high] = [median, lowest, highest].map((value) => numberText(value / scale))
  return `${middle} ${shown}${rounds.length > 1 ? ` (${low} to ${high})` : ''}`
}

function targetText({ target, ratio, figure }: Row): string {
  if (target === null) return ''
  return `${target.kind} ${target.value}${ratio === null ? ` ${figure.unit}` : ''}`
}

function metText(row: Row): string {
  const met = isMet(row)
  return met === null ? '' : met ? 'yes' : 'no'
}

/** Three significant digits, but all digits before the decimal point. */
function numberText(value: number): string {
  const size = Math.abs(value)
  return value.toFixed(size >= 100 ? 0 : size >= 10 ? 1 : 2)
}
