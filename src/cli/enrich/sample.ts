import { type ChunkReader, PAUSE } from './chunk-reader.ts'

/** What a plan is made from: plenty to guess by. Bytes. */
const SAMPLE = 256 * 1024

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

/** @param mayPause whether the input is a pipe, which may have no more for now */
export async function takeSample(reader: ChunkReader, mayPause: boolean): Promise<Sample> {
  const chunks: Uint8Array[] = []
  let length = 0
  let hasLine = false
  let isWhole = false
  while (length <= SAMPLE) {
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
    length += chunk.length
    hasLine ||= chunk.includes(LINE_FEED)
  }
  const bytes = Buffer.concat(chunks, Math.min(length, SAMPLE))
  return { bytes, isWhole, chunks }
}
