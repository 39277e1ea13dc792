import type { ByteSink } from '../byte-sink.ts'
import { JsonText, jsonRoom } from '../json-text.ts'
import type { LineFormat, LineResult } from '../line-format.ts'
import type { Locator } from '../locator.ts'
import type { ListPlan } from './plan.ts'

const TAB = 0x09
const CARRIAGE_RETURN = 0x0d
const SPACE = 0x20
const HASH = 0x23
const CLOSE_BRACE = 0x7d

/**
 * Lists of addresses, one a line. Blanks around an address are no part of it; lines with nothing but blanks and
 * comments, from a `#` at the start, are blank. Any other line has an address, well or malformed: none is bad.
 *
 * A line becomes `{"ip":"…","location":…}`, or it is kept, and a tab and the location follow.
 */
export class ListLines implements LineFormat {
  readonly rewrites: boolean
  readonly fault = ''
  readonly #locator: Locator
  readonly #text = new JsonText()
  readonly #head: Uint8Array
  readonly #middle: Uint8Array
  readonly #null: Uint8Array

  constructor(plan: ListPlan, locator: Locator) {
    const encoder = new TextEncoder()
    this.rewrites = !plan.append
    this.#locator = locator
    this.#head = encoder.encode('{"ip":"')
    this.#middle = encoder.encode(`",${JSON.stringify(plan.into)}:`)
    this.#null = encoder.encode('null')
  }

  line(bytes: Uint8Array, start: number, end: number, out: ByteSink): LineResult {
    let first = start
    let last = end
    while (first < last && isBlank(bytes[first])) first++
    while (last > first && isBlank(bytes[last - 1])) last--
    if (first === last || bytes[first] === HASH) return 'blank'
    const isLocated = this.#locator.locate(bytes, first, last)
    if (this.rewrites) {
      const into = out.room(this.#head.length + jsonRoom(last - first) + this.#middle.length)
      const behind = this.#text.put(bytes, first, last, into, put(this.#head, into, out.length))
      out.length = put(this.#middle, into, behind)
    } else {
      out.writeRange(bytes, start, end)
      out.writeByte(TAB)
    }
    if (isLocated) this.#locator.writeJson(out)
    else out.write(this.#null)
    if (this.rewrites) out.writeByte(CLOSE_BRACE)
    return isLocated ? 'resolved' : 'unresolved'
  }
}

function isBlank(byte: number | undefined): boolean {
  return byte === SPACE || byte === TAB || byte === CARRIAGE_RETURN
}

/** Writes a short text. @returns where it ends */
function put(text: Uint8Array, into: Uint8Array, at: number): number {
  for (let from = 0; from < text.length; from++) into[at + from] = text[from] ?? 0
  return at + text.length
}
