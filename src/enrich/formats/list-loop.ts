// The fused loop for lists of addresses; see `fused-loop.ts`. A usual line is an address in one plain word and nothing else.
import { NO_TIME } from '../locating/event-time.ts'
import type { LineLocator } from '../locating/line-locator.ts'
import type { CommonPlan } from '../options.ts'
import { type AppendPlan, appendedNothing } from '../writing/appended-location.ts'
import { jsonNothing } from '../writing/column-templates.ts'
import { FusedLoop, OUTPUT_START } from './fused-loop.ts'

const LINE_FEED = 0x0a
const HASH = 0x23

const encoder = /* @__PURE__ */ new TextEncoder()

export class ListLoop extends FusedLoop {
  /** Before the address. */
  readonly #head: Uint8Array
  /** Between the address and its location. */
  readonly #middle: Uint8Array
  /** Follows the address of a line without a location. */
  readonly #nothing: Uint8Array
  readonly #tail: Uint8Array
  /** Whether the location begins with its address. */
  readonly #hasAddress: boolean
  readonly #maxLineBytes: number
  readonly #dropsUnresolved: boolean

  constructor(locator: LineLocator, plan: CommonPlan & AppendPlan) {
    super(locator)
    const { append, fields, into, jsonFields, maxLineBytes, dropUnresolved } = plan
    this.#hasAddress = jsonFields === null && !(append && fields !== null)
    const before = append ? '\t' : `",${JSON.stringify(into)}:`
    this.#head = encoder.encode(append ? '' : '{"ip":"')
    this.#middle = encoder.encode(this.#hasAddress ? `${before}{"ip":"` : before)
    this.#nothing = appendedNothing(plan) ?? encoder.encode(before + jsonNothing(plan))
    this.#tail = encoder.encode(append ? '\n' : '}\n')
    this.#maxLineBytes = maxLineBytes
    this.#dropsUnresolved = dropUnresolved || !locator.writesLines
  }

  run(start: number, end: number): number {
    const { arena, locator } = this
    const [head, middle, nothing, tail] = [this.#head, this.#middle, this.#nothing, this.#tail]
    const fixedBytes = head.length + middle.length + nothing.length + tail.length
    this.instant = NO_TIME
    let { bytes, view } = arena
    let from = start
    let to = OUTPUT_START
    this.begin()
    while (from < end && bytes[from] !== HASH) {
      const lineEnd = this.hostAt(bytes, from, LINE_FEED)
      const size = lineEnd - from
      if (lineEnd === -1 || size > this.#maxLineBytes) break
      const isLocated = this.findText()
      if (bytes !== arena.bytes) {
        bytes = arena.bytes
        view = arena.view
      }
      if (!this.hasRoom(to, 2 * size + fixedBytes + this.textSize)) break
      if (isLocated ? locator.writesLocations : !this.#dropsUnresolved) {
        to = this.putText(bytes, head, to)
        bytes.copyWithin(to, from, lineEnd)
        to += size
        if (isLocated) {
          to = this.putText(bytes, middle, to)
          if (this.#hasAddress) to = this.putAddress(bytes, view, from, lineEnd, to)
          to = this.putLocation(bytes, to)
        } else to = this.putText(bytes, nothing, to)
        to = this.putText(bytes, tail, to)
      }
      this.count(this.number)
      from = lineEnd + 1
    }
    this.outputEnd = to
    return from
  }
}
