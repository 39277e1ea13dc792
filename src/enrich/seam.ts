// Several inputs in one output: their kind, their headers, and the line end between two of them.
import { InputMismatchError } from './errors.ts'
import type { Plan } from './formats/formats.ts'
import { markLength } from './sample.ts'
import { preambleLength, recordEndsOf } from './splitter.ts'

const LINE_FEED = 0x0a
const CARRIAGE_RETURN = 0x0d

const NO_BYTES = new Uint8Array(0)

/** The start of an input, before its first record. */
export interface Head {
  readonly plan: Plan
  /** The line with the column names, without its line end. Empty if there is none. */
  readonly header: Uint8Array
  /** Bytes before the first record: a byte order mark, the line with the separator, and the header. */
  readonly length: number
  /** Physical lines before the first record. A quoted column name can contain line feeds. */
  readonly lines: number
}

/** @param sample the start of an input */
export function headOf(sample: Uint8Array, plan: Plan): Head {
  let start = markLength(sample)
  const headerLine = 'headerLine' in plan && start < sample.length ? plan.headerLine : 0
  if (headerLine === 0) {
    const length = preambleLength(sample, sample.length, plan)
    return { plan, header: NO_BYTES, length, lines: length > start ? 1 : 0 }
  }
  const before = start
  for (let line = 1; line < headerLine; line++) start = sample.indexOf(LINE_FEED, start) + 1
  const ends = recordEndsOf(plan)
  ends.reset(sample)
  const lineFeed = ends.next(start, sample.length, true)
  const end = sample[lineFeed - 1] === CARRIAGE_RETURN ? lineFeed - 1 : lineFeed
  const length = Math.min(lineFeed + 1, sample.length)
  const lines = sample.subarray(before, length).reduce((sum, byte) => sum + (byte === LINE_FEED ? 1 : 0), 0)
  return { plan, header: sample.subarray(start, end), length, lines }
}

/** @throws InputMismatchError when the formats, headers or numbers of columns of two inputs differ */
export function checkSameKind(first: Head, firstName: string, next: Head, name: string): void {
  const { plan } = first
  if (next.plan.format !== plan.format) {
    throw new InputMismatchError(
      `${name} is ${next.plan.format}, and ${firstName} is ${plan.format}: one run takes files of one format`,
    )
  }
  if (!('width' in plan && 'width' in next.plan)) return
  if (!isSame(first.header, next.header)) {
    throw new InputMismatchError(`the header of ${name} is not that of ${firstName}`)
  }
  if (plan.width !== next.plan.width) {
    throw new InputMismatchError(`${name} has ${next.plan.width} columns, and ${firstName} has ${plan.width}`)
  }
}

function isSame(a: Uint8Array, b: Uint8Array): boolean {
  return a.length === b.length && a.every((byte, index) => byte === b[index])
}

/** The plan for an input without its byte order mark, line with the separator, and header. */
export function withoutHeader(plan: Plan): Plan {
  return 'headerLine' in plan ? { ...plan, headerLine: 0, hasSeparatorLine: false } : plan
}

/** Adds a line end after an input that ends without one, so that the next input starts on a new line. */
export class Seam {
  #isOpen = false
  #isNext = false
  #lineEnd = Uint8Array.of(LINE_FEED)

  /** Call this before the first output of each input. */
  begin(): void {
    this.#isNext = true
  }

  /** @returns what must be written before the output: the missing line end of the previous input, or no bytes */
  before(output: Uint8Array): Uint8Array {
    if (output.length === 0) return NO_BYTES
    const missing = this.#isNext && this.#isOpen ? this.#lineEnd : NO_BYTES
    this.#isNext = false
    this.#isOpen = output.at(-1) !== LINE_FEED
    const lineFeed = output.lastIndexOf(LINE_FEED)
    if (lineFeed > 0) {
      const isPair = output[lineFeed - 1] === CARRIAGE_RETURN
      this.#lineEnd = isPair ? Uint8Array.of(CARRIAGE_RETURN, LINE_FEED) : Uint8Array.of(LINE_FEED)
    }
    return missing
  }
}
