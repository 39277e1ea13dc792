// The forms of a count: a table for people, CSV, TSV, JSON, NDJSON, a table in Markdown, and Parquet.
import type { CountValue } from '../../enrich/count-plan.ts'
import type { CountColumns } from '../../enrich/counting/count-rows.ts'
import type { CountColumn } from '../../enrich/counting/totals.ts'
import { valueText } from '../../enrich/writing/separated-values.ts'
import { countText, shareText } from '../figures.ts'
import { jsonText, printable } from '../terminal.ts'
import type { CountForm } from './flags.ts'

/** How a table is shown. */
export interface ShownForm {
  readonly hasBars: boolean
  /** Whether a byte order mark begins CSV. */
  readonly hasMark: boolean
  /** Whether a person sees it now: long values are then cut. */
  readonly isShown: boolean
}

/** Rows of one part of the output. */
const PART_ROWS = 4000

/** Rows of a row group of Parquet. */
const GROUP_ROWS = 100_000

/** A count as a Parquet file, in parts: columns of integers and of text. */
export async function* parquetOf(table: CountColumns): AsyncGenerator<Uint8Array> {
  // Lazy: few counts are Parquet.
  const { ColumnWriter } = await import('../enrich/parquet/column-writer.ts')
  const { ColumnValues } = await import('../enrich/parquet/columns.ts')
  const numbers = numbersOf(table)
  const columns = [...table.columns, ...numbers].map((column) => {
    const type = numbers.includes(column) || isNumeric(column) ? 'INT64' : 'STRING'
    const values = new ColumnValues(column.name, type)
    // The rows may have few of the codes.
    const used = new Map<number, number>()
    const codes = column.codes.map((code) => {
      const number = used.get(code) ?? used.size
      if (number === used.size) {
        used.set(code, number)
        const value = column.value(code)
        if (value === null) values.addMissing()
        else values.addText(String(value))
      }
      return number
    })
    return { values, codes }
  })
  const writer = new ColumnWriter(columns.map(({ values }) => values.path))
  const rows = table.counts.length
  for (let from = 0; from < rows; from += GROUP_ROWS) {
    const to = Math.min(rows, from + GROUP_ROWS)
    const leaves = columns.map(({ codes, values }) => values.leafOf(codes.subarray(from, to)))
    writer.add(leaves, to - from)
    yield writer.take()
  }
  writer.end()
  yield writer.take()
}

/** A column of a form, with the text of each code. */
interface TextColumn extends Pick<CountColumn, 'size' | 'codes'> {
  readonly text: (code: number) => string
}

/** The text of a count, in parts. */
export function* textOf(
  table: CountColumns,
  form: Exclude<CountForm, 'parquet'>,
  shown: ShownForm,
): Generator<string> {
  if (form === 'table') return yield* aligned(table, shown)
  const columns = [...table.columns, ...numbersOf(table)]
  const names = columns.map(({ name }) => name)
  const texts = (of: (value: CountValue, name: string) => string): TextColumn[] =>
    columns.map((each) => textColumn(each, (value) => of(value, each.name)))
  if (form === 'csv' || form === 'tsv') {
    const [separator, end] = form === 'csv' ? [',', '\r\n'] : ['\t', '\n']
    const cell = (value: CountValue): string => {
      const text = valueText(String(value ?? ''), form)
      return shown.isShown ? printable(text) : text
    }
    yield `${shown.hasMark ? '\ufeff' : ''}${names.map(cell).join(separator)}${end}`
    yield* lines(texts(cell), '', separator, end)
  } else if (form === 'md') {
    const rules = columns.map((column) => (isNumeric(column) ? '---:' : '---'))
    yield `| ${names.map(markdownValue).join(' | ')} |\n| ${rules.join(' | ')} |\n`
    yield* lines(texts(markdownValue), '| ', ' | ', ' |\n')
  } else {
    const members = texts((value, name) => `${jsonText(name)}:${jsonText(value)}`)
    // Order the members as an object has them: names that are numbers come first.
    const order = Object.values(Object.fromEntries(names.map((name, index) => [name, index])))
    const objects = order.flatMap((index) => members[index] ?? [])
    if (form === 'ndjson') return yield* lines(objects, '{', ',', '}\n')
    let start = '['
    for (const part of lines(objects, ',\n{', ',', '}')) {
      // Each object begins with the comma after the one before it.
      yield start === '' ? part : start + part.slice(1)
      start = ''
    }
    yield start === '' ? '\n]\n' : '[]\n'
  }
}

function textColumn({ size, codes, value }: CountColumn, text: (value: CountValue) => string): TextColumn {
  return { size, codes, text: (code) => text(value(code)) }
}

/** The columns that are not keys. */
function numbersOf({ counts, unique }: CountColumns): CountColumn[] {
  return [
    numberColumn('count', counts),
    // A table without rows does not say what it would have.
    ...(unique === null || unique.length === 0 ? [] : [numberColumn('unique', unique)]),
  ]
}

