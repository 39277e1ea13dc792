// Bounds the connections of a server and of each client, and the bytes that are held for them: bodies that are being read, answers
// that the system has not taken, and answers that the system has taken but the client perhaps has not. The system keeps the latter
// in memory that counts towards the limit of a container.
import type { Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { Address } from '../../address/address.ts'
import { clientNetwork } from '../../http/rate-limit.ts'

/**
 * The most open connections of a server, if the process may have that many descriptors. For each further one, the connection
 * that has been idle for longest is closed. If none is idle, it is the one that has waited for its client for longest.
 */
export const MAX_CONNECTIONS = 10_000
/** The most open connections at the port of the metrics. */
const MAX_METRICS_CONNECTIONS = 16
/** The default of `--client-connections`, or a tenth of all if the server has fewer than {@link MAX_CONNECTIONS}. */
const MAX_CLIENT_CONNECTIONS = 1000

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

export interface ConnectionLimits {
  /** The most connections of the server, if the process may have that many descriptors. */
  readonly max?: number
  /** The most connections of one client of a process: an IPv4 address or an IPv6 /64 network. */
  readonly maxPerClient?: number | undefined
  /** Whether a peer is a proxy, which has the connections of many clients. */
  readonly isProxy?: (peer: Address) => boolean
  /** Most bytes held for all connections. Default: 64 MiB. */
  readonly maxHeldBytes?: number
  /** Time for an answer in milliseconds, in addition to the time at the slowest rate. Default: 10,000. */
  readonly slowMs?: number
  /** The slowest rate in bytes a second. Default: 32 KiB. */
  readonly minRate?: number
  /**
   * Is called for each connection that is `refused`: its client, or all clients, have too many; `evicted`: it was idle, and closed
   * for a new one; or `cut`: its client does not take its answers.
   */
  readonly closed?: (why: 'refused' | 'evicted' | 'cut') => unknown
}

/** The limits of the port of the metrics. One client may have all its connections. */
export const METRICS_LIMITS: ConnectionLimits = {
  max: MAX_METRICS_CONNECTIONS,
  maxPerClient: MAX_METRICS_CONNECTIONS,
}

/** An open connection, and the bytes that it holds. */
interface Connection {
  readonly socket: Socket
  /** The network by which its client is counted; `null` for a proxy, and for the peer of a Unix socket. */
  readonly client: string | null
  /** The answers that are not sent yet, the oldest first. */
  readonly answers: Set<ServerResponse>
  body: number
  unsent: number
  /** Answers that the system has taken since the client sent its last request. Its next request says that it read them. */
  sent: number
  /** When the answers must have been taken, by the monotonic clock. */
  until: number
}

/** The connections of a server. */
export class Connections {
  readonly #open = new Map<Socket, Connection>()
  /** Connections without a request to answer, the longest idle first. */
  readonly #idle = new Set<Connection>()
  /** Connections with answers that are not sent yet. */
  readonly #busy = new Set<Connection>()
  /** Connections that hold bytes, the longest held first. */
  readonly #holding = new Set<Connection>()
  readonly #byClient = new Map<string, number>()
  readonly #address = new Address()
  readonly #max: number
  readonly #maxPerClient: number
  readonly #limits
  /** Bytes of all connections. */
  #heldBytes = 0
  #sweep: NodeJS.Timeout | undefined

  constructor(server: Server, limits: ConnectionLimits) {
    const defaults = { maxHeldBytes: MAX_HELD_BYTES, slowMs: SLOW_MS, minRate: MIN_RATE }
    this.#limits = { ...defaults, isProxy: () => false, closed: () => {}, ...limits }
    this.#max = connectionLimit(limits.max ?? MAX_CONNECTIONS)
    this.#maxPerClient = limits.maxPerClient ?? Math.min(MAX_CLIENT_CONNECTIONS, Math.ceil(this.#max / 10))
    server.on('connection', (socket) => this.#add(socket))
  }

  /** Closes the connections that have never sent anything, such as the spare ones of a balancer. Node takes them for busy. */
  closeUnused(): void {
    for (const socket of this.#open.keys()) if (socket.bytesRead === 0) socket.destroy()
  }

  /**
   * Marks a connection as busy until the answer is sent or cannot be. A client that asks again has read the answers before. If it
   * has not, the system soon takes no more of them.
   */
  asked(socket: Socket, outgoing: ServerResponse): void {
    const connection = this.#open.get(socket)
    if (connection === undefined) return
    this.#release(connection, 'sent')
    this.#idle.delete(connection)
    this.#busy.add(connection)
    connection.answers.add(outgoing)
    outgoing.on('close', () => {
      connection.answers.delete(outgoing)
      if (connection.answers.size > 0 || !this.#busy.delete(connection)) return
      this.#idle.add(connection)
    })
  }

  /** The oldest answer that a connection waits for. */
  pendingOf(socket: Socket): ServerResponse | undefined {
    return this.#open.get(socket)?.answers.values().next().value
  }

  /** Counts a part of a body. */
  received(socket: Socket, bytes: number): void {
    this.#hold(this.#open.get(socket), 'body', bytes)
  }

  /** Counts an answer. The body of its request is no longer held. */
  answered(socket: Socket, outgoing: ServerResponse, bytes: number): void {
    const connection = this.#open.get(socket)
    if (connection === undefined) return
    this.#release(connection, 'body')
    if (outgoing.writableFinished || (outgoing.headersSent && outgoing.writableLength === 0))
      return void this.#taken(socket, bytes)
    if (connection.unsent > MAX_UNSENT_BYTES) return void this.#cut(connection)
    const { slowMs, minRate } = this.#limits
    connection.until = Math.max(connection.until, performance.now() + slowMs) + (bytes / minRate) * 1000
    this.#sweep ??= setInterval(() => this.#cutSlow(), Math.min(SWEEP_MS, slowMs)).unref()
    outgoing.once('finish', () => {
      this.#release(connection, 'unsent', bytes)
      this.#taken(socket, bytes)
    })
    this.#hold(connection, 'unsent', bytes)
  }

  /** Counts an answer that the system has taken. */
  #taken(socket: Socket, bytes: number): void {
    if (bytes > SMALL_ANSWER_BYTES && !socket.destroyed) this.#hold(this.#open.get(socket), 'sent', bytes)
  }

  /** Counts bytes, unless the connection is closed. */
  #hold(connection: Connection | undefined, kind: 'unsent' | 'sent' | 'body', bytes: number): void {
    if (connection === undefined) return
    connection[kind] += bytes
    this.#heldBytes += bytes
    this.#holding.add(connection)
    // One answer alone is never too much: the limits of a batch bound it.
    while (this.#heldBytes > this.#limits.maxHeldBytes && this.#holding.size > 1)
      this.#cut(this.#oldestOfLargest())
  }

  /** Releases bytes, at most those that the connection holds. */
  #release(connection: Connection, kind: 'unsent' | 'sent' | 'body', bytes = Number.POSITIVE_INFINITY): void {
    const released = Math.min(connection[kind], bytes)
    connection[kind] -= released
    this.#heldBytes -= released
    if (connection.unsent > 0) return
    connection.until = 0
    if (connection.sent > 0 || connection.body > 0 || !this.#holding.delete(connection)) return
    if (this.#holding.size > 0) return
    clearInterval(this.#sweep)
    this.#sweep = undefined
  }

  /** The oldest connection of the address that holds the most. Behind a proxy, all connections have one address. */
  #oldestOfLargest(): Connection {
    const byPeer = new Map<string, { bytes: number; readonly oldest: Connection }>()
    for (const connection of this.#holding) {
      const peer = connection.socket.remoteAddress ?? ''
      const sum = byPeer.get(peer) ?? { bytes: 0, oldest: connection }
      sum.bytes += connection.unsent + connection.sent + connection.body
      byPeer.set(peer, sum)
    }
    return [...byPeer.values()].reduce((most, each) => (each.bytes > most.bytes ? each : most)).oldest
  }

  #cutSlow(): void {
    const now = performance.now()
    for (const each of this.#holding) if (each.unsent > 0 && now > each.until) this.#cut(each)
  }

  #cut(connection: Connection): void {
    const { socket } = connection
    this.#remove(connection)
    // A reset frees what the system holds. After a normal end, the system goes on trying to send it. A Unix socket has no reset.
    if (socket.remoteAddress === undefined) socket.destroy()
    else socket.resetAndDestroy()
    this.#limits.closed('cut')
  }

  #add(socket: Socket): void {
    // Not limited: a proxy, and the peer of a Unix socket.
    const isLimited = this.#address.parse(socket.remoteAddress) && !this.#limits.isProxy(this.#address)
    const client = isLimited ? clientNetwork(this.#address) : null
    if (client !== null) {
      const count = (this.#byClient.get(client) ?? 0) + 1
      if (count > this.#maxPerClient) {
        socket.destroy()
        return void this.#limits.closed('refused')
      }
      this.#byClient.set(client, count)
    }
    const connection = {
      socket,
      client,
      answers: new Set<ServerResponse>(),
      body: 0,
      unsent: 0,
      sent: 0,
      until: 0,
    }
    this.#open.set(socket, connection)
    socket.once('close', () => this.#remove(connection))
    if (this.#open.size > this.#max) {
      const [longest] = this.#idle
      const closed = longest ?? this.#waitingForClient() ?? connection
      closed.socket.destroy()
      // The event `close` of the socket comes later.
      this.#remove(closed)
      if (closed === connection) return void this.#limits.closed('refused')
      this.#limits.closed('evicted')
    }
    this.#idle.add(connection)
  }

  /** The connection that waits for its client with its oldest request: for the rest of the request, or to take the answer. */
  #waitingForClient(): Connection | undefined {
    for (const connection of this.#busy) {
      const [answer] = connection.answers
      if (answer !== undefined && (!answer.req.complete || answer.writableEnded)) return connection
    }
    return undefined
  }

  #remove(connection: Connection): void {
    const { socket, client } = connection
    if (!this.#open.delete(socket)) return
    this.#idle.delete(connection)
    this.#busy.delete(connection)
    for (const kind of ['body', 'unsent', 'sent'] as const) this.#release(connection, kind)
    if (client === null) return
    const count = (this.#byClient.get(client) ?? 0) - 1
    if (count > 0) this.#byClient.set(client, count)
    else this.#byClient.delete(client)
  }
}

/**
 * Descriptors that are kept free of connections: Node itself takes about 25, and the files of keys and databases
 * are opened again when they change.
 */
const RESERVED_DESCRIPTORS = 96

/**
 * How many connections a server may have open, so that connections never take the last descriptor of the process. A
 * process without descriptors cannot read a file of keys, and would not learn that a key was revoked.
 *
 * @param most the result if the process may have enough descriptors
 * @param limit how many descriptors the process may have, as `ulimit -n` prints it. Default: that of this process
 */
export function connectionLimit(most: number, limit = descriptorLimit()): number {
  // If the process may have few descriptors, connections get a fourth of them.
  return Math.min(most, Math.max(limit - RESERVED_DESCRIPTORS, Math.floor(limit / 4)))
}

let known: number | undefined

/** The limit of this process, which Node raises to the hard limit when it starts. Windows has none. */
function descriptorLimit(): number {
  if (known !== undefined) return known
  const report: { readonly userLimits?: { readonly open_files?: { readonly soft?: unknown } } } =
    process.report.getReport()
  const soft = report.userLimits?.open_files?.soft
  known = typeof soft === 'number' ? soft : Number.POSITIVE_INFINITY
  return known
}
