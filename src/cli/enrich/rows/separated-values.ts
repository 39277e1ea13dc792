// Values of tables as text: RFC 4180, with commas or tabs.

import type { ByteSink } from '../../../bytes/byte-sink.ts'
import { BACKSLASH, BRACE, BRACKET, DELETE, QUOTE, SPACE } from '../../../enrich/ascii.ts'
import { CachedView, escapesIn, mayEndText } from '../../../enrich/swar.ts'
import { jsonIn, textIn } from './object-members.ts'

const SMALL_N = 0x6e

/** The form of a table. */
export type TableForm = 'csv' | 'tsv'

const SEPARATORS = { csv: ',', tsv: '\t' } as const

/** A record with its line end. Readers skip an empty line: quotes make it a record with one empty value. */
export function recordText(values: readonly string[], form: TableForm): string {
  const line = values.map((value) => valueText(value, form)).join(SEPARATORS[form])
  return line === '' ? '""\n' : `${line}\n`
}

export function valueText(text: string, form: TableForm): string {
  const isQuoted = text.includes(SEPARATORS[form]) || /["\r\n]|^\s|\s$/.test(text)
  return isQuoted ? `"${text.replaceAll('"', '""')}"` : text
}

/** Writes values of JSON as those of a table: texts as they are, other values as JSON, `null` as nothing. */
export class CellWriter {
  readonly separator: string
  readonly #form: TableForm
  readonly #separator: number
  readonly #pattern: number
  readonly #target = new CachedView()

  constructor(form: TableForm) {
    this.#form = form
    this.separator = SEPARATORS[form]
    this.#separator = SEPARATORS[form].charCodeAt(0)
    this.#pattern = Math.imul(this.#separator, 0x01010101)
  }

  /** Writes the value in `bytes[start, end)`, which is valid JSON. @param view of all of `bytes` */
  write(bytes: Uint8Array, view: DataView, start: number, end: number, out: ByteSink): void {
    const first = bytes[start]
    if (first === SMALL_N) return
    if (first === BRACE || first === BRACKET) this.text(jsonIn(bytes, start, end), out)
    else if (first !== QUOTE) out.write(bytes, start, end)
    else if (!this.#plain(bytes, view, start + 1, end - 1, out)) this.text(textIn(bytes, start, end), out)
  }

  /** Writes the text in a string of JSON as it is: columns with the separators between them. */
  copy(bytes: Uint8Array, view: DataView, start: number, end: number, out: ByteSink): void {
    if (hasEscape(bytes, view, start + 1, end - 1)) out.write(Buffer.from(textIn(bytes, start, end)))
    else out.write(bytes, start + 1, end - 1)
  }

  text(text: string, out: ByteSink): void {
    out.write(Buffer.from(valueText(text, this.#form)))
  }

  separate(out: ByteSink): void {
    out.writeByte(this.#separator)
  }

  /** Writes a text that is ASCII without escapes. @returns whether it is */
  #plain(bytes: Uint8Array, view: DataView, start: number, end: number, out: ByteSink): boolean {
    const from = out.length
    const into = out.room(end - start + 2)
    const target = this.#target.view(into)
    let isQuoted = bytes[start] === SPACE || bytes[end - 1] === SPACE
    let at = start
    let to = from
    for (const last = end - 4; at <= last; at += 4, to += 4) {
      const word = view.getInt32(at, true)
      if (escapesIn(word) !== 0 && !isPlain(bytes, at, at + 4)) return false
      const same = word ^ this.#pattern
      if (((same - 0x01010101) & ~same & 0x80808080) !== 0) isQuoted = true
      target.setInt32(to, word, true)
    }
    if (!isPlain(bytes, at, end)) return false
    for (; at < end; at++, to++) {
      const byte = bytes[at] ?? 0
      if (byte === this.#separator) isQuoted = true
      into[to] = byte
    }
    if (isQuoted) {
      into.copyWithin(from + 1, from, to)
      into[from] = QUOTE
      into[to + 1] = QUOTE
    }
    out.length = isQuoted ? to + 2 : to
    return true
  }
}

function hasEscape(bytes: Uint8Array, view: DataView, start: number, end: number): boolean {
  let at = start
  for (; at + 4 <= end; at += 4) if (mayEndText(view.getInt32(at, true))) return true
  for (; at < end; at++) if (bytes[at] === BACKSLASH) return true
  return false
}

function isPlain(bytes: Uint8Array, start: number, end: number): boolean {
  for (let at = start; at < end; at++) {
    const byte = bytes[at] ?? 0
    if (byte === BACKSLASH || byte >= DELETE) return false
  }
  return true
}
