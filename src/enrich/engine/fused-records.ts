import type { ByteSink } from '../../bytes/byte-sink.ts'
import { FAILURE_REASONS, type RunningCounts } from '../counting/counts.ts'
import { type FusedLoop, INPUT_BYTES, OUTPUT_START } from './fused-loop.ts'

const LINE_FEED = 0x0a

/** Runs the fused loop of a format over blocks, slice by slice. */
export class FusedRecords {
  /** Lines that the last call of `run` enriched. */
  lines = 0
  readonly #loop: FusedLoop
  #bytes: Uint8Array = new Uint8Array(0)
  #size = 0
  /** The part of the block that is in the arena. */
  #sliceStart = 0
  #sliceEnd = 0

  constructor(loop: FusedLoop) {
    this.#loop = loop
  }

  /** Begins a block: the first `size` bytes of an array. */
  reset(bytes: Uint8Array, size: number): void {
    this.#bytes = bytes
    this.#size = size
    this.#sliceStart = 0
    this.#sliceEnd = 0
  }

  /**
   * Enriches the lines from `start` that the loop takes, at most a slice of them.
   *
   * @returns where it stopped: `start` if the loop does not take the line there
   */
  run(start: number, out: ByteSink, counts: RunningCounts): number {
    const loop = this.#loop
    this.lines = 0
    if (start >= this.#sliceEnd && !this.#copySlice(start)) return start
    const stop = loop.run(start - this.#sliceStart, this.#sliceEnd - this.#sliceStart) + this.#sliceStart
    out.write(loop.arena.bytes, OUTPUT_START, loop.outputEnd)
    let lines = loop.resolved
    counts.resolved += loop.resolved
    counts.withoutTime += loop.withoutTime
    for (let index = 0; index < loop.failed.length; index++) {
      const count = loop.failed[index] ?? 0
      const reason = FAILURE_REASONS[index]
      if (count === 0 || reason === undefined) continue
      lines += count
      counts.failed[reason] = (counts.failed[reason] ?? 0) + count
    }
    counts.lines += lines
    this.lines = lines
    return stop
  }

  /** Copies whole lines into the arena. @returns whether there is a whole line that fits */
  #copySlice(start: number): boolean {
    const most = Math.min(start + INPUT_BYTES, this.#size)
    const end = this.#bytes.lastIndexOf(LINE_FEED, most - 1) + 1
    if (end <= start) return false
    this.#loop.arena.bytes.set(this.#bytes.subarray(start, end))
    this.#sliceStart = start
    this.#sliceEnd = end
    return true
  }
}
