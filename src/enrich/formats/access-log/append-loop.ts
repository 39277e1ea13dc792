// The fused loop for access logs whose lines are kept, or counted; see `fused-loop.ts`. A usual line begins with an address, has a time
// in the usual form after it, and ends with a line feed alone.
import type { LineLocator } from '../../locating/line-locator.ts'
import { FIRST_LOCATION } from '../../locating/line-locator.ts'
import { ByteFinder } from '../../swar.ts'
import { FusedLoop, OUTPUT_START } from '../fused-loop.ts'
import type { AccessValues } from './access-values.ts'
import { LOG_TIME_BYTES, LogTime } from './log-time.ts'
import { UsualRequest } from './usual-request.ts'

const TAB = 0x09
const LINE_FEED = 0x0a
const CARRIAGE_RETURN = 0x0d
const SPACE = 0x20
const OPEN = 0x5b
/** A tab and `{"ip":"`, as two words. */
const HEAD = [0x097b2269, 0x70223a22] as const
const HEAD_BYTES = 8
/** `- - `, between the address and the time of most lines. */
const DASHES = 0x2d202d20

export class AppendLoop extends FusedLoop {
  readonly #time = new LogTime()
  readonly #isJson: boolean
  readonly #nothing: Uint8Array
  readonly #maxLineBytes: number
  readonly #dropsUnresolved: boolean
  readonly #values: AccessValues | null
  readonly #request = new UsualRequest()

  /**
   * @param nothing what is appended to a line without a location
   * @param values receives the parts of requests; `null` if they are not read
   */
  constructor(
    locator: LineLocator,
    isJson: boolean,
    nothing: Uint8Array,
    { maxLineBytes, dropUnresolved }: { readonly maxLineBytes: number; readonly dropUnresolved: boolean },
    values: AccessValues | null,
  ) {
    super(locator)
    this.#isJson = isJson
    this.#nothing = nothing
    this.#maxLineBytes = maxLineBytes
    this.#dropsUnresolved = dropUnresolved
    this.#values = values
  }

  run(start: number, end: number): number {
    const { arena, locator } = this
    const { texts } = locator
    const nothing = this.#nothing
    const isWritten = locator.writesLocations
    let { bytes, view } = arena
    let lineFeeds = new ByteFinder(LINE_FEED, bytes)
    let from = start
    let to = OUTPUT_START
    this.begin()
    while (from < end) {
      const host = this.hostAt(bytes, from)
      if (host === -1) break
      const { number } = this
      if (bytes !== arena.bytes) {
        bytes = arena.bytes
        view = arena.view
        lineFeeds = new ByteFinder(LINE_FEED, bytes)
      }
      let time = host + 5
      if (view.getInt32(host + 1) !== DASHES || bytes[time] !== OPEN) {
        time = openingBracket(bytes, host + 1)
        if (time === -1) break
      }
      if (!this.#time.read(bytes, view, time + 1)) break
      const lineEnd = lineFeeds.next(time + LOG_TIME_BYTES + 1, end)
      const size = lineEnd - from
      if (size > this.#maxLineBytes || bytes[lineEnd - 1] === CARRIAGE_RETURN) break
      if (this.#values !== null) {
        const open = time + 2 + LOG_TIME_BYTES
        if (!this.#request.readQuoted(bytes, view, open)) break
        this.#values.useRequest(bytes, this.#request, open + 1, this.#request.quote)
      }
      if (number >= FIRST_LOCATION) {
        if (isWritten) {
          texts.instant = this.#time.instant
          const text = texts.startOf(number - FIRST_LOCATION)
          if (bytes !== arena.bytes) continue
          const textSize = texts.sizeOf(number - FIRST_LOCATION)
          if (!this.hasRoom(to, size + textSize)) break
          bytes.copyWithin(to, from, lineEnd)
          to += size
          if (this.#isJson) {
            view.setInt32(to, HEAD[0])
            view.setInt32(to + 4, HEAD[1])
            to += HEAD_BYTES
            to = this.putAddress(bytes, view, from, host, to)
          } else bytes[to++] = TAB
          bytes.copyWithin(to, text, text + textSize)
          to += textSize
          bytes[to++] = LINE_FEED
        }
      } else {
        if (locator.isUnread(number)) break
        if (!this.#dropsUnresolved) {
          if (!this.hasRoom(to, size + nothing.length)) break
          bytes.copyWithin(to, from, lineEnd)
          to += size
          to = this.putText(bytes, nothing, to)
          bytes[to++] = LINE_FEED
        }
      }
      this.instant = this.#time.instant
      this.count(number)
      from = lineEnd + 1
    }
    this.outputEnd = to
    return from
  }
}

/** The first bracket after a space, after the word at `start`; -1 if the line has none. */
function openingBracket(bytes: Uint8Array, start: number): number {
  let at = start
  while (bytes[at] !== SPACE && bytes[at] !== LINE_FEED) at++
  while (bytes[at] !== LINE_FEED) {
    at++
    if (bytes[at] === OPEN && bytes[at - 1] === SPACE) return at
  }
  return -1
}
