// The fused loop for access logs that become objects; see `fused-loop.ts`. A usual line is
//
//     address - user [10/Oct/2000:13:55:36 -0700] "METHOD target HTTP/1.1" 200 1234
//
// with or without `"referrer" "user agent"` after it, and nothing else. It has no byte that JSON must escape, and no quotes
// inside its quoted parts.
import { FIRST_LOCATION, type LineLocator } from '../../locating/line-locator.ts'
import { ByteFinder, mayNeedEscape, viewOf } from '../../swar.ts'
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
const CLOSE_BRACE = 0x7d
const DELETE = 0x7f

/** `- - `, between the address and the time of most lines. */
const DASHES = 0x2d202d20
/** `null`. */
const NULL = 0x6e756c6c
/** Quotes of a line with all parts. */
const MOST_QUOTES = 6
/** Longer texts are copied by `copyWithin`, shorter ones by words. */
const LONG_BYTES = 96

/** Each text has this room, so that it can be copied as three words. */
const TEXT_BYTES = 24
const TEXTS = [
  '{"ip":"',
  '","ident":null,"user":',
  ',"time":"',
  '","method":"',
  '","target":"',
  '","protocol":"',
  '","status":',
  ',"bytes":',
  ',"referrer":',
  ',"user_agent":',
] as const
const FIXED = /* @__PURE__ */ viewOf(
  /* @__PURE__ */ new TextEncoder().encode(TEXTS.map((text) => text.padEnd(TEXT_BYTES)).join('')),
)
const [IP, USER, TIME, METHOD, TARGET] = [0, 1, 2, 3, 4] as const
const [PROTOCOL, STATUS, SIZE, REFERRER, AGENT] = [5, 6, 7, 8, 9] as const
const FIXED_BYTES = TEXTS.join('').length + ISO_BYTES + 32

export class ObjectLoop extends FusedLoop {
  readonly #time = new LogTime()
  readonly #request = new UsualRequest()
  /** Where the quotes of the line are. */
  readonly #quotes = new Int32Array(MOST_QUOTES)
  readonly #into: Uint8Array
  readonly #maxLineBytes: number
  readonly #dropsUnresolved: boolean
  /** Where the last line ends. */
  #lineEnd = 0
  readonly #values: AccessValues

  /** @param values receives the parts of requests */
  constructor(
    locator: LineLocator,
    plan: { readonly into: string; readonly maxLineBytes: number; readonly dropUnresolved: boolean },
    values: AccessValues,
  ) {
    super(locator)
    this.#values = values
    this.#into = new TextEncoder().encode(`,${JSON.stringify(plan.into)}:`)
    this.#maxLineBytes = plan.maxLineBytes
    this.#dropsUnresolved = plan.dropUnresolved
  }

