import { type FieldValues, fieldIndex } from '../../counting/field-values.ts'
import { ABSENT, type AccessLine, isDash, PARTS, REQUEST_PARTS } from './access-line.ts'
import type { UsualRequest } from './usual-request.ts'

/** The values of the parts of a line that are counted. A line whose location is enough is not read to its end before. */
export class AccessValues implements FieldValues {
  bytes: Uint8Array = new Uint8Array(0)
  start = 0
  end = 0
  readonly #line: AccessLine
  readonly #parts: readonly number[]
  #lineEnd = 0
  #isRead = true

  /** @param fields names of parts */
  constructor(line: AccessLine, fields: readonly string[]) {
    this.#line = line
    this.#parts = fields.map((field) => fieldIndex(PARTS, field))
  }

  /** Whether all values are of {@link REQUEST_PARTS}. */
  get areOfRequests(): boolean {
    return this.#parts.every((part) => REQUEST_PARTS.includes(part))
  }

  /** Takes the next line. A fused loop has read its request. */
  useRequest(bytes: Uint8Array, request: UsualRequest, start: number, quote: number): void {
    this.bytes = bytes
    this.#isRead = true
    this.#line.useRequest(request, start, quote)
  }

  /** Takes the next line. @param isRead whether its parts after the time are read */
  use(bytes: Uint8Array, lineEnd: number, isRead: boolean): void {
    this.bytes = bytes
    this.#lineEnd = lineEnd
    this.#isRead = isRead
  }

  find(field: number): boolean {
    if (!this.#isRead) {
      this.#line.readParts(this.bytes, this.#lineEnd)
      this.#isRead = true
    }
    const part = this.#parts[field] ?? 0
    this.start = this.#line.starts[part] ?? ABSENT
    this.end = this.#line.ends[part] ?? 0
    return this.start !== ABSENT && !isDash(this.bytes, this.start, this.end)
  }
}
