import { ByteSink } from '../../../bytes/byte-sink.ts'
import { NONE } from '../../../bytes/distinct-texts.ts'
import { BRACE, BRACKET, LINE_FEED } from '../../../enrich/ascii.ts'
import { INTO, type LocationCells, RAW } from '../../../enrich/options.ts'
import { markLength } from '../../../enrich/reading/sample.ts'
import {
  CellText,
  cellRoom,
  recordText,
  SEPARATORS,
  type TableForm,
  valueText,
} from '../../../enrich/writing/separated-values.ts'
import { countOf } from '../../figures.ts'
import type { Output } from '../output.ts'
import { isPlainString, jsonIn, textIn } from './object-members.ts'
import { type AddedColumns, RESCUED, RowOutput, takenColumn } from './row-output.ts'

/** The first rows decide on the columns: this many rows, or this many bytes of lines. They are kept in memory until then. */
const MOST_ROWS = 10_000
const MOST_BYTES = 2 ** 23
/** How long a live stream has no rows in a pause, and how long the first rows wait for one, at most. */
const PAUSE_MS = 100
const MOST_WAIT_MS = 1000
/** Limits of the columns, and of the names in a note. */
const MAX_COLUMNS = 2000
const MAX_NAMES = 10
/** The byte order mark, by which Excel knows UTF-8. */
const MARK = Uint8Array.of(0xef, 0xbb, 0xbf)
const NO_BYTES = new Uint8Array(0)

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
 * Makes a table of the objects that a run writes, one a line, with the columns of locations as one text; see `withCells`. A column is
 * a member of the first objects; the columns of locations are the last ones. Texts are as they are, and other values as JSON; `null`
 * is empty. Once the columns are decided, the run can write rows of them, which are passed on; see {@link columns}.
 *
 * Later members without a column, and lines that are not objects, are kept as JSON in a column of their own. A table lacks this
 * column if all its rows are known before the first one is written, and none of them needs it.
 *
 * A run that writes a table of this form already keeps its bytes.
 */
export class TableOutput extends RowOutput {
  readonly #settings: TableSettings
  /** The numbers of the members with the texts of the columns of a location. */
  readonly #located: readonly number[]
  /** For each of {@link #located} the columns of a record without a location. */
  readonly #nothing: readonly Uint8Array[]
  readonly #text: CellText
  readonly #separator: string
  readonly #raw: number
  /** The lines before the columns are decided; `null` afterwards. */
  #waiting: ByteSink | null = new ByteSink()
  #waitingRows = 0
  /** The numbers of the members that are columns, in order. */
  readonly #columns: number[] = []
  /** By the number of a name: 1 for a column. */
  #isColumn = new Uint8Array(0)
  /** Whether rows that wait are lines that could not be read. */
  #hasUnread = false
  #hasRescued = false
  #rescuedRows = 0
  readonly #rescuedNames = new Set<string>()
  #timer: ReturnType<typeof setTimeout> | undefined
  /** When the first rows have waited as long as they may, by `performance.now()`. */
  #latest = Number.POSITIVE_INFINITY
  /** Resolves when the rows are written that waited in a pause. */
  #paused: Promise<void> | null = null
  #isMarked = false

  constructor(target: Output, settings: TableSettings) {
    const { added, form } = settings
    super(target, added[0]?.into ?? INTO)
    this.#settings = settings
    this.#text = new CellText(form)
    this.#separator = SEPARATORS[form]
    this.#located = added.map(({ into }) => this.members.add(into))
    this.#nothing = added.map(({ fields }) => Buffer.from(this.#separator.repeat(fields.size - 1)))
    this.#raw = this.members.add(RAW)
  }

