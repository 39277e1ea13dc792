import { type Steps, withPauses } from '../../../bytes/long-work.ts'
import { checkCounts } from '../../../enrich/address-check.ts'
import { ColumnLocator, type ColumnTexts } from '../../../enrich/column-stream.ts'
import { queriesOf } from '../../../enrich/count-plan.ts'
import { countRead, emptyCounts, type RunningCounts } from '../../../enrich/counting/counts.ts'
import { GroupTotals } from '../../../enrich/counting/totals.ts'
import { type Format, withFormats } from '../../../enrich/formats/formats.ts'
import type { NdjsonPlan } from '../../../enrich/formats/ndjson/ndjson.ts'
import { eventTime, NO_TIME } from '../../../enrich/locating/event-time.ts'
import { LineCounter } from '../../../enrich/locating/line-counter.ts'
import { LineLocator } from '../../../enrich/locating/line-locator.ts'
import type { LineRun, RunSettings } from '../../../enrich/run.ts'
import { CachedView } from '../../../enrich/swar.ts'
import { NO_NUMBER } from '../../../enrich/writing/location-columns.ts'
import { MAX_LOCATIONS } from '../../../enrich/writing/rendered-locations.ts'
import type { DatabaseSet } from '../../../location/database-set.ts'
import { localeOf } from '../../../location/locale.ts'
import type { Input } from '../input.ts'
import type { LocatedColumns } from './columns.ts'
import { NO_TEXTS, type ParquetFile, SAMPLE_ROWS } from './parquet-file.ts'

/** Where the columns go: a copy of the file. */
interface ColumnsOutput {
  readonly file: ParquetFile
  /** The columns of each address of a row group. */
  readonly located: readonly LocatedColumns[]
  /** Adds the columns of a row group, which are complete. */
  addGroup(rows: number): void
  /** Writes what was added. */
  send(): Promise<void>
}

/** Locates the addresses in the columns of a Parquet file, and adds columns to it. No row becomes a line, but those of the sample. */
export class ColumnRun implements LineRun {
  readonly counts = emptyCounts()
  readonly badLines = []
  readonly doubtfulLines = []
  readonly bytesWritten = 0
  groups: readonly GroupTotals[] = []
  format: Format | null = null
  bytesRead = 0

  constructor(
    private readonly settings: RunSettings,
    readonly input: Input,
    private readonly output: ColumnsOutput,
    private readonly signal: AbortSignal,
  ) {}

  /**
   * Reads the file to its end. Call it once.
   *
   * @throws EnrichError when a column has no addresses
   * @throws InvalidDatabaseError when the databases have no locations
   * @throws CommandFailure when the file is damaged, or the output cannot be written
   */
  async read(): Promise<void> {
    const { settings, input, output, counts } = this
    const { set, loadFormats } = settings
    const { file, located } = output
    const bytes = await file.sampleLines()
    const all = file.groupRows.reduce((sum, rows) => sum + rows, 0)
    const plan = await withFormats(
      () => settings.plan({ bytes, isWhole: all <= SAMPLE_ROWS }, input),
      async () => loadFormats?.(),
    )
    this.format = plan.format
    const columns: AddressColumn[] = []
    for (const each of [plan, ...(plan.others ?? [])]) {
      const own = located[columns.length]
      if (each.format === 'ndjson' && own !== undefined)
        columns.push(new AddressColumn(each, set, own, each === plan ? counts : null))
    }
    if (columns.length > 1) counts.others = columns.slice(1).map((column) => column.counts)
    const timePath = columns[0]?.plan.timePath ?? null
    const paths = [...columns.map(({ plan: { path } }) => path), ...(timePath === null ? [] : [timePath])]
    let isChecked = false
    for (const [group, rows] of file.groupRows.entries()) {
      await withPauses(locate(columns, file.textsOf(group, paths)), this.signal)
      output.addGroup(rows)
      input.bytesRead = Math.floor(((input.size ?? 0) * counts.lines) / all)
      if (!isChecked && counts.lines < Math.min(all, SAMPLE_ROWS)) continue
      for (const column of isChecked ? [] : columns)
        checkCounts(column.counts, column.plan, { bytes, isWhole: counts.lines === all }, false)
      isChecked = true
      await output.send()
    }
    this.bytesRead = input.bytesRead = input.size ?? 0
    this.groups = columns[0]?.takeGroups() ?? []
  }
}

