import { BACKSLASH, BRACE, BRACE_END, BRACKET, BRACKET_END, COLON, COMMA, QUOTE } from '../../ascii.ts'
import { markLength } from '../../reading/sample.ts'

/** The longest array of objects of the first document in a sample. */
export interface LongestArray {
  /** Names of members, from the document to the array. */
  readonly path: readonly string[]
  /** Bytes of the array, as far as the sample has it. */
  readonly size: number
  /** Bytes of the document, as far as the sample has it. */
  readonly documentSize: number
  /** The document with an empty array. If the sample ends in the array, nothing follows it here. */
  readonly around: string
}

/** Deeper arrays are not considered. */
const MAX_DEPTH = 6

/**
 * Finds the longest array that begins with an object. Only members of objects may lead to the array. The sample can end
 * anywhere. If the sample is not JSON, the result has no meaning.
 */
export function longestArray(sample: Uint8Array): LongestArray | null {
  const start = sample.indexOf(BRACE, markLength(sample))
  const decoder = new TextDecoder()
  /** The name of each open object or array in its object; `null` if it is in an array. Names with escapes are skipped. */
  const names: (string | null)[] = []
  let best: { path: string[]; from: number; to: number } | null = null
  let open: { path: string[]; from: number } | null = null
  let name: string | null = null
  let text = ''
  let at = start
  for (; at >= 0 && at < sample.length; at++) {
    const byte = sample[at]
    if (byte === QUOTE) {
      const from = at
      for (at++; at < sample.length && sample[at] !== QUOTE; at++) if (sample[at] === BACKSLASH) at++
      text = decoder.decode(sample.subarray(from + 1, at))
    } else if (byte === COLON) name = text
    else if (byte === COMMA) name = null
    else if (byte === BRACE || byte === BRACKET) {
      names.push(name)
      const mayOpen: boolean =
        byte === BRACKET && open === null && names.length > 1 && names.length <= MAX_DEPTH + 1
      const path: string[] | null = mayOpen ? pathIn(names) : null
      if (path !== null && beginsWithObject(sample, at)) open = { path, from: at }
      name = null
    } else if (byte === BRACE_END || byte === BRACKET_END) {
      if (open !== null && names.length === open.path.length + 1) {
        if (best === null || at - open.from > best.to - best.from) best = { ...open, to: at }
        open = null
      }
      names.pop()
      if (names.length === 0) break
    }
  }
  const isWhole = names.length === 0 && at < sample.length
  if (open !== null && (best === null || at - open.from > best.to - best.from)) best = { ...open, to: at }
  if (best === null) return null
  const rest = isWhole ? decoder.decode(sample.subarray(best.to, at + 1)) : `]${'}'.repeat(best.path.length)}`
  const around = decoder.decode(sample.subarray(start, best.from + 1)) + rest
  return { path: best.path, size: best.to - best.from, documentSize: at - start, around }
}

/** The names from a document to its innermost value; `null` if the value is in an array, or after a name with an escape. */
function pathIn(names: readonly (string | null)[]): string[] | null {
  const path = names.slice(1).flatMap((each) => (each === null || each.includes('\\') ? [] : [each]))
  return path.length === names.length - 1 ? path : null
}

function beginsWithObject(sample: Uint8Array, bracket: number): boolean {
  let at = bracket + 1
  while ((sample[at] ?? BRACE) <= 0x20) at++
  return sample[at] === BRACE
}
