// The only importer of log-update, which is bundled into the command line's output.
import { createLogUpdate } from 'log-update'
import type { Terminal } from '../terminal.ts'
import { bytesText, countText, durationText, shareText } from '../figures.ts'

/** Between two updates of the line. Milliseconds. */
const INTERVAL = 150

/** Before that, a rate says nothing about what is left. Seconds. */
const SETTLED = 1

/** How far a run has come. */
export interface Position {
  /** Bytes read, as they are stored. */
  readonly bytes: number
  /** All of them; `null` where a pipe does not tell. */
  readonly size: number | null
  readonly lines: number
}

/** One line on a terminal that tells how far a run has come, until it is stopped. */
export class Progress {
  readonly #line: ReturnType<typeof createLogUpdate>
  readonly #timer: NodeJS.Timeout

  constructor(stderr: Terminal['stderr'], position: () => Position) {
    const startedAt = performance.now()
    // A hidden cursor would stay hidden after a SIGKILL.
    this.#line = createLogUpdate(stderr, { showCursor: true })
    this.#timer = setInterval(() => {
      this.#line(progressText(position(), (performance.now() - startedAt) / 1000))
    }, INTERVAL)
    this.#timer.unref()
  }

  /** Takes the line off the terminal until the next update, so that something else can be written. */
  clear(): void {
    this.#line.clear()
  }

  /** Takes the line off the terminal for good. */
  stop(): void {
    clearInterval(this.#timer)
    this.#line.clear()
    this.#line.done()
  }
}

/** @param seconds since the start */
export function progressText({ bytes, size, lines }: Position, seconds: number): string {
  const parts = [size === null ? bytesText(bytes) : `${shareText(bytes, size)} of ${bytesText(size)}`]
  if (seconds > 0) parts.push(`${countText(lines / seconds)} lines/s`)
  if (size !== null && seconds >= SETTLED && bytes > 0) {
    // Reading runs a little ahead; a time that was left is better too long than too short.
    const left = Math.ceil(((size - bytes) * seconds) / bytes)
    parts.push(`${durationText(Math.max(left, 1))} left`)
  } else parts.push(durationText(Math.floor(seconds)))
  return parts.join(' · ')
}
