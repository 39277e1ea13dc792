// The forms of a count: a table for people, CSV, NDJSON, and a table in Markdown.
import type { CountValue } from '../../enrich/count-plan.ts'
import type { CountRow, CountTable } from '../../enrich/counting/count-rows.ts'
import { countText, shareText } from '../figures.ts'
import { printable } from '../terminal.ts'
import type { CountForm } from './flags.ts'

/** How a table is shown. */
export interface TableForm {
  readonly hasBars: boolean
  /** Whether a byte order mark begins CSV. */
  readonly hasMark: boolean
  /** Whether a person sees it now: long values are then cut. */
  readonly isShown: boolean
}

/** Rows are written in parts of so many. */
const PART_ROWS = 1000

/** The text of a count, in parts. */
export function* textOf(table: CountTable, form: CountForm, shown: TableForm): Generator<string> {
  const { rows } = table
  if (form === 'table') return yield* aligned(table, shown)
  const columns = [...table.columns, 'count', ...(rows[0]?.unique === undefined ? [] : ['unique'])]
  if (form === 'csv') yield `${shown.hasMark ? '\ufeff' : ''}${columns.map(csvValue).join(',')}\r\n`
  if (form === 'md') yield markdownHead(table, columns)
  const lineOf = {
    ndjson: (row: CountRow) => `${JSON.stringify(row)}\n`,
    csv: (row: CountRow) => `${columns.map((column) => csvValue(row[column] ?? null)).join(',')}\r\n`,
    md: (row: CountRow) => `| ${columns.map((column) => markdownValue(row[column] ?? null)).join(' | ')} |\n`,
  }[form]
  for (let at = 0; at < rows.length; at += PART_ROWS)
    yield rows
      .slice(at, at + PART_ROWS)
      .map(lineOf)
      .join('')
}

function csvValue(value: CountValue): string {
  const text = String(value ?? '')
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}

function markdownHead({ rows }: CountTable, columns: readonly string[]): string {
  const rules = columns.map((column) => (isNumeric(rows, column) ? '---:' : '---'))
  return `| ${columns.map(markdownValue).join(' | ')} |\n| ${rules.join(' | ')} |\n`
}

/** Characters that Markdown would read as marks, HTML among them. */
const MARKS = /[\\`*_{}[\]<>|~&]/g

function markdownValue(value: CountValue): string {
  return printable(String(value ?? '').replace(/\s+/g, ' ')).replace(MARKS, '\\$&')
}

function isNumeric(rows: readonly CountRow[], column: string): boolean {
  return (
    rows.some((row) => row[column] !== null) &&
    rows.every((row) => row[column] === null || typeof row[column] === 'number')
  )
}

const NOTHING = '–'
const BAR_WIDTH = 24
/** Eighths of a block, from one to eight. */
const EIGHTHS = ['▏', '▎', '▍', '▌', '▋', '▊', '▉', '█']
/** Longer values are cut where a person sees them. Columns. */
const MAX_WIDTH = 48
/** Rows whose widths decide on the columns. Wider values of later rows push theirs to the right. */
const MEASURED_ROWS = 10_000

interface Column {
  readonly title: string
  readonly isRight: boolean
  readonly text: (row: CountRow) => string
}

function* aligned(table: CountTable, { hasBars, isShown }: TableForm): Generator<string> {
  const { rows, shown, hidden, other } = table
  const all = shown + hidden.lines + other
  const most = rows.reduce((largest, { count }) => Math.max(largest, count), 0)
  const cell = (value: CountValue): string => {
    const text = value === null ? NOTHING : printable(String(value))
    return isShown ? cut(text, MAX_WIDTH) : text
  }
  const columns: Column[] = [
    ...table.columns.map((title) => ({
      title: cell(title),
      isRight: isNumeric(rows, title),
      text: (row: CountRow) => cell(row[title] ?? null),
    })),
    { title: 'count', isRight: true, text: ({ count }) => countText(count) },
    { title: 'share', isRight: true, text: ({ count }) => shareText(count, all) },
  ]
  if (rows[0]?.unique !== undefined) {
    columns.splice(-1, 0, { title: 'unique', isRight: true, text: ({ unique }) => countText(unique ?? 0) })
  }
  const textsOf = (row: CountRow): string[] => columns.map(({ text }) => text(row))
  const measured = rows.slice(0, MEASURED_ROWS).map(textsOf)
  const widths = columns.map(({ title }, index) =>
    measured.reduce((widest, texts) => Math.max(widest, widthOf(texts[index] ?? '')), widthOf(title)),
  )
  const line = (texts: readonly string[], end: string): string => {
    const cells = texts.map((text, index) => {
      const pad = ' '.repeat(Math.max(0, (widths[index] ?? 0) - widthOf(text)))
      return columns[index]?.isRight ? pad + text : text + pad
    })
    return `${[...cells, end].join('  ').trimEnd()}\n`
  }
  yield line(
    columns.map(({ title }) => title),
    '',
  )
  for (let at = 0; at < rows.length; at += PART_ROWS) {
    yield rows
      .slice(at, at + PART_ROWS)
      .map((row, index) => line(measured[at + index] ?? textsOf(row), hasBars ? bar(row.count / most) : ''))
      .join('')
  }
  if (rows.length === 0) yield 'no lines\n'
}

function bar(share: number): string {
  const eighths = Math.max(1, Math.round(share * BAR_WIDTH * 8))
  return '█'.repeat(Math.floor(eighths / 8)) + (EIGHTHS[(eighths % 8) - 1] ?? '')
}

/** Characters that take two columns of a terminal, and those that take none. */
const WIDE = /[\p{Script=Han}\p{Script=Hangul}\p{Script=Hiragana}\p{Script=Katakana}\uff01-\uff60]/u
const NARROW = /[\p{Mn}\p{Me}\p{Cf}]/u
const ASCII = /^[ -~]*$/

/** The columns of a terminal that a text takes. */
function widthOf(text: string): number {
  if (ASCII.test(text)) return text.length
  let width = 0
  for (const character of text) width += WIDE.test(character) ? 2 : NARROW.test(character) ? 0 : 1
  return width
}

function cut(text: string, most: number): string {
  if (widthOf(text) <= most) return text
  let kept = ''
  for (const character of text) {
    if (widthOf(kept + character) >= most) break
    kept += character
  }
  return `${kept}…`
}