/** Locates the rows of a row group. @param parts the texts of the columns of addresses, and then of the times if there are any */
function* locate(columns: readonly AddressColumn[], parts: Iterable<readonly ColumnTexts[]>): Steps<void> {
  for (const texts of parts) {
    const times = texts[columns.length]
    const instants = times === undefined ? null : instantsOf(times)
    for (const [index, column] of columns.entries()) column.add(texts[index] ?? NO_TEXTS, instants)
    yield
  }
}

/** Milliseconds since 1970 of the times of rows. */
function instantsOf({ bytes, starts, ends }: ColumnTexts): Float64Array {
  const instants = new Float64Array(starts.length)
  for (let row = 0; row < starts.length; row++)
    instants[row] = eventTime(bytes, starts[row] ?? 0, ends[row] ?? 0)
  return instants
}

/** Locates the addresses of one column. */
class AddressColumn {
  readonly counts: RunningCounts
  readonly #locator: LineLocator
  readonly #column: ColumnLocator
  readonly #located: LocatedColumns
  readonly #hasAddress: boolean
  /** Counts the rows by their locations; `null` for other addresses than the first. */
  readonly #counter: LineCounter | null
  readonly #view = new CachedView()

  /** @param counts of the first address; `null` for another one */
  constructor(
    readonly plan: NdjsonPlan,
    set: DatabaseSet,
    located: LocatedColumns,
    counts: RunningCounts | null,
  ) {
    const locator = new LineLocator(set, plan)
    const locale = localeOf(plan.locale, plan.cityNames)
    this.counts = counts ?? emptyCounts()
    this.#locator = locator
    this.#located = located
    this.#hasAddress = plan.cells?.hasAddress === true
    const queries = counts === null ? [] : queriesOf(plan)
    this.#counter = queries.length === 0 ? null : new LineCounter(queries, locator, null, locale)
    located.useSource(0)
    this.#column = new ColumnLocator(locator, (bytes, start, end) => {
      // A comma separates an address from the text.
      const from = this.#hasAddress ? start + 1 : start
      located.setText(this.#column.textNumbers.count, bytes.subarray(from, end))
    })
  }

  /** Adds rows. @param instants of the rows; `null` if they have no times */
  add(texts: ColumnTexts, instants: Float64Array | null): void {
    if (this.#column.textNumbers.count > MAX_LOCATIONS) this.#column.textNumbers.restart(0)
    for (let row = 0; row < texts.starts.length; row++) this.#add(texts, row, instants?.[row] ?? NO_TIME)
  }

  #add(texts: ColumnTexts, row: number, instant: number): void {
    const { counts } = this
    const [locator, column, counter] = [this.#locator, this.#column, this.#counter]
    const number = column.textNumber(texts, row, locator.instantOr(instant))
    locator.instant = instant
    this.#located.addNumber(number)
    counts.lines++
    countRead(counts, locator.number, locator.hasTime)
    if (number !== NO_NUMBER && this.#hasAddress) {
      const { ip, ipStart, ipEnd } = locator.cache
      this.#located.setAddress(ip, this.#view.view(ip), ipStart, ipEnd)
    }
    if (counter?.isOfLocations === true) counter.use(locator.number)
    else counter?.count()
  }

  /** The groups of the rows, for each query of the plan. */
  takeGroups(): GroupTotals[] {
    const parts = this.#counter?.take() ?? []
    const groups = queriesOf(this.plan).map((query) => new GroupTotals(query))
    for (const [index, part] of parts.entries()) groups[index]?.add(part)
    return groups
  }
}