  override get cells(): LocationCells | null {
    return this.keepsBytes ? null : { form: this.#settings.form }
  }

  /** The columns, if lines have one location. Several locations are added one after the other, to objects. */
  get columns(): readonly string[] | undefined {
    const isKnown = this.#waiting === null && !this.keepsBytes && this.#located.length === 1
    return isKnown ? this.#columnNames : undefined
  }

  override async write(bytes: Uint8Array, objects?: readonly number[]): Promise<void> {
    await this.#paused
    await super.write(bytes, objects)
    clearTimeout(this.#timer)
    if (!this.#settings.isLive || this.#waiting === null || this.keepsBytes) return
    const now = performance.now()
    this.#latest = Math.min(this.#latest, now + MOST_WAIT_MS)
    this.#timer = setTimeout(() => this.#pause(), Math.min(PAUSE_MS, this.#latest - now))
  }

  override async flush(): Promise<void> {
    clearTimeout(this.#timer)
    await this.#paused
    await super.flush()
  }

  override discard(): void {
    clearTimeout(this.#timer)
    super.discard()
  }

  protected row(): void {
    const waiting = this.#waiting
    if (waiting === null) {
      this.#write()
      return
    }
    this.#addColumns()
    const { bytes, start, end } = this.members
    waiting.write(bytes, start, end)
    waiting.writeByte(LINE_FEED)
    this.#waitingRows++
    if (this.#waitingRows >= MOST_ROWS || waiting.length >= MOST_BYTES) this.#decide(waiting, false)
  }

  protected end(): void {
    if (this.#waiting !== null && this.#waitingRows > 0) this.#decide(this.#waiting, true)
    if (this.#rescuedRows === 0) return
    const rows = countOf(this.#rescuedRows, 'row has', 'rows have')
    const names = shown([...this.#rescuedNames])
    this.#settings.note(`${rows} members that are no columns, now as JSON in ${RESCUED}: ${names}`)
  }

  protected override async send(bytes: Uint8Array): Promise<void> {
    if (this.#settings.hasMark && !this.#isMarked) {
      this.#isMarked = true
      if (markLength(bytes) === 0) await super.send(MARK)
    }
    await super.send(bytes)
  }

  /** Writes the rows that wait. The next call waits for it, and throws its error. */
  #pause(): void {
    const waiting = this.#waiting
    if (waiting === null) return
    this.#paused = Promise.resolve().then(() => {
      this.#decide(waiting, false)
      return this.sendRows()
    })
    this.#paused.catch(() => {})
  }

  /**
   * Decides on the columns by the waiting rows, and writes the header and these rows.
   *
   * @param isWhole whether no row comes later
   */
  #decide(waiting: ByteSink, isWhole: boolean): void {
    const { members } = this
    const lines = waiting.take()
    const names = this.#columnNames
    const added = this.#settings.added.flatMap(({ fields }) => [...fields.keys()])
    const taken = added.find((name) => names.includes(name))
    if (taken !== undefined) throw takenColumn(taken)
    members.fixNames()
    this.#isColumn = new Uint8Array(members.names.length)
    for (const column of this.#columns) this.#isColumn[column] = 1
    this.#hasRescued ||= !isWhole || (this.#hasUnread && !names.includes(RAW))
    const header = [...names, ...added, ...(this.#hasRescued ? [RESCUED] : [])]
    this.#settings.note(
      `the columns of the table are the members of the first ${countOf(this.#waitingRows, 'line', 'lines')}: ${shown(names)}`,
    )
    this.out.write(Buffer.from(recordText(header, this.#settings.form)))
    this.#waiting = null
    this.rows(lines, () => this.#write())
  }

  get #columnNames(): readonly string[] {
    return this.#columns.map((number) => this.members.names[number] ?? '')
  }

  /** Adds the members of a row to the columns. */
  #addColumns(): void {
    const { members } = this
    const columns = this.#columns
    if (this.#isUnread()) {
      this.#hasUnread = true
      return
    }
    let before = -1
    for (let member = 0; member < members.count; member++) {
      const number = members.numbers[member] ?? NONE
      if (this.#located.includes(number)) continue
      const column = columns.indexOf(number)
      const isNew = column === -1 && number !== NONE && members.names[number] !== RESCUED
      if (column !== -1) before = column
      // After the member before it, and not after those that only other rows have.
      else if (isNew && columns.length < MAX_COLUMNS) columns.splice(++before, 0, number)
      else this.#hasRescued = true
    }
  }

  /** Whether the row is a line that could not be read: it has its text, and no location. */
  #isUnread(): boolean {
    const { members } = this
    if (members.memberOf(this.#raw) === NONE) return false
    for (let member = 0; member < members.count; member++) {
      const number = members.numbers[member] ?? NONE
      const isNothing = this.#located.includes(number) && members.isNull(member)
      if (number !== this.#raw && !isNothing) return false
    }
    return true
  }

  #write(): void {
    const { members, out } = this
    const columns = this.#columns
    const from = out.length
    let kept = 0
    for (let index = 0; index < columns.length; index++) {
      if (index > 0) out.writeAscii(this.#separator)
      const member = members.memberOf(columns[index] ?? NONE)
      if (member === NONE) continue
      kept++
      this.#writeValue(member)
    }
    for (let index = 0; index < this.#located.length; index++) {
      if (index > 0 || columns.length > 0) out.writeAscii(this.#separator)
      const member = members.memberOf(this.#located[index] ?? NONE)
      if (member !== NONE) kept++
      if (member === NONE || members.isNull(member)) out.write(this.#nothing[index] ?? NO_BYTES)
      else this.#writeLocated(member)
    }
    if (this.#hasRescued) {
      out.writeAscii(this.#separator)
      if (kept < members.count) this.#writeText(this.#rescued())
    }
    // Readers skip an empty line: quotes make it a record with one empty value.
    if (out.length === from) out.writeAscii('""')
    out.writeByte(LINE_FEED)
  }

  /** Writes a text as it is, another value as JSON, and `null` as nothing. */
  #writeValue(member: number): void {
    const { members, out } = this
    const { bytes } = members
    const [start, end] = [members.starts[member] ?? 0, members.ends[member] ?? 0]
    const first = bytes[start]
    if (first === BRACE || first === BRACKET) this.#writeText(jsonIn(bytes, start, end))
    else if (members.isText(member)) {
      const into = out.room(cellRoom(end - start))
      const to = this.#text.putPlain(bytes, start + 1, end - 1, into, out.length)
      if (to === -1) this.#writeText(textIn(bytes, start, end))
      else out.length = to
    } else if (!members.isNull(member)) out.write(bytes, start, end)
  }

  /** Writes the columns in the text of a location, with the separators between them. */
  #writeLocated(member: number): void {
    const { bytes, starts, ends } = this.members
    const [start, end] = [starts[member] ?? 0, ends[member] ?? 0]
    if (isPlainString(bytes, start, end)) this.out.write(bytes, start + 1, end - 1)
    else this.out.write(Buffer.from(textIn(bytes, start, end)))
  }

  #writeText(text: string): void {
    this.out.write(Buffer.from(valueText(text, this.#settings.form)))
  }

  /** The members that have no column, as JSON. */
  #rescued(): string {
    const { members } = this
    const rescued: string[] = []
    for (let member = 0; member < members.count; member++) {
      const number = members.numbers[member] ?? NONE
      if (this.#isColumn[number] === 1 || this.#located.includes(number)) continue
      if (this.#rescuedNames.size <= MAX_NAMES) this.#rescuedNames.add(members.nameOf(member))
      rescued.push(members.jsonOf(member))
    }
    this.#rescuedRows++
    return `{${rescued.join(',')}}`
  }
}

function shown(names: readonly string[]): string {
  const first = names.slice(0, MAX_NAMES).map((name) => name.slice(0, 100))
  return first.join(', ') + (names.length > MAX_NAMES ? ', …' : '')
}
