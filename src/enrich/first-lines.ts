import { markLength } from './byte-order-mark.ts'

const LINE_FEED = 0x0a
const CARRIAGE_RETURN = 0x0d

/** Where a line of a sample lies, without its end. */
export interface LineRange {
  readonly start: number
  readonly end: number
}

/**
 * The first lines of a sample that are not empty, behind a byte order mark. A last line without an end counts when
 * it is the end of the input or the only line.
 *
 * @param most how many, at most
 */
export function firstLines(sample: Uint8Array, isWhole: boolean, most: number): LineRange[] {
  const lines: LineRange[] = []
  let start = markLength(sample)
  while (start < sample.length && lines.length < most) {
    const lineFeed = sample.indexOf(LINE_FEED, start)
    if (lineFeed === -1 && !isWhole && lines.length > 0) break
    const next = lineFeed === -1 ? sample.length : lineFeed
    const end = next > start && sample[next - 1] === CARRIAGE_RETURN ? next - 1 : next
    if (end > start) lines.push({ start, end })
    start = next + 1
  }
  return lines
}
