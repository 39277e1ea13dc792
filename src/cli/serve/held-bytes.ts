// The bytes that are held for connections: bodies that are being read, answers that the system has not taken, and answers that
// the system has taken and the client perhaps has not. The latter take memory too, which a container's limit includes.
import type { ServerResponse } from 'node:http'
import type { Socket } from 'node:net'

/** The most bytes held for a server. Beyond that, the client for which the most is held loses its oldest connection. */
const MAX_HELD_BYTES = 64 * 1024 * 1024
/** The most unsent bytes of a connection. One with more is closed instead of getting another answer. */
const MAX_UNSENT_BYTES = 4 * 1024 * 1024
/** How long a client may take for an answer, in addition to the time at the slowest rate. */
const SLOW_MS = 10_000
/** The slowest rate at which a client may take an answer. Bytes a second. */
const MIN_RATE = 32 * 1024
/** Shorter answers count only until the system has taken them. */
const SMALL_ANSWER_BYTES = 4096
/** How often slow clients are looked for. */
const SWEEP_MS = 1000

export interface HeldLimits {
  /** Most bytes held for all connections. Default: 64 MiB. */
  readonly total?: number
  /** Time for an answer in milliseconds, in addition to the time at the slowest rate. Default: 10,000. */
  readonly slowMs?: number
  /** The slowest rate in bytes a second. Default: 32 KiB. */
  readonly minRate?: number
}

/** The bytes that a connection holds. */
interface Held {
  unsent: number
  /** Answers that the system has taken since the client sent its last request. Its next request says that it read them. */
  sent: number
  body: number
  /** When the answers must have been taken, by the monotonic clock. */
  until: number
  readonly forget: () => void
}

/** Bounds the memory for clients that do not read. */
export class HeldBytes {
  /** Held connections, the longest held first. */
  readonly #held = new Map<Socket, Held>()
  readonly #limits: Required<HeldLimits>
  /** Bytes of all connections. */
  #total = 0
  #sweep: NodeJS.Timeout | undefined

  /** @param cut is called for each connection that is closed */
  constructor(
    private readonly cut: () => void = () => {},
    limits: HeldLimits = {},
  ) {
    this.#limits = { total: MAX_HELD_BYTES, slowMs: SLOW_MS, minRate: MIN_RATE, ...limits }
  }

  /** Is called with each request: its client has read the answers before, or the system would soon take no more of them. */
  asked(socket: Socket): void {
    this.#release(socket, 'sent')
  }

  /** Counts a part of a body. */
  received(socket: Socket, bytes: number): void {
    this.#of(socket).body += bytes
    this.#grow(bytes)
  }

  /** Counts an answer. The body of its request is no longer held. */
  answered(socket: Socket, outgoing: ServerResponse, bytes: number): void {
    this.#release(socket, 'body')
    if (socket.destroyed) return
    if (outgoing.writableFinished || (outgoing.headersSent && outgoing.writableLength === 0)) {
      this.#taken(socket, bytes)
      return
    }
    const held = this.#of(socket)
    if (held.unsent > MAX_UNSENT_BYTES) {
      this.#close(socket)
      return
    }
    held.unsent += bytes
    held.until =
      Math.max(held.until, performance.now() + this.#limits.slowMs) + (bytes / this.#limits.minRate) * 1000
    this.#sweep ??= setInterval(() => this.#closeSlow(), Math.min(SWEEP_MS, this.#limits.slowMs)).unref()
    outgoing.once('finish', () => {
      if (!this.#held.has(socket)) return
      this.#release(socket, 'unsent', bytes)
      this.#taken(socket, bytes)
    })
    this.#grow(bytes)
  }

  /** Counts an answer that the system has taken. */
  #taken(socket: Socket, bytes: number): void {
    if (bytes <= SMALL_ANSWER_BYTES || socket.destroyed) return
    this.#of(socket).sent += bytes
    this.#grow(bytes)
  }

  #of(socket: Socket): Held {
    const known = this.#held.get(socket)
    if (known !== undefined) return known
    const forget = (): void => {
      for (const kind of ['body', 'unsent', 'sent'] as const) this.#release(socket, kind)
    }
    const held = { unsent: 0, sent: 0, body: 0, until: 0, forget }
    this.#held.set(socket, held)
    socket.once('close', forget)
    return held
  }

  #grow(bytes: number): void {
    this.#total += bytes
    // One answer alone is never too much: the limits of a batch bound it.
    while (this.#total > this.#limits.total && this.#held.size > 1) this.#close(this.#oldestOfLargest())
  }

  /** Releases bytes, at most those that the connection holds. */
  #release(socket: Socket, kind: 'unsent' | 'sent' | 'body', bytes: number = Number.POSITIVE_INFINITY): void {
    const held = this.#held.get(socket)
    if (held === undefined) return
    const released = Math.min(held[kind], bytes)
    held[kind] -= released
    this.#total -= released
    if (held.unsent === 0) held.until = 0
    if (held.unsent > 0 || held.sent > 0 || held.body > 0) return
    this.#held.delete(socket)
    socket.off('close', held.forget)
    if (this.#held.size > 0) return
    clearInterval(this.#sweep)
    this.#sweep = undefined
  }

  /** The oldest connection of the address that holds the most. Behind a proxy, all connections have one address. */
  #oldestOfLargest(): Socket {
    const byPeer = new Map<string, { bytes: number; readonly oldest: Socket }>()
    for (const [socket, { unsent, sent, body }] of this.#held) {
      const peer = socket.remoteAddress ?? ''
      const sum = byPeer.get(peer) ?? { bytes: 0, oldest: socket }
      sum.bytes += unsent + sent + body
      byPeer.set(peer, sum)
    }
    return [...byPeer.values()].reduce((most, each) => (each.bytes > most.bytes ? each : most)).oldest
  }

  #closeSlow(): void {
    const now = performance.now()
    for (const [socket, { unsent, until }] of this.#held) if (unsent > 0 && now > until) this.#close(socket)
  }

  #close(socket: Socket): void {
    this.#held.get(socket)?.forget()
    // A reset frees what the system holds. After a normal end, the system goes on trying to send it. A Unix socket has no reset.
    if (socket.remoteAddress === undefined) socket.destroy()
    else socket.resetAndDestroy()
    this.cut()
  }
}
