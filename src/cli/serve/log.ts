import type { Writable } from 'node:stream'

/** Lines are written together, because a system call takes longer than a lookup. */
const FLUSH_MS = 100
/** Writes up to 4,096 bytes are not mixed with those of other processes on one pipe (PIPE_BUF). */
const MAX_WRITE_CHARS = 4000
/** Limit of lines that wait for a slow reader. Later lines are counted and dropped. */
const MAX_WAITING_BYTES = 4 * 1024 * 1024

export type LogFields = Readonly<Record<string, string | number | null | undefined>>

/** One JSON object a line: the time, what happened, and its details. */
export class JsonLog {
  readonly #stream: Writable | null
  #waiting = ''
  #dropped = 0
  #timer: NodeJS.Timeout | undefined

  /** @param stream `null` to write nothing */
  constructor(stream: Writable | null) {
    this.#stream = stream
  }

  write(event: string, fields: LogFields = {}): void {
    const stream = this.#stream
    if (stream === null) return
    if (stream.writableLength > MAX_WAITING_BYTES) {
      this.#dropped++
      return
    }
    const time = new Date().toISOString()
    if (this.#dropped > 0) {
      this.#waiting += `${JSON.stringify({ time, event: 'lines-dropped', count: this.#dropped })}\n`
      this.#dropped = 0
    }
    const line = `${JSON.stringify({ time, event, ...fields })}\n`
    if (this.#waiting.length + line.length > MAX_WRITE_CHARS) this.flush()
    this.#waiting += line
    this.#timer ??= setTimeout(() => this.flush(), FLUSH_MS).unref()
  }

  flush(): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
    if (this.#waiting !== '') this.#stream?.write(this.#waiting)
    this.#waiting = ''
  }
}
