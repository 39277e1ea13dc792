import { SampleSize } from '../../enrich/sample-size.ts'
import { type ChunkReader, PAUSE } from './chunk-reader.ts'

/** A pipe that paused for so long is not waited for once there is a line to guess by. Milliseconds. */
const PATIENCE = 250

const LINE_FEED = 0x0a

/** The start of an input, taken off a reader. */
export interface Sample {
  readonly bytes: Uint8Array
  /** Whether that is the whole input. */
  readonly isWhole: boolean
  /** What was read, to be enriched: the sample and what came with it. */
  readonly chunks: readonly Uint8Array[]
}

/**
 * @param mayPause whether the input is a pipe, which may have no more for now
 * @param maxLineBytes bound of a line
 */
export async function takeSample(
  reader: ChunkReader,
  mayPause: boolean,
  maxLineBytes: number,
): Promise<Sample> {
  const chunks: Uint8Array[] = []
  const size = new SampleSize(maxLineBytes)
  let hasLine = false
  let isWhole = false
  while (size.length <= size.wanted) {
    const isPatient: boolean = !mayPause || !hasLine
    const chunk: Uint8Array | null | typeof PAUSE = isPatient
      ? await reader.next()
      : await reader.nextWithin(PATIENCE)
    if (chunk === PAUSE) break
    if (chunk === null) {
      isWhole = true
      break
    }
    chunks.push(chunk)
    size.add(chunk)
    hasLine ||= chunk.includes(LINE_FEED)
  }
  const bytes = Buffer.concat(chunks, Math.min(size.length, size.wanted))
  return { bytes, isWhole, chunks }
}
