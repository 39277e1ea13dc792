import { clearLine, cursorTo } from 'node:readline'
import { bytesText, countText, durationText, shareText } from '../figures.ts'
import type { Terminal } from '../terminal.ts'

const UPDATE_INTERVAL_MS = 150

/** Before this, the rate is too uncertain to estimate the time left. */
const MIN_ESTIMATE_SECONDS = 1

/** The width if the terminal does not report one. */
const DEFAULT_COLUMNS = 80

/** The progress of a run. */
export interface Position {
  /** Bytes read, before decompression. */
  readonly bytes: number
  /** All bytes to read; `null` if unknown, as for a pipe. */
  readonly size: number | null
  readonly lines: number
}

/** A line of progress on a terminal, rewritten in place until it is stopped. */
export class Progress {
  readonly #stderr: Terminal['stderr']
  readonly #timer: NodeJS.Timeout
  #isShown = false

  constructor(stderr: Terminal['stderr'], position: () => Position) {
    const startedAt = performance.now()
    this.#stderr = stderr
    this.#timer = setInterval(() => {
      this.#show(progressText(position(), (performance.now() - startedAt) / 1000))
    }, UPDATE_INTERVAL_MS)
    this.#timer.unref()
  }

  /** Erases the line until the next update, so that other text can be written. */
  clear(): void {
    if (!this.#isShown) return
    this.#isShown = false
    cursorTo(this.#stderr, 0)
    clearLine(this.#stderr, 0)
  }

  /** Erases the line and ends the updates. */
  stop(): void {
    clearInterval(this.#timer)
    this.clear()
  }

  #show(text: string): void {
    this.#isShown = true
    cursorTo(this.#stderr, 0)
    // A text as wide as the terminal would wrap, and only its last row could be erased.
    this.#stderr.write(text.slice(0, (this.#stderr.columns ?? DEFAULT_COLUMNS) - 1))
    clearLine(this.#stderr, 1)
  }
}

/** @param seconds since the start */
export function progressText({ bytes, size, lines }: Position, seconds: number): string {
  const parts = [size === null ? bytesText(bytes) : `${shareText(bytes, size)} of ${bytesText(size)}`]
  if (seconds > 0) parts.push(`${countText(lines / seconds)} lines/s`)
  if (size !== null && seconds >= MIN_ESTIMATE_SECONDS && bytes > 0) {
    // Round up: reading is ahead of writing, and an estimate that is too long is better than one that is too short.
    const left = Math.ceil(((size - bytes) * seconds) / bytes)
    parts.push(`${durationText(Math.max(left, 1))} left`)
  } else parts.push(durationText(Math.floor(seconds)))
  return parts.join(' · ')
}
