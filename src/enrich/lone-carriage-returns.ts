import { markLength } from './byte-order-mark.ts'

const LINE_FEED = 0x0a
const CARRIAGE_RETURN = 0x0d
const QUOTE = 0x22
const OPEN_BRACE = 0x7b
const CLOSE_BRACE = 0x7d

/**
 * Whether lines end with a carriage return and no line feed, as in "CSV (Macintosh)": all of the input would be one
 * line. So it is where the first line has carriage returns in it, no fewer than the sample has line feeds. Those
 * between quotes are in a field, those in an object are blanks between its members, those before a line feed are in
 * its line end.
 */
export function hasLoneCarriageReturns(sample: Uint8Array): boolean {
  let start = markLength(sample)
  while (sample[start] === LINE_FEED || sample[start] === CARRIAGE_RETURN) start++
  const isObject = sample[start] === OPEN_BRACE
  let isQuoted = false
  let alone = 0
  let lineFeeds = 0
  for (let at = start; at < sample.length; at++) {
    const byte = sample[at]
    if (byte === QUOTE && !isObject) isQuoted = !isQuoted
    else if (isQuoted) continue
    else if (byte === LINE_FEED) lineFeeds++
    else if (byte === CARRIAGE_RETURN && lineFeeds === 0) {
      const next = sample[at + 1] ?? LINE_FEED
      const isLineEnd = next !== LINE_FEED && next !== CARRIAGE_RETURN
      if (isObject ? sample[at - 1] === CLOSE_BRACE && next === OPEN_BRACE : isLineEnd) alone++
    }
  }
  return alone > 0 && alone >= lineFeeds
}