/** Neighbours with the same number, as rows often are, have one code. */
function numberColumn(name: string, numbers: Float64Array): CountColumn {
  const codes = new Int32Array(numbers.length)
  const distinct: number[] = []
  for (let row = 0; row < numbers.length; row++) {
    const number = numbers[row] ?? 0
    if (row === 0 || number !== numbers[row - 1]) distinct.push(number)
    codes[row] = distinct.length - 1
  }
  return { name, size: distinct.length, codes, value: (code) => distinct[code] ?? 0 }
}

/** The lines of all rows, in parts. The text of each code is made once. */
function* lines(
  columns: readonly TextColumn[],
  start: string,
  between: string,
  end: string,
): Generator<string> {
  const known = columns.map(({ size }) => new Array<string | undefined>(size))
  const cell = ({ codes, text }: TextColumn, index: number, row: number): string => {
    const [texts = [], code = 0] = [known[index], codes[row]]
    texts[code] ??= text(code)
    return texts[code]
  }
  const rows = columns[0]?.codes.length ?? 0
  for (let from = 0; from < rows; from += PART_ROWS) {
    let part = ''
    for (let row = from; row < Math.min(rows, from + PART_ROWS); row++)
      part += `${start}${columns.map((each, index) => cell(each, index, row)).join(between)}${end}`
    yield part
  }
}

/** Characters that Markdown would read as marks, HTML among them. */
const MARKS = /[\\`*_{}[\]<>|~&]/g

function markdownValue(value: CountValue): string {
  return printable(String(value ?? '').replace(/\s+/g, ' ')).replace(MARKS, '\\$&')
}

/** Whether all values that are there are numbers, and one is. */
function isNumeric({ codes, value }: CountColumn): boolean {
  let hasNumber = false
  for (let row = 0; row < codes.length; row++) {
    const each = value(codes[row] ?? 0)
    if (typeof each === 'string') return false
    if (each !== null) hasNumber = true
  }
  return hasNumber
}

const NOTHING = '–'
const BAR_WIDTH = 24
/** Eighths of a block, from one to eight. */
const EIGHTHS = ['▏', '▎', '▍', '▌', '▋', '▊', '▉', '█']
/** Longer values are cut where a person sees them. Columns. */
const MAX_WIDTH = 48
/** Rows whose widths decide on the columns. A wider value in a later row pushes the columns after it to the right. */
const MEASURED_ROWS = 10_000

function* aligned(table: CountColumns, { hasBars, isShown }: ShownForm): Generator<string> {
  const { counts, shown, hidden, other } = table
  const all = shown + hidden.lines + other
  const most = counts.reduce((largest, count) => Math.max(largest, count), 0)
  const cell = (value: CountValue): string => {
    const given = String(value ?? NOTHING)
    const text = ASCII.test(given) ? given : printable(given)
    return isShown ? cut(text, MAX_WIDTH) : text
  }
  const columns = [
    ...table.columns.map((column) => alignedColumn(column, cell(column.name), cell)),
    ...numbersOf(table).map((column) =>
      alignedColumn(column, column.name, (value) => countText(Number(value))),
    ),
    alignedColumn(numberColumn('share', counts), 'share', (value) => shareText(Number(value), all)),
  ]
  yield `${columns
    .map(({ title }) => title)
    .join('  ')
    .trimEnd()}\n`
  const bars = textColumn(numberColumn('', counts), (value) => bar(Number(value) / most))
  yield* lines(hasBars ? [...columns, bars] : columns, '', '  ', '\n')
  if (counts.length === 0) yield 'no lines\n'
}

/** A column whose texts are as wide as the widest of its first rows. */
function alignedColumn(
  column: CountColumn,
  title: string,
  text: (value: CountValue) => string,
): TextColumn & { readonly title: string } {
  const shown = textColumn(column, text)
  const isRight = isNumeric(column)
  const measured = new Set(column.codes.subarray(0, MEASURED_ROWS))
  const width = Math.max(widthOf(title), ...Array.from(measured, (code) => widthOf(shown.text(code))))
  const padded = (text: string): string => {
    const length = text.length + width - widthOf(text)
    return isRight ? text.padStart(length) : text.padEnd(length)
  }
  return { ...shown, title: padded(title), text: (code) => padded(shown.text(code)) }
}

function bar(share: number): string {
  const eighths = Math.max(1, Math.round(share * BAR_WIDTH * 8))
  return '█'.repeat(Math.floor(eighths / 8)) + (EIGHTHS[(eighths % 8) - 1] ?? '')
}

/** Characters that take two columns of a terminal, and those that take none. */
const WIDE = /[\p{Script=Han}\p{Script=Hangul}\p{Script=Hiragana}\p{Script=Katakana}\uff01-\uff60]/u
const NARROW = /[\p{Mn}\p{Me}\p{Cf}]/u
const ASCII = /^[ -~]*$/
/** Texts with one column for each character, as most have: ASCII, and Latin letters. */
const PLAIN = /^[ -~\u00c0-\u024f]*$/

/** The columns of a terminal that a text takes. */
function widthOf(text: string): number {
  if (PLAIN.test(text)) return text.length
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
