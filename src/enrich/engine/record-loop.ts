// The fast way of the engine: usual records, in an arena that holds a slice of the input, the output and the texts of locations.
// It stops at each record that is unusual in any way, which RecordLines takes. Tests compare both.

import type { Arena } from '../../bytes/arena.ts'
import type { ByteSink } from '../../bytes/byte-sink.ts'
import { LINE_FEED } from '../ascii.ts'
import { countRead, type RunningCounts } from '../counting/counts.ts'
import { NOT_IPV4 } from '../locating/address-cache.ts'
import type { LineCounter } from '../locating/line-counter.ts'
import { FIRST_LOCATION, type LineLocator } from '../locating/line-locator.ts'
import type { CommonPlan } from '../options.ts'
import type { RecordReader } from '../reading/record-reader.ts'
import { NO_NUMBER } from '../writing/location-columns.ts'
import type { OtherAddress } from './other-address.ts'
import type { RecordOutput } from './record-writer.ts'

/** Bytes of input in the arena. Input and output together fit in the second-level cache of most processors. */
const INPUT_BYTES = 131_072
/** Readers and writers use whole words, so up to this many bytes after the end of a text. */
const SPARE_BYTES = 64
/** Where the output begins in the arena. */
const OUTPUT_START = INPUT_BYTES + SPARE_BYTES
/** The most output of one run. */
export const OUTPUT_BYTES = 524_288
const OUTPUT_END = OUTPUT_START + OUTPUT_BYTES

export class RecordLoop {
  /** Counts the lines; set before the first one. `null` if nothing of them is counted. */
  counter: LineCounter | null = null
  /** Writes the records as rows; `null` if the writer writes them. */
  row: RecordOutput | null = null
  readonly #arena: Arena
  #bytes: Uint8Array = new Uint8Array(0)
  #size = 0
  /** The part of the block that is in the arena. */
  #sliceStart = 0
  #sliceEnd = 0
  #outputEnd = OUTPUT_START

  /**
   * @param locator one that has located nothing yet
   * @param writer writes the records; `null` if nothing is written
   * @param onlyFailed whether records with a location are not written: those without one are left to `RecordLines`, since the
   *   reader finds no fields of them
   */
  constructor(
    private readonly reader: RecordReader,
    private readonly locator: LineLocator,
    private readonly writer: RecordOutput | null,
    private readonly onlyFailed: boolean,
    private readonly plan: Pick<CommonPlan, 'maxLineBytes' | 'dropUnresolved'>,
    private readonly others: readonly OtherAddress[],
  ) {
    this.#arena = locator.texts.arena
    this.#arena.fix(OUTPUT_END + SPARE_BYTES)
  }

  /** Begins a block: the first `size` bytes of an array. */
  reset(bytes: Uint8Array, size: number): void {
    this.#bytes = bytes
    this.#size = size
    this.#sliceStart = 0
    this.#sliceEnd = 0
  }

  /**
   * Enriches the usual lines from `start`, at most a slice of them.
   *
   * @returns where it stopped: `start` if the line there is not usual
   */
  run(start: number, out: ByteSink, counts: RunningCounts): number {
    if (start >= this.#sliceEnd && !this.#copySlice(start)) return start
    const stop = this.#run(start - this.#sliceStart, this.#sliceEnd - this.#sliceStart, counts)
    out.write(this.#arena.bytes, OUTPUT_START, this.#outputEnd)
    return stop + this.#sliceStart
  }

  /** Copies whole lines into the arena. @returns whether there is a whole line that fits */
  #copySlice(start: number): boolean {
    const most = Math.min(start + INPUT_BYTES, this.#size)
    const end = this.#bytes.lastIndexOf(LINE_FEED, most - 1) + 1
    if (end <= start) return false
    this.#arena.bytes.set(this.#bytes.subarray(start, end))
    this.#sliceStart = start
    this.#sliceEnd = end
    return true
  }

  /** Enriches lines of `arena.bytes[start, end)`. Writes to the output from its start. @returns where it stopped */
  #run(start: number, end: number, counts: RunningCounts): number {
    const { reader, locator } = this
    const arena = this.#arena
    const { maxLineBytes, dropUnresolved } = this.plan
    const { texts, cache, isPlain, writesLocations } = locator
    const { rereads } = reader
    const output = this.row ?? this.writer
    let { bytes, view } = arena
    let from = start
    let to = OUTPUT_START
    while (from < end) {
      const lineEnd = reader.usual(bytes, view, from, end)
      if (lineEnd === -1 || lineEnd - from > maxLineBytes) break
      const isIPv4 = isPlain && reader.ipv4 !== NOT_IPV4
      const { addressStart, addressEnd } = reader
      const number = isIPv4
        ? locator.numberOfIPv4(reader.ipv4)
        : locator.numberOf(bytes, addressStart, addressEnd)
      const isLocated = number >= FIRST_LOCATION
      if (!isLocated && ((this.onlyFailed && !reader.isPlain) || (rereads && !locator.isAddress(number))))
        break
      if (!this.#readOthers(bytes, view, from, end, lineEnd)) break
      const isWanted = locator.wants(number)
      if (isWanted && output !== null && (isLocated ? writesLocations : !dropUnresolved)) {
        if (isLocated) texts.instant = locator.instantOr(reader.instant)
        output.locate(isLocated ? number - FIRST_LOCATION : NO_NUMBER)
        if (bytes !== arena.bytes) {
          // The arena has grown.
          bytes = arena.bytes
          view = arena.view
          reader.record = bytes
        }
        if (!output.fits || to + output.room > OUTPUT_END) break
        if (isIPv4) {
          cache.ip = bytes
          cache.ipStart = addressStart
          cache.ipEnd = addressEnd
        }
        to = output.put(bytes, view, to)
        bytes[to++] = LINE_FEED
      } else if (bytes !== arena.bytes) {
        bytes = arena.bytes
        view = arena.view
      }
      counts.lines++
      if (isWanted) this.#count(number, isIPv4, counts)
      else counts.excluded++
      from = lineEnd + 1
    }
    this.#outputEnd = to
    return from
  }

  /** Reads the other addresses of a usual record. @returns whether it is usual for each of them */
  #readOthers(bytes: Uint8Array, view: DataView, start: number, limit: number, lineEnd: number): boolean {
    for (const other of this.others) if (other.usual(bytes, view, start, limit) !== lineEnd) return false
    return true
  }

  #count(number: number, isIPv4: boolean, counts: RunningCounts): void {
    for (const other of this.others) other.count()
    const { reader, locator } = this
    const { instant } = reader
    countRead(counts, number, !Number.isNaN(instant))
    const { counter } = this
    if (counter?.isOfLocations === true) counter.use(number)
    else if (counter !== null) {
      // If the locator has read the text of the address, it knows whether that is IPv4.
      locator.take(number, instant, isIPv4 ? reader.ipv4 : locator.cache.ipv4)
      counter.count()
    }
  }
}
