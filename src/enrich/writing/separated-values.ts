// Values of tables as text: RFC 4180, with commas or tabs.

import { utf8Decoder, utf8Encoder } from '../../realm.ts'
import { QUOTE, SPACE } from '../ascii.ts'
import type { LocationCells } from '../options.ts'
import { CachedView, mayNeedEscape } from '../swar.ts'

/** The form of a table. */
export type TableForm = Exclude<LocationCells['form'], 'values'>

export const SEPARATORS: Readonly<Record<TableForm, string>> = { csv: ',', tsv: '\t' }

/** A record with its line end. Readers skip an empty line: quotes make it a record with one empty value. */
export function recordText(values: readonly string[], form: TableForm): string {
  const line = values.map((value) => valueText(value, form)).join(SEPARATORS[form])
  return line === '' ? '""\n' : `${line}\n`
}

export function valueText(text: string, form: TableForm): string {
  const isQuoted = text.includes(SEPARATORS[form]) || /["\r\n]|^\s|\s$/.test(text)
  return isQuoted ? `"${text.replaceAll('"', '""')}"` : text
}

/** Upper bound of the bytes that a value of `size` bytes takes: U+FFFD has three bytes. */
export function cellRoom(size: number): number {
  return size * 3 + 2
}

const encoder = /* @__PURE__ */ utf8Encoder()

/** Writes texts in UTF-8 as values of tables. */
export class CellText {
  readonly #form: TableForm
  readonly #separator: number
  readonly #pattern: number
  readonly #source = new CachedView()
  readonly #target = new CachedView()
  readonly #decoder = utf8Decoder({ ignoreBOM: true })

  constructor(form: TableForm) {
    this.#form = form
    this.#separator = SEPARATORS[form].charCodeAt(0)
    this.#pattern = Math.imul(this.#separator, 0x01010101)
  }

  /**
   * Writes the text in `bytes[start, end)` to `into` at `at`. The caller provides {@link cellRoom} there. Ill-formed UTF-8 becomes
   * U+FFFD.
   *
   * @returns the index after the last byte written
   */
  put(bytes: Uint8Array, start: number, end: number, into: Uint8Array, at: number): number {
    const to = this.putPlain(bytes, start, end, into, at)
    if (to !== -1) return to
    const text = valueText(this.#decoder.decode(bytes.subarray(start, end)), this.#form)
    return at + encoder.encodeInto(text, into.subarray(at)).written
  }

  /** `put` for a text of printable ASCII without quotes and backslashes. @returns -1 if the text is another one */
  putPlain(bytes: Uint8Array, start: number, end: number, into: Uint8Array, at: number): number {
    const source = this.#source.view(bytes)
    const target = this.#target.view(into)
    let isQuoted = start < end && (bytes[start] === SPACE || bytes[end - 1] === SPACE)
    let from = start
    let to = at
    for (const last = end - 4; from <= last; from += 4, to += 4) {
      const word = source.getInt32(from, true)
      if (mayNeedEscape(word)) return -1
      const same = word ^ this.#pattern
      if (((same - 0x01010101) & ~same & 0x80808080) !== 0) isQuoted = true
      target.setInt32(to, word, true)
    }
    for (; from < end; from++, to++) {
      const byte = bytes[from] ?? 0
      if (mayNeedEscape(byte | 0x20202000)) return -1
      if (byte === this.#separator) isQuoted = true
      into[to] = byte
    }
    if (!isQuoted) return to
    into.copyWithin(at + 1, at, to)
    into[at] = QUOTE
    into[to + 1] = QUOTE
    return to + 2
  }
}
