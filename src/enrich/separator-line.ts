import { markLength } from './byte-order-mark.ts'

/** The line by which spreadsheets are told what separates fields: `sep=;`, the first of the file. */
export interface SeparatorLine {
  /** The byte between fields. */
  readonly delimiter: number
  /** Where the line ends, its line end and a byte order mark before it counted. */
  readonly length: number
}

/** A separator is not what values are made of. */
const LINE = /^("?)sep=(\t|[^\w\s"'+.:\x80-\xff-])\1(?:\r?\n|$)/i

/** Longer than any. Bytes. */
const MAX_BYTES = 16

/** The line that a table starts with, after a byte order mark; `null` where there is none. */
export function separatorLine(sample: Uint8Array): SeparatorLine | null {
  const start = markLength(sample)
  const found = LINE.exec(String.fromCharCode(...sample.subarray(start, start + MAX_BYTES)))
  const [line, , separator] = found ?? []
  if (line === undefined || separator === undefined) return null
  return { delimiter: separator.charCodeAt(0), length: start + line.length }
}
