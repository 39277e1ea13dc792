import { cpus, totalmem } from 'node:os'
import type { BenchDatabase } from './artifacts.ts'
import type { Scale } from './options.ts'
import { DEFAULTS, type Figure, isMet, type Measurement, PACKED, type Row } from './row.ts'

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

/** Headings of the rows that are not of one database. */
const TITLES: Readonly<Record<string, string>> = {
  none: 'Without a database',
  [PACKED]: 'Packed databases',
  [DEFAULTS]: 'Defaults, with the embedded city database',
}

/** The report as Markdown: a paragraph about the machine and the libraries, and a table for each database. */
export function markdownReport(report: Report): string {
  const { date, mode, machine, databases, versions, rows, skipped } = report
  const { node, cpu, cores, memoryGB, system } = machine
  const parts = [
    `Measured on ${date}, ${mode} run: Node ${node}, ${system}, ${cores} cores of ${cpu}, ${memoryGB} GB.`,
    ...(versions.length === 0 ? [] : [`Compared with ${versions.join(', ')}.`]),
  ]
  const built = new Map(
    databases.map((each) => [each.name, ` of ${each.built}, ${Math.round(each.size / 1e6)} MB`]),
  )
  for (const database of new Set(rows.map((row) => row.database))) {
    const title = TITLES[database] ?? `On ${database}${built.get(database) ?? ''}`
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

/** The part of the guide between these lines is made from a report. */
const GUIDE_PART = /(<!-- figures -->\n)[\s\S]*(<!-- \/figures -->)/

/** The guide with the figures of a report, read from its JSON: those of the defaults, of packed databases, and with the database that has targets. */
export function guideWithFigures(guide: string, json: string): string {
  const { date, machine, databases, versions, rows }: Report = JSON.parse(json)
  const [database] = databases
  if (database === undefined || !GUIDE_PART.test(guide)) throw new Error('there is no place for the figures')
  const text = [
    `Tables: what people run by default, with the embedded city database; packed databases; ${database.name} of ${database.built},`,
    `${Math.round(database.size / 1e6)} MB. Measured on ${date} with`,
    `Node ${machine.node.slice(1)} on ${machine.cores} cores of ${machine.cpu}, beside`,
    `${versions.join(', ')}.`,
  ].join('\n')
  const tables = [DEFAULTS, PACKED, database.name]
    .map((name) => rows.filter((row) => row.database === name))
    .filter((some) => some.length > 0)
  const parts = [text, ...tables.map((some) => markdownTable(some, GUIDE_HEADINGS))]
  return guide.replace(GUIDE_PART, (_, start: string, end: string) => `${start}${parts.join('\n\n')}\n${end}`)
}

const HEADINGS = ['what', 'Geofix', 'compared with', 'its figure', 'ratio', 'target', 'met']
const GUIDE_HEADINGS = HEADINGS.slice(0, 6)

/** Rows as a Markdown table: medians, with the lowest and the highest round in parentheses. */
export function markdownTable(rows: readonly Row[], headings: readonly string[] = HEADINGS): string {
  const cells = rows.map((row) => [
    row.what,
    figureText(row.figure),
    row.peer?.name ?? '',
    row.peer === null ? '' : figureText(row.peer.figure),
    row.ratio === null ? '' : numberText(row.ratio),
    targetText(row),
    metText(row),
  ])
  return tableOf(headings, cells)
}

/** Rows with as many cells as there are headings; further cells are left out. */
function tableOf(headings: readonly string[], rows: readonly (readonly string[])[]): string {
  const lines = [headings, headings.map(() => '---'), ...rows.map((row) => row.slice(0, headings.length))]
  return lines.map((line) => `| ${line.join(' | ')} |`).join('\n')
}

function figureText(figure: Figure): string {
  const { median, unit } = figure
  if (unit !== 'a second') return rangeText(figure, unit)
  return median >= 1e6 ? rangeText(figure, 'M/s', 1e6) : rangeText(figure, 'k/s', 1e3)
}

function rangeText({ median, lowest, highest, rounds }: Measurement, unit: string, scale = 1): string {
  const [middle, low, high] = [median, lowest, highest].map((value) => numberText(value / scale))
  return `${middle} ${unit}${rounds.length > 1 ? ` (${low} to ${high})` : ''}`
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
