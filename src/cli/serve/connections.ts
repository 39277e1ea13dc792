// Bounds the connections of a server and of each client. If there are too many, an idle one is closed for a new one.
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

export interface ConnectionLimits {
  /** The most connections of the server, if the process may have that many descriptors. */
  readonly max?: number
  /** The most connections of one client of a process: an IPv4 address or an IPv6 /64 network. */
  readonly maxPerClient?: number | undefined
  /** Whether a peer is a proxy, which has the connections of many clients. */
  readonly isProxy?: (peer: Address) => boolean
  /** Is called for each connection that is closed at once: its client, or all clients, have too many. */
  readonly refused?: () => void
  /** Is called for each idle connection that is closed for a new one. */
  readonly evicted?: () => void
}

/** The limits of the port of the metrics. One client may have all its connections. */
export const METRICS_LIMITS: ConnectionLimits = {
  max: MAX_METRICS_CONNECTIONS,
  maxPerClient: MAX_METRICS_CONNECTIONS,
}

/** The connections of a server. */
export class Connections {
  readonly #open = new Set<Socket>()
  /** Connections without a request to answer, the longest idle first. */
  readonly #idle = new Set<Socket>()
  /** The answers that are not sent yet. */
  readonly #pending = new Map<Socket, Set<ServerResponse>>()
  readonly #byClient = new Map<string, number>()
  readonly #address = new Address()
  readonly #max: number
  readonly #maxPerClient: number
  readonly #limits: ConnectionLimits

  constructor(server: Server, limits: ConnectionLimits) {
    this.#limits = limits
    this.#max = connectionLimit(limits.max ?? MAX_CONNECTIONS)
    this.#maxPerClient = limits.maxPerClient ?? Math.min(MAX_CLIENT_CONNECTIONS, Math.ceil(this.#max / 10))
    server.on('connection', (socket) => this.#add(socket))
  }

  /** Closes the connections that have never sent anything, such as the spare ones of a balancer. Node takes them for busy. */
  closeUnused(): void {
    for (const socket of this.#open) if (socket.bytesRead === 0) socket.destroy()
  }

  /** Marks a connection as busy until the answer is sent or cannot be. */
  begin(socket: Socket, outgoing: ServerResponse): void {
    this.#idle.delete(socket)
    const answers = this.#pending.get(socket) ?? new Set()
    this.#pending.set(socket, answers.add(outgoing))
    outgoing.on('close', () => {
      answers.delete(outgoing)
      if (answers.size > 0) return
      this.#pending.delete(socket)
      if (this.#open.has(socket)) this.#idle.add(socket)
    })
  }

  /** The oldest answer that a connection waits for. */
  pendingOf(socket: Socket): ServerResponse | undefined {
    return this.#pending.get(socket)?.values().next().value
  }

  #add(socket: Socket): void {
    // Not limited: a proxy, and the peer of a Unix socket.
    const isLimited = this.#address.parse(socket.remoteAddress) && !this.#limits.isProxy?.(this.#address)
    const client = isLimited ? clientNetwork(this.#address) : null
    const { refused = () => {}, evicted = () => {} } = this.#limits
    if (client !== null) {
      const count = (this.#byClient.get(client) ?? 0) + 1
      if (count > this.#maxPerClient) {
        socket.destroy()
        return void refused()
      }
      this.#byClient.set(client, count)
    }
    this.#open.add(socket)
    socket.once('close', () => this.#remove(socket, client))
    if (this.#open.size > this.#max) {
      const [longest] = this.#idle
      const closed = longest ?? this.#waitingForClient() ?? socket
      closed.destroy()
      // The event `close` of the socket comes later.
      this.#open.delete(closed)
      this.#idle.delete(closed)
      this.#pending.delete(closed)
      if (closed === socket) return void refused()
      evicted()
    }
    this.#idle.add(socket)
  }

  /** The connection that waits for its client with its oldest request: for the rest of the request, or to take the answer. */
  #waitingForClient(): Socket | undefined {
    for (const [socket, answers] of this.#pending) {
      const [answer] = answers
      if (answer !== undefined && (!answer.req.complete || answer.writableEnded)) return socket
    }
    return undefined
  }

  #remove(socket: Socket, client: string | null): void {
    this.#open.delete(socket)
    this.#idle.delete(socket)
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
