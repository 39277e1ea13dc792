import type { DelimitedPlan } from '../../../enrich/formats/delimited/plan.ts'
import { valuesOf } from '../../../enrich/formats/delimited/table.ts'
import { definitionOf, type Plan } from '../../../enrich/formats/formats.ts'
import type { LocationField } from '../../../enrich/options.ts'
import { recordEndsOf } from '../../../enrich/reading/layout.ts'
import { RecordFields } from '../../../enrich/reading/record-fields.ts'
import { markLength } from '../../../enrich/reading/sample.ts'
import type { LocatedRecord } from '../../../enrich/writing/column-templates.ts'
import { RAW } from '../../../enrich/writing/json-text.ts'
import type { AutonomousSystem } from '../../../location/autonomous-systems.ts'
import { typeOfField } from './columns.ts'

const LINE_FEED = 0x0a
const CARRIAGE_RETURN = 0x0d

/** What is kept of a line that comes in pieces, because it is longer than lines may be. Bytes. */
const MAX_RAW_BYTES = 2 ** 20

/** The values of a row by name, in the order of the line. */
export type Row = Iterable<readonly [name: string, value: unknown]>

/** A row, and the bytes of its line. */
export interface SizedRow {
  readonly row: Row
  readonly size: number
  /** The line, if it is one object. */
  readonly object?: string
}

/** The column of what has no place in the other columns. Other engines have this name for it. */
export const RESCUED = '_rescued_data'

/** An integer outside of texts that has too many digits for a number of JavaScript. */
const LARGE = /"(?:[^"\\]|\\.)*"|(?<![\d.eE+-])-?\d{16,}(?![\d.eE])/g
/** Stands for a large integer until the line is parsed. */
const INTEGER = '__integer__'

/** The plan of a table; `null` for formats that become objects. */
export function tableOf(plan: Plan): DelimitedPlan | null {
  return (plan.format === 'csv' || plan.format === 'tsv') && !plan.isObject ? plan : null
}

/** Reads the rows of what a run writes: of objects, one a line, or of a table. */
export class RowReader {
  /** Whether the lines are rows of a table, whose values are text. */
  readonly isTable: boolean
  /** What the columns of the location in a table have, by their names; empty for objects. */
  readonly fields: ReadonlyMap<string, LocationField>
  readonly #table: DelimitedPlan | null
  #names: readonly string[] | null = null
  #preambleLines = 0
  /** The start of a line whose end has not come. */
  #rest: Buffer = Buffer.alloc(0)

  constructor(plan: Plan) {
    this.#table = tableOf(plan)
    this.isTable = this.#table !== null
    const { columns = [], fields = [] } = this.#table ?? {}
    this.fields = new Map(fields.map((field, index) => [columns[index] ?? field, field]))
  }

  /** The rows of the lines that end in these bytes. Keeps the bytes after the last line feed for the next call. */
  *rows(bytes: Uint8Array): Generator<SizedRow> {
    const firstEnd = bytes.indexOf(LINE_FEED) + 1
    if (firstEnd === 0) {
      this.#keep(bytes)
      return
    }
    const lastEnd = bytes.lastIndexOf(LINE_FEED) + 1
    const hasRest = this.#rest.length > 0
    if (hasRest) {
      this.#keep(bytes.subarray(0, firstEnd))
      yield* this.end()
    }
    yield* this.#rowsOf(bytes.subarray(hasRest ? firstEnd : 0, lastEnd))
    this.#keep(bytes.subarray(lastEnd))
  }

  /** The row of the last line, if it has no line feed. */
  *end(): Generator<SizedRow> {
    const line = this.#rest
    this.#rest = Buffer.alloc(0)
    // Do not parse the start of a line that is too long: it could look like a whole row.
    if (line.length > MAX_RAW_BYTES)
      yield { row: [[RAW, line.toString('utf8', 0, MAX_RAW_BYTES)]], size: line.length }
    else if (line.length > 0) yield* this.#rowsOf(line)
  }

  /** Keeps a piece of a line. Of a line that is too long, it keeps one byte more than is written. */
  #keep(piece: Uint8Array): void {
    const kept = piece.subarray(0, MAX_RAW_BYTES + 1 - this.#rest.length)
    if (kept.length > 0) this.#rest = Buffer.concat([this.#rest, kept])
  }

