import type { Plan } from '../../enrich/formats/formats.ts'
import type { LocationField } from '../../enrich/options.ts'
import { markLength } from '../../enrich/reading/sample.ts'
import { RAW } from '../../enrich/writing/json-text.ts'
import { countOf } from '../figures.ts'
import { UsageError } from '../terminal.ts'
import type { Output } from './output.ts'
import { fieldValue } from './parquet/columns.ts'
import {
  isLocation,
  isSystem,
  jsonOf,
  locatedOf,
  RESCUED,
  type Row,
  RowReader,
  tableOf,
} from './parquet/row-reader.ts'
import { recordText, type TableForm } from './separated-values.ts'

/** The first rows decide on the columns: so many, or those of so many bytes of lines. All of them are in memory. */
const MOST_ROWS = 10_000
const MOST_BYTES = 2 ** 23
/** The rows of a live stream wait for each other at most so long. */
const MOST_WAIT_MS = 100
/** Limits of the columns, and of the names in a note. */
const MAX_COLUMNS = 2000
const MAX_NAMES = 10
/** The byte order mark, by which Excel knows UTF-8. */
const MARK = Uint8Array.of(0xef, 0xbb, 0xbf)

/** What is added to the lines: the name of a member with a location, and the columns that it becomes. */
export interface AddedColumns {
  readonly into: string
  /** The name of the member with the autonomous system; `null` for none. */
  readonly asn: string | null
  /** What the columns have, by their names. */
  readonly fields: ReadonlyMap<string, LocationField>
}

export interface TableSettings {
  readonly form: TableForm
  readonly added: readonly AddedColumns[]
  /** Whether lines can pause: the columns are then decided in the first pause. */
  readonly isLive: boolean
  /** Whether a byte order mark begins the table. */
  readonly hasMark: boolean
  readonly note: (text: string) => void
}

/**
 * Makes a table of the objects that a run writes, one a line. A column is a member of the first objects; the columns of locations
 * are the last ones. Texts are as they are, and other values as JSON; `null` is empty.
 *
 * What comes later and has no column, and lines that are no objects, are kept as JSON in a column of its own, which a table lacks
 * if all of its rows are known before the first one is written, and need none.
 *
 * A run that writes a table of this form already keeps its bytes.
 */
export class TableOutput implements Output {
  readonly #target: Output
  readonly #settings: TableSettings
  #reader: RowReader | null = null
  /** Whether the lines are such a table already. */
  keepsBytes = false
  /** Rows before the columns are decided; `null` afterwards. */
  #waiting: Map<string, unknown>[] | null = []
  #waitingBytes = 0
  readonly #names: string[] = []
  #known: ReadonlySet<string> = new Set()
  #hasRescued = true
  #rescuedRows = 0
  readonly #rescuedNames = new Set<string>()
  #timer: ReturnType<typeof setTimeout> | undefined
  /** Resolves when the rows are written that waited in a pause. */
  #paused: Promise<void> | null = null
  #isBegun = false
  #isEnded = false

  constructor(target: Output, settings: TableSettings) {
    this.#target = target
    this.#settings = settings
  }

