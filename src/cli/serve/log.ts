import type { Writable } from 'node:stream'
import { setTimeout as delay } from 'node:timers/promises'
import { Address } from '../../address/address.ts'
import { ClientWalk } from '../../client/client-address.ts'
import { memberOf } from '../../client/request-source.ts'
import type { ServeSettings } from './flags.ts'
import type { Exchange } from './http-server.ts'

/** The lines of this time are written by one system call. */
const FLUSH_MS = 100
/** Writes up to 4,096 bytes are not mixed with those of other processes on one pipe (PIPE_BUF). */
const MAX_WRITE_CHARS = 4000
/** Limit of lines that wait for a slow reader. Later lines are counted and dropped. */
const MAX_WAITING_BYTES = 4 * 1024 * 1024
/** How often `end` looks whether all lines are written. */
const END_INTERVAL_MS = 10

/** One JSON object a line: the time, what happened, and its details. A reader that is stuck keeps nothing waiting. */
export class JsonLog {
  /** How many lines were dropped so far, because their reader was too slow or had gone. */
  dropped = 0
  #waiting = ''
  #waitingLines = 0
  /** Lines that the stream has and did not write yet. */
  #unwritten = 0
  /** Dropped lines that no line of the log has counted. */
  #unsaid = 0
  #timer: NodeJS.Timeout | undefined

  /** @param stream `null` to write nothing */
  constructor(readonly stream: Writable | null) {}

  write(event: string, fields: Readonly<Record<string, string | number | null | undefined>> = {}): void {
    const { stream } = this
    if (stream === null) return
    if (stream.writableLength > MAX_WAITING_BYTES) {
      this.#drop(1)
      return
    }
    const time = new Date().toISOString()
    if (this.#unsaid > 0) {
      this.#add(JSON.stringify({ time, event: 'lines-dropped', count: this.#unsaid }))
      this.#unsaid = 0
    }
    this.#add(JSON.stringify({ time, event, ...fields }))
    this.#timer ??= setTimeout(() => this.flush(), FLUSH_MS).unref()
  }

  flush(): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
    if (this.#waiting === '') return
    const [text, lines] = [this.#waiting, this.#waitingLines]
    this.#waiting = ''
    this.#waitingLines = 0
    this.#unwritten += lines
    if (this.stream !== null) unblock(this.stream)
    this.stream?.write(text, (error) => {
      this.#unwritten -= lines
      if (error) this.#drop(lines)
    })
  }

  /**
   * Writes the last lines. Waits for a slow reader, but not for a reader that is stuck.
   *
   * @param stuckMs how long the reader may take nothing
   * @param waitMs how long the lines may take, if that is more
   * @returns how many lines are not written
   */
  async end(stuckMs: number, waitMs = stuckMs): Promise<number> {
    this.flush()
    const end = performance.now() + Math.max(stuckMs, waitMs)
    let last = this.#unwritten
    let until = performance.now() + stuckMs
    while (this.#unwritten > 0 && performance.now() < Math.min(until, end)) {
      await delay(END_INTERVAL_MS)
      if (this.#unwritten < last) until = performance.now() + stuckMs
      last = this.#unwritten
    }
    return this.#unwritten
  }

  #add(line: string): void {
    if (this.#waiting.length + line.length >= MAX_WRITE_CHARS) this.flush()
    this.#waiting += `${line}\n`
    this.#waitingLines++
  }

  #drop(lines: number): void {
    this.dropped += lines
    this.#unsaid += lines
  }
}

/**
 * Lets no write to a pipe wait for its reader. Processes share this setting of a pipe, and Node changes it back when one of
 * them ends, such as a worker: then a full pipe would stop the process for as long as its reader is stuck.
 */
export function unblock(stream: Writable): void {
  const handle = memberOf(stream, '_handle')
  const isPipe = memberOf(memberOf(handle, 'constructor'), 'name') === 'Pipe'
  if (!isPipe || process.platform === 'win32') return
  const setBlocking = memberOf(handle, 'setBlocking')
  if (typeof setBlocking === 'function') Reflect.apply(setBlocking, handle, [false])
}

/**
 * Returns a function that writes the line of an answer. The line has no key, no address that was looked up and no text of
 * the caller but a well-formed request identifier.
 */
export function requestLog(
  log: JsonLog,
  { trustedProxies, forwardedHeader, logClient }: ServeSettings,
): (exchange: Exchange) => void {
  if (log.stream === null) return () => {}
  const walk = new ClientWalk({ trustedProxies, forwardedHeader })
  const address = new Address()
  const clientOf = ({ asked, peer, served }: Exchange): string | null => {
    if (served?.client !== undefined) return served.client || null
    const found = walk.find({ headers: asked ?? {}, remoteAddress: peer }, undefined, address)
    return typeof found === 'string' ? address.text : found.ip || null
  }
  return (exchange) => {
    const { id, asked, peer, status, milliseconds, served } = exchange
    log.write('request', {
      id,
      method: asked?.method ?? null,
      operation: served?.answer.operation ?? null,
      status,
      key: served?.answer.keyId ?? null,
      ms: milliseconds === null ? null : Math.round(milliseconds * 1000) / 1000,
      ...(logClient === 'none' ? {} : { peer, client: clientOf(exchange) }),
    })
  }
}
