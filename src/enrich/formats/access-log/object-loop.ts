// The fused loop for access logs that become objects; see `fused-loop.ts`. A usual line is
//
//     address - user [10/Oct/2000:13:55:36 -0700] "METHOD target HTTP/1.1" 200 1234
//
// with or without `"referrer" "user agent"` after it, and nothing else. It has no byte that JSON must escape, and no quotes
// inside its quoted parts.
import { FIRST_LOCATION, type LineLocator } from '../../locating/line-locator.ts'
import { ByteFinder, escapesIn, firstOf, viewOf } from '../../swar.ts'
import { FusedLoop, OUTPUT_START } from '../fused-loop.ts'
import type { AccessValues } from './access-values.ts'
import { ISO_BYTES, LOG_TIME_BYTES, LogTime } from './log-time.ts'
import { SIZE_AFTER, STATUS_AFTER, UsualRequest } from './usual-request.ts'

const LINE_FEED = 0x0a
const SPACE = 0x20
const QUOTE = 0x22
const DASH = 0x2d
const OPEN = 0x5b
const BACKSLASH = 0x5c
const DELETE = 0x7f

/** `- - `, between the address and the time of most lines. */
const DASHES = 0x2d202d20

// Bytes that are read or written as a little-endian number.
/** `null`. */
const NULL = 0x6c6c756e
/** A dash and a quote. */
const DASH_QUOTE = 0x222d
/** A space and a quote. */
const SPACE_QUOTE = 0x2220
/** A brace and a line feed. */
const BRACE_LINE_FEED = 0x0a7d

const encoder = /* @__PURE__ */ new TextEncoder()
const HEAD = '{"ip":"'
// Texts of each line, as doubles: V8 has these in its code. To copy them from an array took twice as long.
const [IP] = doublesOf(HEAD)
const [USER, USER_8, USER_16] = doublesOf('","ident":null,"user":')
const [TIME, TIME_8] = doublesOf(',"time":"')
const [METHOD, METHOD_8] = doublesOf('","method":"')
const [TARGET, TARGET_8] = doublesOf('","target":"')
const [PROTOCOL, PROTOCOL_8] = doublesOf('","protocol":"')
const [STATUS, STATUS_8] = doublesOf('","status":')
const [SIZE, SIZE_8] = doublesOf(',"bytes":')
const [REFERRER, REFERRER_8] = doublesOf(',"referrer":')
const [AGENT, AGENT_8] = doublesOf(',"user_agent":')
/** More than the bytes of all texts that are not in the line. */
const FIXED_BYTES = 256

export class ObjectLoop extends FusedLoop {
  readonly #time = new LogTime()
  readonly #request = new UsualRequest()
  /** A comma, the name of the location, and the start of a location or `null`. */
  readonly #located: Uint8Array
  readonly #nothing: Uint8Array
  readonly #maxLineBytes: number
  readonly #dropsUnresolved: boolean
  /** Where the part that was written last ends in the line. */
  #partEnd = 0
  readonly #values: AccessValues
  #searched: Uint8Array
  #lineFeeds: ByteFinder

  /** @param values receives the parts of requests */
  constructor(
    locator: LineLocator,
    plan: { readonly into: string; readonly maxLineBytes: number; readonly dropUnresolved: boolean },
    values: AccessValues,
  ) {
    super(locator)
    this.#values = values
    this.#searched = this.arena.bytes
    this.#lineFeeds = new ByteFinder(LINE_FEED, this.#searched)
    const name = `,${JSON.stringify(plan.into)}:`
    this.#located = encoder.encode(name + HEAD)
    this.#nothing = encoder.encode(`${name}null`)
    this.#maxLineBytes = plan.maxLineBytes
    this.#dropsUnresolved = plan.dropUnresolved
  }

