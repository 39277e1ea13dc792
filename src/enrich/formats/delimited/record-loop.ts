// The fused loop for CSV and TSV; see `fused-loop.ts`. A usual record is one line, all its quotes are closed, and it has as many
// columns as the header. Columns are appended and none is replaced.

import { FusedLoop, OUTPUT_START } from '../../engine/fused-loop.ts'
import { eventTime, NO_TIME } from '../../locating/event-time.ts'
import type { LineLocator } from '../../locating/line-locator.ts'
import type { RecordFields } from '../../reading/record-fields.ts'
import { ByteFinder } from '../../swar.ts'
import type { DelimitedPlan } from './plan.ts'
import type { RecordValues } from './record-values.ts'

const LINE_FEED = 0x0a
const CARRIAGE_RETURN = 0x0d
const SPACE = 0x20

export class RecordLoop extends FusedLoop {
  readonly #plan: DelimitedPlan
  readonly #record: RecordFields
  readonly #values: RecordValues
  readonly #nothing: Uint8Array

  /**
   * @param values of `record` that are counted
   * @param nothing the columns of a record without a location
   */
  constructor(
    locator: LineLocator,
    plan: DelimitedPlan,
    record: RecordFields,
    values: RecordValues,
    nothing: Uint8Array,
  ) {
    super(locator)
    this.#plan = plan
    this.#record = record
    this.#values = values
    this.#nothing = nothing
  }

  run(start: number, end: number): number {
    const { arena, locator } = this
    const { address, time, width, delimiter, maxLineBytes, dropUnresolved, counted = [] } = this.#plan
    const last = Math.max(address, time ?? 0)
    // Tabs are control characters.
    const readsLines = counted.length === 0 && delimiter > SPACE
    const record = this.#record
    let { bytes } = arena
    let lineFeeds = new ByteFinder(LINE_FEED, bytes)
    let from = start
    let to = OUTPUT_START
    this.begin()
    while (from < end) {
      let lineEnd = readsLines ? record.readLine(bytes, from, last) : -1
      if (lineEnd === -1) {
        lineEnd = lineFeeds.next(from, end)
        if (lineEnd === from || bytes[lineEnd - 1] === CARRIAGE_RETURN) break
        if (!record.read(bytes, from, lineEnd) || record.textAfterQuote > 0) break
      }
      const size = lineEnd - from
      if (size > maxLineBytes || record.count !== width) break
      this.instant = NO_TIME
      if (time !== null) {
        record.findValue(bytes, time)
        this.instant = eventTime(bytes, record.valueStart, record.valueEnd)
      }
      record.findValue(bytes, address)
      this.addressIn(bytes, record.valueStart, record.valueEnd)
      const isLocated = this.findText()
      if (bytes !== arena.bytes) {
        bytes = arena.bytes
        lineFeeds = new ByteFinder(LINE_FEED, bytes)
      }
      if (!this.hasRoom(to, size + this.#nothing.length + this.textSize)) break
      if (isLocated ? locator.writesLocations : !dropUnresolved) {
        bytes.copyWithin(to, from, lineEnd)
        to += size
        if (isLocated) {
          bytes[to++] = delimiter
          to = this.putLocation(bytes, to)
        } else to = this.putText(bytes, this.#nothing, to)
        bytes[to++] = LINE_FEED
      }
      this.#values.use(bytes)
      this.count(this.number)
      from = lineEnd + 1
    }
    this.outputEnd = to
    return from
  }
}
