/** Encodings of several bytes a character, which cannot be read line by line as UTF-8 can. */
export type WideEncoding = 'UTF-16LE' | 'UTF-16BE' | 'UTF-32LE' | 'UTF-32BE'

/** Byte order marks; that of UTF-16LE is the start of that of UTF-32LE. */
const MARKS: readonly [WideEncoding, readonly number[]][] = [
  ['UTF-32LE', [0xff, 0xfe, 0, 0]],
  ['UTF-32BE', [0, 0, 0xfe, 0xff]],
  ['UTF-16LE', [0xff, 0xfe]],
  ['UTF-16BE', [0xfe, 0xff]],
]

/** Looked at where there is no mark. Bytes; a multiple of four. */
const LOOKED_AT = 1024

/**
 * The encoding of an input that is not UTF-8, by its byte order mark; else by where its zero bytes are, as RFC 4627
 * section 3 does: addresses and delimiters are ASCII, so that text with them has a zero in most of its units, always
 * in the same byte. `null` for any other input.
 */
export function wideEncodingOf(sample: Uint8Array): WideEncoding | null {
  for (const [encoding, mark] of MARKS) if (mark.every((byte, at) => sample[at] === byte)) return encoding
  const quads = Math.floor(Math.min(sample.length, LOOKED_AT) / 4)
  if (quads === 0) return null
  const zeros = (...bytes: readonly number[]): number => {
    let count = 0
    for (let at = 0; at < quads * 4; at++) if (sample[at] === 0 && bytes.includes(at % 4)) count++
    return count
  }
  // NUL bytes also stand in UTF-8, after a crash or as separators: in runs, or less often.
  if (zeros(2, 3) === 2 * quads && zeros(0) === 0) return 'UTF-32LE'
  if (zeros(0, 1) === 2 * quads && zeros(3) === 0) return 'UTF-32BE'
  if (zeros(1, 3) >= quads && zeros(0, 2) === 0) return 'UTF-16LE'
  if (zeros(0, 2) >= quads && zeros(1, 3) === 0) return 'UTF-16BE'
  return null
}