  run(start: number, end: number): number {
    const { arena, locator } = this
    const { texts } = locator
    const clock = this.#time
    const parts = this.#request
    let from = start
    let written = OUTPUT_START
    this.begin()
    while (from < end) {
      const host = this.hostAt(arena.bytes, from)
      if (host === -1) break
      const { number } = this
      const isLocated = number >= FIRST_LOCATION
      const { bytes, view } = arena
      if (!isLocated && locator.isUnread(number)) break
      let time = host + 5
      if (view.getInt32(host + 1) !== DASHES || bytes[time] !== OPEN) {
        time = afterUser(bytes, host)
        if (time === -1) break
      }
      if (!clock.read(bytes, view, time + 1)) break
      // A line that is only counted has no quotes to be found: its end and its request are enough.
      if (isLocated && !locator.writesLocations) {
        const open = time + 2 + LOG_TIME_BYTES
        const lineEnd = this.#lineFeedAfter(bytes, open, end)
        if (lineEnd - from > this.#maxLineBytes || !parts.readQuoted(bytes, view, open)) break
        this.instant = clock.instant
        this.#values.useRequest(bytes, parts, open + 1, parts.quote)
        this.count(number)
        from = lineEnd + 1
        continue
      }
      const request = time + 3 + LOG_TIME_BYTES
      if (view.getInt16(request - 2, true) !== SPACE_QUOTE || !parts.readMethod(bytes, request)) break
      let text = 0
      let textSize = 0
      if (isLocated) {
        texts.instant = clock.instant
        text = texts.startOf(number - FIRST_LOCATION)
        if (bytes !== arena.bytes) continue
        textSize = texts.sizeOf(number - FIRST_LOCATION)
      }

      // Writes each part when it is read. A line that turns out to be unusual is written over by the next one.
      let to = written
      view.setFloat64(to, IP, true)
      to = copy(view, from, host, to + HEAD.length)
      view.setFloat64(to, USER, true)
      view.setFloat64(to + 8, USER_8, true)
      view.setFloat64(to + 16, USER_16, true)
      to += 22
      if (time === host + 5 && bytes[host + 3] === DASH) {
        view.setInt32(to, NULL, true)
        to += 4
      } else {
        bytes[to] = QUOTE
        to = copy(view, host + 3, time - 1, to + 1)
        bytes[to++] = QUOTE
      }
      view.setFloat64(to, TIME, true)
      view.setFloat64(to + 8, TIME_8, true)
      to += 9
      clock.put(view, time + 1, to)
      to += ISO_BYTES
      view.setFloat64(to, METHOD, true)
      view.setFloat64(to + 8, METHOD_8, true)
      const { method } = parts
      to = copy(view, request, method, to + 12)
      view.setFloat64(to, TARGET, true)
      view.setFloat64(to + 8, TARGET_8, true)
      to += 12
      const requestEnd = copyText(view, method + 1, to)
      if (bytes[requestEnd] !== QUOTE || !parts.readRest(bytes, requestEnd)) break
      const { target, sizeEnd } = parts
      to += target - method - 1
      view.setFloat64(to, PROTOCOL, true)
      view.setFloat64(to + 8, PROTOCOL_8, true)
      to = copy(view, target + 1, requestEnd, to + 14)
      view.setFloat64(to, STATUS, true)
      view.setFloat64(to + 8, STATUS_8, true)
      view.setInt32(to + 11, view.getInt32(requestEnd + STATUS_AFTER, true), true)
      to += 14
      view.setFloat64(to, SIZE, true)
      view.setFloat64(to + 8, SIZE_8, true)
      to += 9
      const size = requestEnd + SIZE_AFTER
      if (bytes[size] === DASH) {
        view.setInt32(to, NULL, true)
        to += 4
      } else to = copy(view, size, sizeEnd, to)

      // "referrer" "user agent"
      const hasParts = bytes[sizeEnd] !== LINE_FEED
      if (hasParts && view.getInt16(sizeEnd, true) !== SPACE_QUOTE) break
      view.setFloat64(to, REFERRER, true)
      view.setFloat64(to + 8, REFERRER_8, true)
      to = this.#putPart(bytes, view, hasParts, sizeEnd + 2, to + 12)
      if (hasParts) {
        const after = this.#partEnd
        if (bytes[after] !== QUOTE || view.getInt16(after + 1, true) !== SPACE_QUOTE) break
      }
      view.setFloat64(to, AGENT, true)
      view.setFloat64(to + 8, AGENT_8, true)
      to = this.#putPart(bytes, view, hasParts, this.#partEnd + 3, to + 14)
      const lineEnd = hasParts ? this.#partEnd + 1 : sizeEnd
      if (bytes[lineEnd] !== LINE_FEED || (hasParts && bytes[lineEnd - 1] !== QUOTE)) break
      if (lineEnd - from > this.#maxLineBytes) break
      if (!this.hasRoom(to, FIXED_BYTES + textSize + this.#located.length)) break
      if (isLocated) {
        to = this.putText(bytes, this.#located, to)
        to = this.putAddress(bytes, view, from, host, to)
        bytes.copyWithin(to, text, text + textSize)
        to += textSize
      } else to = this.putText(bytes, this.#nothing, to)
      view.setInt16(to, BRACE_LINE_FEED, true)
      if (isLocated || !this.#dropsUnresolved) written = to + 2
      this.instant = clock.instant
      this.#values.useRequest(bytes, parts, request, requestEnd)
      this.count(number)
      from = lineEnd + 1
    }
    this.outputEnd = written
    return from
  }

  #lineFeedAfter(bytes: Uint8Array, start: number, end: number): number {
    if (this.#searched !== bytes) {
      this.#searched = bytes
      this.#lineFeeds = new ByteFinder(LINE_FEED, bytes)
    }
    return this.#lineFeeds.next(start, end)
  }

  /** Writes the quoted part that begins at `start`, or `null` if it is a dash or is not there. @returns where it ends */
  #putPart(bytes: Uint8Array, view: DataView, isThere: boolean, start: number, to: number): number {
    if (!isThere || view.getInt16(start, true) === DASH_QUOTE) {
      this.#partEnd = start + 1
      view.setInt32(to, NULL, true)
      return to + 4
    }
    bytes[to] = QUOTE
    const end = copyText(view, start, to + 1)
    this.#partEnd = end
    const after = to + 1 + end - start
    bytes[after] = QUOTE
    return after + 1
  }
}

/** Where the bracket of the time is, after `- user `; -1 if the user is not a plain word. */
function afterUser(bytes: Uint8Array, host: number): number {
  if (bytes[host + 1] !== DASH || bytes[host + 2] !== SPACE) return -1
  let at = host + 3
  for (; bytes[at] !== SPACE; at++) {
    const byte = bytes[at] ?? 0
    if (byte < SPACE || byte >= DELETE || byte === QUOTE || byte === BACKSLASH) return -1
  }
  return at > host + 3 && bytes[at + 1] === OPEN ? at + 1 : -1
}

/** A text of at most 24 bytes as doubles that are little-endian, with spaces after it. */
function doublesOf(text: string): readonly [number, number, number] {
  const view = viewOf(encoder.encode(text.padEnd(24)))
  return [view.getFloat64(0, true), view.getFloat64(8, true), view.getFloat64(16, true)]
}

/** Copies `[start, end)`, and up to three bytes more. @returns where the copy ends */
function copy(view: DataView, start: number, end: number, to: number): number {
  const size = end - start
  for (let at = 0; at < size; at += 4) view.setInt32(to + at, view.getInt32(start + at, true), true)
  return to + size
}

/**
 * Copies text up to the next byte that JSON must escape or that is not ASCII, which a line has at its end at the latest, and
 * up to eight bytes more.
 *
 * @returns where that byte is
 */
function copyText(view: DataView, start: number, to: number): number {
  // Searched and copied at once, with two words for each branch.
  for (let at = start, into = to; ; at += 8, into += 8) {
    const first = view.getInt32(at, true)
    const second = view.getInt32(at + 4, true)
    view.setInt32(into, first, true)
    view.setInt32(into + 4, second, true)
    const ends = escapesIn(first)
    const others = escapesIn(second)
    if ((ends | others) !== 0) return ends === 0 ? at + 4 + firstOf(others) : at + firstOf(ends)
  }
}
