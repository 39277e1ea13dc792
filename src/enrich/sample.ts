import { firstLines } from './first-lines.ts'

/** Lines looked at, at most, where it is not said otherwise. */
const MAX_LINES = 1000

/** The first lines of a sample that are not empty, without their ends, as text; see {@link firstLines}. */
export function sampleLines(sample: Uint8Array, isWhole: boolean, most = MAX_LINES): string[] {
  const decoder = new TextDecoder('utf-8', { ignoreBOM: true })
  return firstLines(sample, isWhole, most).map(({ start, end }) =>
    decoder.decode(sample.subarray(start, end)),
  )
}