  run(start: number, end: number): number {
    const { arena, locator } = this
    const { texts } = locator
    const quotes = this.#quotes
    const parts = this.#request
    const into = this.#into
    const isCounted = !locator.writesLocations
    let { bytes, view } = arena
    let lineFeeds = new ByteFinder(LINE_FEED, bytes)
    let from = start
    let to = OUTPUT_START
    this.begin()
    while (from < end) {
      const host = this.hostAt(bytes, from)
      if (host === -1) break
      const number = this.number
      if (bytes !== arena.bytes) {
        bytes = arena.bytes
        view = arena.view
        lineFeeds = new ByteFinder(LINE_FEED, bytes)
      }
      if (number < FIRST_LOCATION && locator.isUnread(number)) break
      let time = host + 5
      if (view.getInt32(host + 1) !== DASHES || bytes[time] !== OPEN) {
        time = afterUser(bytes, host)
        if (time === -1) break
      }
      if (!this.#time.read(bytes, view, time + 1)) break
      // A line that is only counted has no quotes to be found: its end and its request are enough.
      if (isCounted && number >= FIRST_LOCATION) {
        const open = time + 2 + LOG_TIME_BYTES
        const lineEnd = lineFeeds.next(open, end)
        if (lineEnd - from > this.#maxLineBytes || !parts.readQuoted(bytes, view, open)) break
        this.instant = this.#time.instant
        this.#values.useRequest(bytes, parts, open + 1, parts.quote)
        this.count(number)
        from = lineEnd + 1
        continue
      }
      const count = this.#scan(bytes, view, time + 1 + LOG_TIME_BYTES)
      const lineEnd = this.#lineEnd
      if (count === -1 || lineEnd - from > this.#maxLineBytes) break

      const request = time + 3 + LOG_TIME_BYTES
      const requestEnd = quotes[1] ?? 0
      if (quotes[0] !== request - 1 || bytes[request - 2] !== SPACE) break
      if (!parts.read(bytes, request, requestEnd)) break
      const { method, target, sizeEnd } = parts
      const status = requestEnd + STATUS_AFTER
      const size = requestEnd + SIZE_AFTER

      // "referrer" "user agent"
      if (count === MOST_QUOTES) {
        const agent = quotes[4] ?? 0
        if (bytes[sizeEnd] !== SPACE || quotes[2] !== sizeEnd + 1) break
        if (agent !== (quotes[3] ?? 0) + 2 || bytes[agent - 1] !== SPACE) break
        if ((quotes[5] ?? 0) + 1 !== lineEnd) break
      } else if (count !== 2 || sizeEnd !== lineEnd) break

      let text = 0
      let textSize = 0
      if (number >= FIRST_LOCATION) {
        texts.instant = this.#time.instant
        text = texts.startOf(number - FIRST_LOCATION)
        if (bytes !== arena.bytes) continue
        textSize = texts.sizeOf(number - FIRST_LOCATION)
      }
      const isWritten = number >= FIRST_LOCATION || !this.#dropsUnresolved
      if (!this.hasRoom(to, lineEnd - from + FIXED_BYTES + into.length + textSize)) break
      if (isWritten) {
        to = put(view, IP, to)
        to = copy(bytes, view, from, host, to)
        to = put(view, USER, to)
        to =
          time === host + 5 && bytes[host + 3] === DASH
            ? putNull(view, to)
            : quote(bytes, view, host + 3, time - 1, to)
        to = put(view, TIME, to)
        this.#time.put(view, time + 1, to)
        to = put(view, METHOD, to + ISO_BYTES)
        to = copy(bytes, view, request, method, to)
        to = put(view, TARGET, to)
        to = copy(bytes, view, method + 1, target, to)
        to = put(view, PROTOCOL, to)
        to = copy(bytes, view, target + 1, requestEnd, to)
        to = put(view, STATUS, to)
        to = copy(bytes, view, status, status + 3, to)
        to = put(view, SIZE, to)
        to = bytes[size] === DASH ? putNull(view, to) : copy(bytes, view, size, sizeEnd, to)
        to = put(view, REFERRER, to)
        to =
          count === 2 ? putNull(view, to) : quoteOrNull(bytes, view, (quotes[2] ?? 0) + 1, quotes[3] ?? 0, to)
        to = put(view, AGENT, to)
        to =
          count === 2 ? putNull(view, to) : quoteOrNull(bytes, view, (quotes[4] ?? 0) + 1, quotes[5] ?? 0, to)
        to = this.putText(bytes, into, to)
        if (number >= FIRST_LOCATION) {
          to = put(view, IP, to)
          to = this.putAddress(bytes, view, from, host, to)
          bytes.copyWithin(to, text, text + textSize)
          to += textSize
        } else to = putNull(view, to)
        bytes[to++] = CLOSE_BRACE
        bytes[to++] = LINE_FEED
      }
      this.instant = this.#time.instant
      this.#values.useRequest(bytes, parts, request, requestEnd)
      this.count(number)
      from = lineEnd + 1
    }
    this.outputEnd = to
    return from
  }

  /**
   * Finds the line feed after `start`, and the quotes before it.
   *
   * @returns how many quotes there are; -1 if there are more than six, or bytes that JSON must escape
   */
  #scan(bytes: Uint8Array, view: DataView, start: number): number {
    const quotes = this.#quotes
    let count = 0
    for (let at = start; ; at += 4) {
      if (!mayNeedEscape(view.getInt32(at))) continue
      for (let each = at; each < at + 4; each++) {
        const byte = bytes[each] ?? 0
        if (byte === QUOTE) {
          if (count === MOST_QUOTES) return -1
          quotes[count++] = each
        } else if (byte === LINE_FEED) {
          this.#lineEnd = each
          return count
        } else if (byte < SPACE || byte >= DELETE || byte === BACKSLASH) return -1
      }
    }
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

/** Writes a fixed text, and up to {@link TEXT_BYTES} in all. @returns where the text ends */
function put(view: DataView, text: number, to: number): number {
  const from = text * TEXT_BYTES
  view.setFloat64(to, FIXED.getFloat64(from))
  view.setFloat64(to + 8, FIXED.getFloat64(from + 8))
  view.setFloat64(to + 16, FIXED.getFloat64(from + 16))
  return to + (TEXTS[text]?.length ?? 0)
}

function putNull(view: DataView, to: number): number {
  view.setInt32(to, NULL)
  return to + 4
}

/**
 * Copies `bytes[start, end)`, which is ASCII, by words. A word of ASCII is never a NaN, which V8 could change.
 *
 * @returns where the copy ends
 */
function copy(bytes: Uint8Array, view: DataView, start: number, end: number, to: number): number {
  const size = end - start
  if (size > LONG_BYTES) bytes.copyWithin(to, start, end)
  else for (let at = 0; at < size; at += 8) view.setFloat64(to + at, view.getFloat64(start + at))
  return to + size
}

function quote(bytes: Uint8Array, view: DataView, start: number, end: number, to: number): number {
  bytes[to] = QUOTE
  const after = copy(bytes, view, start, end, to + 1)
  bytes[after] = QUOTE
  return after + 1
}

function quoteOrNull(bytes: Uint8Array, view: DataView, start: number, end: number, to: number): number {
  return end === start + 1 && bytes[start] === DASH ? putNull(view, to) : quote(bytes, view, start, end, to)
}
