// The fused loop for NDJSON; see `fused-loop.ts`. A usual line matches the template of lines before it, which finds the
// values in it. Its address is a string without escapes.

import { FusedLoop, OUTPUT_START } from '../../engine/fused-loop.ts'
import { eventTime, NO_TIME } from '../../locating/event-time.ts'
import type { LineLocator } from '../../locating/line-locator.ts'
import type { CommonPlan } from '../../options.ts'
import { jsonNothing } from '../../writing/column-templates.ts'
import { braceBefore } from './json-scanner.ts'
import type { TemplateCache } from './line-template.ts'
import { hasEscape, type MemberPath, NOWHERE } from './member-path.ts'

const QUOTE = 0x22

/** The paths to the values that a line is read for. */
export interface WantedPaths {
  readonly address: MemberPath
  readonly dottedAddress: MemberPath | null
  readonly time: MemberPath | null
  readonly dottedTime: MemberPath | null
}

export class MemberLoop extends FusedLoop {
  readonly #templates: TemplateCache
  readonly #paths: WantedPaths
  readonly #useBytes: (bytes: Uint8Array) => void
  /** A comma, the name and a colon. */
  readonly #name: Uint8Array
  /** The same and `null`. */
  readonly #nothing: Uint8Array
  readonly #maxLineBytes: number
  readonly #dropsUnresolved: boolean

  /** @param useBytes receives the bytes of each line that matched, before it is counted */
  constructor(
    locator: LineLocator,
    templates: TemplateCache,
    paths: WantedPaths,
    useBytes: (bytes: Uint8Array) => void,
    plan: Pick<CommonPlan, 'into' | 'asn' | 'maxLineBytes' | 'dropUnresolved'>,
  ) {
    super(locator)
    this.#templates = templates
    this.#paths = paths
    this.#useBytes = useBytes
    const name = `,${JSON.stringify(plan.into)}:`
    this.#name = new TextEncoder().encode(`${name}{"ip":"`)
    this.#nothing = new TextEncoder().encode(name + jsonNothing(plan))
    this.#maxLineBytes = plan.maxLineBytes
    this.#dropsUnresolved = plan.dropUnresolved
  }

  run(start: number, end: number): number {
    const { arena, locator } = this
    const { address, dottedAddress } = this.#paths
    let { bytes, view } = arena
    let from = start
    let to = OUTPUT_START
    this.begin()
    while (from < end) {
      const lineEnd = this.#templates.matchedEnd(bytes, view, from, end)
      const size = lineEnd - from
      if (lineEnd === -1 || size > this.#maxLineBytes) break
      const path = address.start === NOWHERE && dottedAddress !== null ? dottedAddress : address
      if (path.start === NOWHERE || bytes[path.start] !== QUOTE) break
      if (!this.#readTime(bytes)) break
      this.addressIn(bytes, path.start + 1, path.end - 1)
      if (!this.isIPv4 && hasEscape(bytes, path.start, path.end)) break
      const isLocated = this.findText()
      if (bytes !== arena.bytes) {
        bytes = arena.bytes
        view = arena.view
      }
      if (!this.hasRoom(to, size + this.#name.length + this.#nothing.length + this.textSize)) break
      if (isLocated ? locator.writesLocations : !this.#dropsUnresolved) {
        const brace = braceBefore(bytes, lineEnd)
        bytes.copyWithin(to, from, brace)
        to += brace - from
        if (isLocated) {
          to = this.putText(bytes, this.#name, to)
          to = this.putAddress(bytes, view, path.start + 1, path.end - 1, to)
          to = this.putLocation(bytes, to)
        } else to = this.putText(bytes, this.#nothing, to)
        // The brace, and what is after it.
        for (let at = brace; at <= lineEnd; at++) bytes[to++] = bytes[at] ?? 0
      }
      this.#useBytes(bytes)
      this.count(this.number)
      from = lineEnd + 1
    }
    this.outputEnd = to
    return from
  }

  /** Sets `instant` to that of the line that matched last. @returns `false` if its text may have escapes */
  #readTime(bytes: Uint8Array): boolean {
    const { time, dottedTime } = this.#paths
    this.instant = NO_TIME
    if (time === null) return true
    const { start, end } = time.start === NOWHERE && dottedTime !== null ? dottedTime : time
    if (start === NOWHERE) return true
    const isText = bytes[start] === QUOTE
    this.instant = isText ? eventTime(bytes, start + 1, end - 1) : eventTime(bytes, start, end)
    return !isText || !Number.isNaN(this.instant)
  }
}