  /** Call it before the first line of an input. */
  usePlan(plan: Plan): void {
    this.keepsBytes = isTableOf(plan, this.#settings.form)
    this.#reader ??= new RowReader(plan)
  }

  async write(bytes: Uint8Array): Promise<void> {
    await this.#paused
    if (this.keepsBytes) await this.#put(bytes)
    else {
      const texts: string[] = []
      for (const { row, size } of this.#reader?.rows(bytes) ?? []) texts.push(this.#add(row, size))
      if (this.#settings.isLive && this.#waiting !== null)
        this.#timer ??= setTimeout(() => this.#pause(), MOST_WAIT_MS)
      await this.#put(Buffer.from(texts.join('')))
    }
  }

  async flush(): Promise<void> {
    clearTimeout(this.#timer)
    await this.#paused
    if (!this.#isEnded && !this.keepsBytes) {
      this.#isEnded = true
      const texts: string[] = []
      for (const { row, size } of this.#reader?.end() ?? []) texts.push(this.#add(row, size))
      if (this.#waiting !== null && this.#waiting.length > 0) texts.push(this.#decide(true))
      await this.#put(Buffer.from(texts.join('')))
      if (this.#rescuedRows > 0) this.#settings.note(this.#rescuedNote())
    }
    await this.#target.flush()
  }

  async finish(): Promise<void> {
    await this.flush()
    await this.#target.finish()
  }

  discard(): void {
    clearTimeout(this.#timer)
    this.#target.discard()
  }

  /** Writes the rows that wait. The next call waits for it, and throws its error. */
  #pause(): void {
    if (this.#waiting === null) return
    this.#paused = Promise.resolve().then(() => this.#put(Buffer.from(this.#decide(false))))
    this.#paused.catch(() => {})
  }

  async #put(bytes: Uint8Array): Promise<void> {
    if (bytes.length === 0) return
    if (this.#settings.hasMark && !this.#isBegun && markLength(bytes) === 0) await this.#target.write(MARK)
    this.#isBegun = true
    await this.#target.write(bytes)
  }

  /** @returns the text that can be written now */
  #add(row: Row, size: number): string {
    const members = new Map(row)
    if (this.#waiting === null) return this.#textOf(members)
    this.#waiting.push(members)
    this.#waitingBytes += size
    const isEnough = this.#waiting.length >= MOST_ROWS || this.#waitingBytes >= MOST_BYTES
    return isEnough ? this.#decide(false) : ''
  }

  /**
   * Decides on the columns by the waiting rows.
   *
   * @param isWhole whether no row comes later
   * @returns the text of the header and of these rows
   */
  #decide(isWhole: boolean): string {
    const rows = this.#waiting ?? []
    this.#waiting = null
    const isAdded = (name: string): boolean =>
      this.#settings.added.some(({ into, asn }) => into === name || asn === name)
    const own = new Set<string>()
    for (const row of rows) {
      let before = -1
      for (const name of row.keys()) {
        const isColumn = !isAdded(name) && name !== RESCUED && !(row.size <= 2 && isUnread(row, isAdded))
        if (!isColumn) continue
        if (!own.has(name) && own.size < MAX_COLUMNS) {
          own.add(name)
          // After the member before it, and not after those that only other rows have.
          this.#names.splice(before + 1, 0, name)
        }
        if (own.has(name)) before = this.#names.indexOf(name)
      }
    }
    this.#known = own
    const added = this.#settings.added.flatMap(({ fields }) => [...fields.keys()])
    const taken = added.find((name) => own.has(name))
    if (taken !== undefined)
      throw new UsageError(
        `The lines have a member ${JSON.stringify(taken)} already: write other names, as in --into geo, or other columns, with --fields.`,
      )
    this.#hasRescued = !isWhole || rows.some((row) => this.#rescuedOf(row).size > 0)
    const header = [...this.#names, ...added, ...(this.#hasRescued ? [RESCUED] : [])]
    this.#settings.note(
      `the columns of the table are the members of the first ${countOf(rows.length, 'line', 'lines')}: ${shown(this.#names)}`,
    )
    const { form } = this.#settings
    return recordText(header, form) + rows.map((row) => this.#textOf(row)).join('')
  }

  #textOf(row: ReadonlyMap<string, unknown>): string {
    const values = this.#names.map((name) => cellOf(row.get(name)))
    for (const { into, asn, fields } of this.#settings.added) {
      const located = locatedOf(row.get(into), asn === null ? null : row.get(asn))
      for (const field of fields.values()) values.push(cellOf(fieldValue(located, field)))
    }
    if (this.#hasRescued) {
      const rescued = this.#rescuedOf(row)
      if (rescued.size > 0) {
        this.#rescuedRows++
        for (const name of rescued.keys())
          if (this.#rescuedNames.size <= MAX_NAMES) this.#rescuedNames.add(name)
      }
      values.push(rescued.size === 0 ? '' : jsonOf(Object.fromEntries(rescued)))
    }
    return recordText(values, this.#settings.form)
  }

  /** The members that have no column. */
  #rescuedOf(row: ReadonlyMap<string, unknown>): Map<string, unknown> {
    const rescued = new Map<string, unknown>()
    for (const [name, value] of row) {
      const isLocated = this.#settings.added.some(({ into }) => into === name)
      const isAsn = this.#settings.added.some(({ asn }) => asn === name)
      const hasPlace = isLocated
        ? value === null || isLocation(value)
        : isAsn
          ? value === null || isSystem(value)
          : this.#known.has(name)
      if (!hasPlace) rescued.set(name, value)
    }
    return rescued
  }

  #rescuedNote(): string {
    const names = shown([...this.#rescuedNames])
    return `${countOf(this.#rescuedRows, 'row has', 'rows have')} members that are no columns, now as JSON in ${RESCUED}: ${names}`
  }
}

/** Whether a plan's lines are a table of a form already. */
export function isTableOf(plan: Plan, form: TableForm): boolean {
  return tableOf(plan)?.format === form
}

/** Whether a row is a line that could not be read: it has its text, and no location. */
function isUnread(row: ReadonlyMap<string, unknown>, isAdded: (name: string) => boolean): boolean {
  return row.has(RAW) && [...row].every(([name, value]) => name === RAW || (isAdded(name) && value === null))
}

function cellOf(value: unknown): string {
  if (value === null || value === undefined) return ''
  return typeof value === 'string' ? value : jsonOf(value)
}

function shown(names: readonly string[]): string {
  const first = names.slice(0, MAX_NAMES).map((name) => name.slice(0, 100))
  return first.join(', ') + (names.length > MAX_NAMES ? ', …' : '')
}