  #rowsOf(bytes: Uint8Array): Generator<SizedRow> {
    return this.#table === null ? this.#objects(bytes) : this.#records(this.#table, bytes)
  }

  *#objects(bytes: Uint8Array): Generator<SizedRow> {
    const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
    for (let start = 0; start < buffer.length; ) {
      const lineFeed = buffer.indexOf(LINE_FEED, start)
      const end = lineFeed === -1 ? buffer.length : lineFeed
      const line = buffer.toString('utf8', start, end).trim()
      const row = line === '' ? undefined : parsed(line)
      if (row === null) yield { row: [[RAW, line]], size: end - start }
      else if (row !== undefined) yield { row, size: end - start, object: line }
      start = end + 1
    }
  }

  *#records(plan: DelimitedPlan, bytes: Uint8Array) {
    const ends = recordEndsOf(definitionOf(plan.format).layout(plan))
    const fields = new RecordFields(plan.delimiter, plan.quotes, plan.width + plan.columns.length + 1)
    ends.reset(bytes)
    for (let start = this.#names === null ? markLength(bytes) : 0; start < bytes.length; ) {
      const next = ends.next(start, bytes.length, true)
      const last = next === -1 ? bytes.length : next
      const end = bytes[last - 1] === CARRIAGE_RETURN && last > start ? last - 1 : last
      const values = fields.read(bytes, start, end) ? valuesOf(bytes, fields) : null
      const row = this.#rowOf(plan, values, bytes.subarray(start, end))
      if (row !== null) yield { row, size: last - start }
      start = last + 1
    }
  }

  /** `null` for the lines before the first row. */
  #rowOf(plan: DelimitedPlan, values: readonly string[] | null, line: Uint8Array): Row | null {
    if (line.length === 0) return null
    if (this.#names === null) {
      if (plan.hasSeparatorLine && this.#preambleLines++ === 0) return null
      if (plan.headerLine > 0) {
        this.#names = distinct(values ?? [])
        return null
      }
      const own = Array.from({ length: plan.width }, (_, index) => `column_${index + 1}`)
      this.#names = [...own, ...plan.columns]
    }
    const names = this.#names
    // A bad line has another number of values, and is kept as it is.
    if (values === null || values.length !== names.length) return [[RAW, Buffer.from(line).toString()]]
    return names.map((name, index) => [name, this.#valueOf(name, values[index] ?? '')] as const)
  }

  /** Values of a table are text, but for the numbers of a location. */
  #valueOf(name: string, text: string): string | number | null {
    if (text === '') return null
    const field = this.fields.get(name)
    return field === undefined || typeOfField(field) === 'STRING' ? text : Number(text)
  }
}

/** `null` for what is not an object. */
function parsed(line: string): Row | null {
  try {
    const value: unknown = /\d{16}/.test(line)
      ? JSON.parse(
          line.replace(LARGE, (token) => (token.startsWith('"') ? token : `{"${INTEGER}":"${token}"}`)),
          (_, each) => {
            const digits: unknown = typeof each === 'object' && each !== null ? each[INTEGER] : undefined
            return typeof digits === 'string' && /^-?\d+$/.test(digits) ? BigInt(digits) : each
          },
        )
      : JSON.parse(line)
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return Object.entries(value)
  } catch {
    // A bad line, which the run has reported.
  }
  return null
}

/** Makes the names distinct: a table can have a name twice, or a column without a name. */
function distinct(names: readonly string[]): string[] {
  const used = new Set<string>()
  return names.map((name, index) => {
    const base = name === '' ? `column_${index + 1}` : name
    let own = base
    for (let number = 2; used.has(own); number++) own = `${base}_${number}`
    used.add(own)
    return own
  })
}

/** Whether a member is a location, and not one that the line had. */
export function isLocation(value: unknown): value is LocatedRecord {
  return typeof value === 'object' && value !== null && 'timezone' in value && 'coordinates' in value
}

/** Whether a member is an autonomous system, and not another one that the line had. */
export function isSystem(value: unknown): value is AutonomousSystem {
  return typeof value === 'object' && value !== null && 'number' in value && 'organization' in value
}

/** A location with the autonomous system that a line has beside it. @param system absent without the option `asn` */
export function locatedOf(location: unknown, system: unknown): LocatedRecord | null {
  return isLocation(location) ? { ...location, asn: isSystem(system) ? system : null } : null
}

/** As `JSON.stringify`, with all digits of large integers. */
export function jsonOf(value: unknown): string {
  if (typeof value === 'bigint') return String(value)
  if (Array.isArray(value)) return `[${value.map(jsonOf).join(',')}]`
  if (typeof value !== 'object' || value === null) return JSON.stringify(value)
  return `{${Object.entries(value)
    .map(([name, each]) => `${JSON.stringify(name)}:${jsonOf(each)}`)
    .join(',')}}`
}
