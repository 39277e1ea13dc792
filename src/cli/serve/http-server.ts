import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { stat, unlink } from 'node:fs/promises'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { connect, Socket } from 'node:net'
import { dirname } from 'node:path'
import type { Duplex } from 'node:stream'
import { UNIX } from '../../client/trust.ts'
import { isPromise, type MaybePromise, type Reply, type ServiceRequest } from '../../http/exchange.ts'
import type { Answer } from '../../http/options.ts'
import { FAULT, type Problem, problemReply } from '../../http/problem.ts'
import { reasonOf } from '../../node/file-state.ts'
import { CommandFailure, ExitStatus } from '../terminal.ts'
import { type ConnectionLimits, Connections } from './connections.ts'
import {
  CLOSE,
  dropRest,
  type Expects,
  framingProblem,
  NO_TUNNEL,
  NodeServiceRequest,
  parserProblem,
  rawReply,
  requestId,
  send,
  UNEXPECTED,
} from './node-exchange.ts'

/** Bytes of a request line with all header fields. */
const MAX_HEADER_BYTES = 16_384
const HEADERS_TIMEOUT_MS = 10_000
const REQUEST_TIMEOUT_MS = 30_000
/** Above 60 s, the idle time of many load balancers, so that the balancer closes an idle connection first. */
const KEEP_ALIVE_TIMEOUT_MS = 65_000
/** When a connection without traffic is closed, such as one whose client does not read. */
const IDLE_TIMEOUT_MS = 90_000
/** How often Node checks requests for these timeouts. */
const CHECK_INTERVAL_MS = 1000
/** Only the owner and the group of a Unix socket can connect: a proxy of another user has the group. */
export const SOCKET_UMASK = 0o117
/** Limit in bytes. A longer path would be cut off by the system, and the socket would be elsewhere. */
const MAX_SOCKET_PATH = process.platform === 'linux' ? 107 : 103
/** How often connections that have become idle are closed while the server stops. */
const STOP_INTERVAL_MS = 50
/** How long a connection that was just opened has for the first bytes of its request after the server stops listening. */
const FIRST_BYTES_MS = 500

/** What is served besides the operations of the service. */
export type Extra = 'health' | 'ready' | 'openapi' | 'page' | 'metrics'

/** An answer of `geofix serve`, and what the log and the metrics say of it. An answer of the service is one. */
export interface Served {
  readonly reply: Reply
  readonly answer: Pick<Answer, 'keyId' | 'outcomes'> & { readonly operation: Answer['operation'] | Extra }
  /** The address of the client, if it was looked for; empty if it is not known. */
  readonly client?: string | undefined
}

/** An answer that needs no key and looks nothing up. */
export function plain(operation: Extra | null, reply: Reply): Served {
  return { reply, answer: { operation, keyId: null, outcomes: {} } }
}

/** Answers a request. Must not throw. @param peer the address of the socket's peer, or `unix:` */
export type AnswerFunction = (asked: ServiceRequest, peer: string) => MaybePromise<Served>

/** An answer that was sent, to a request or to bytes that are not a request. */
export interface Exchange {
  /** The id of the request: the client's, if it sent a well-formed `x-request-id`. The answer has it too. */
  readonly id: string
  /** The request; `null` if there was none. */
  readonly asked: ServiceRequest | null
  readonly peer: string
  readonly status: number
  /** Time from the header of the request to the answer; `null` if there was no request. */
  readonly milliseconds: number | null
  /** The answer of the routes; `null` if the server itself refused the request. */
  readonly served: Served | null
}

export interface ServerOptions extends ConnectionLimits {
  /** Whether the server listens on a Unix socket. */
  readonly isLocal?: boolean
  /** Whether each answer closes its connection, because the server will stop. */
  readonly isEnding?: () => boolean
  /** Is called with each answer. */
  readonly told?: (exchange: Exchange) => void
}

const connectionsOf = new WeakMap<Server, Connections>()

/**
 * Makes an HTTP/1.1 server that slow and hostile clients cannot block. Node refuses requests that are ambiguous
 * (RFC 9112 section 11.2).
 */
export function makeServer(
  answer: AnswerFunction,
  { isLocal = false, isEnding = () => false, told = () => {}, ...limits }: ServerOptions = {},
): Server {
  const server = createServer({
    maxHeaderSize: MAX_HEADER_BYTES,
    headersTimeout: HEADERS_TIMEOUT_MS,
    requestTimeout: REQUEST_TIMEOUT_MS,
    keepAliveTimeout: KEEP_ALIVE_TIMEOUT_MS,
    connectionsCheckingInterval: CHECK_INTERVAL_MS,
    // A request without Host is answered here, and not by Node.
    requireHostHeader: false,
  })
  const connections = new Connections(server, limits)
  connectionsOf.set(server, connections)
  /** `undefined`: the client has reset the connection. */
  const peerOf = (socket: Socket): string | undefined => (isLocal ? UNIX : socket.remoteAddress)

  const handle = (
    incoming: IncomingMessage,
    outgoing: ServerResponse,
    expects: Expects = 'nothing',
  ): void => {
    const start = performance.now()
    const { socket } = incoming
    const peer = peerOf(socket)
    if (peer === undefined) return void outgoing.destroy()
    connections.asked(socket, outgoing)
    const asked = new NodeServiceRequest(incoming, expects === '100-continue' ? outgoing : null, (bytes) =>
      connections.received(socket, bytes),
    )
    const id = requestId(asked.get('x-request-id'))
    const finish = (reply: Reply, served: Served | null = null): number => {
      // Without "100 Continue" the client may leave the body out, and its next request would be read as the body.
      const closes = expects !== 'nothing' && !asked.isContinued
      if (closes || isEnding() || !server.listening) outgoing.shouldKeepAlive = false
      const { status = reply.status } = refusals.get(socket) ?? {}
      told({ id, asked, peer, status, milliseconds: performance.now() - start, served })
      return send(reply, id, outgoing)
    }
    const refuse = (problem: Problem): number => finish(problemReply(problem, asked.method, CLOSE))
    const unclear = framingProblem(incoming, asked) ?? asked.problem
    const problem = expects === 'something' ? UNEXPECTED : unclear
    // Node does this itself if a body was not read at all.
    if (asked.method !== 'GET' && asked.method !== 'HEAD') outgoing.once('finish', () => dropRest(incoming))
    if (problem !== null) return void refuse(problem)
    const served = answer(asked, peer)
    const end = (each: Served): void => connections.answered(socket, outgoing, finish(each.reply, each))
    if (isPromise(served)) return void served.then(end, () => refuse(FAULT))
    end(served)
  }

  /** The statuses of connections whose bytes could not be read as a request, nor as the rest of one. */
  const refusals = new WeakMap<Duplex, { readonly status: number }>()
  /** Answers what is not a request, and closes the connection. */
  const refuseBytes = (socket: Duplex, problem: Problem): void => {
    const peer = socket instanceof Socket ? peerOf(socket) : undefined
    const pending = socket instanceof Socket ? connections.pendingOf(socket) : undefined
    if (!socket.writable || peer === undefined || pending?.headersSent) return void socket.destroy()
    const reply = problemReply(problem, 'GET', CLOSE)
    const id = randomUUID()
    refusals.set(socket, reply)
    socket.end(rawReply(reply, id), () => socket.destroy())
    // The request in flight writes its own line.
    if (pending === undefined)
      told({ id, asked: null, peer, status: reply.status, milliseconds: null, served: null })
  }

  server.on('request', handle)
  server.on('checkContinue', (incoming, outgoing) => handle(incoming, outgoing, '100-continue'))
  server.on('checkExpectation', (incoming, outgoing) => handle(incoming, outgoing, 'something'))
  server.on('connect', (_, socket) => refuseBytes(socket, NO_TUNNEL))
  server.on('clientError', (error: NodeJS.ErrnoException, socket) => {
    if (error.code === 'ECONNRESET') return void socket.destroy()
    refuseBytes(socket, parserProblem(error))
  })
  // By default, Node drops lines beyond 1,000, perhaps that of a trusted proxy. MAX_HEADER_BYTES bounds them.
  server.maxHeadersCount = 0
  server.timeout = IDLE_TIMEOUT_MS
  return server
}

/** Where a server listens: at a port of a host, or at the path of a Unix socket. */
export type ListenAt = { readonly host: string; readonly port: number } | { readonly path: string }

/** @returns the port; 0 for a Unix socket. @throws CommandFailure when it cannot be used */
export async function listen(server: Server, at: ListenAt): Promise<number> {
  // The system makes a socket with the permissions that the umask leaves. A later change would come too late.
  const umask = 'path' in at ? process.umask(SOCKET_UMASK) : null
  server.listen({ ...at })
  if (umask !== null) process.umask(umask)
  await once(server, 'listening').catch((error) => {
    const where = 'path' in at ? `unix:${at.path}` : `${at.host}, port ${at.port}`
    // For a socket in a folder that does not exist, Node says that permission is denied.
    const lacksFolder = 'path' in at && !existsSync(dirname(at.path))
    const reason = lacksFolder ? `there is no folder ${dirname(at.path)}` : reasonOf(error)
    throw new CommandFailure(`cannot listen at ${where}: ${reason}`, ExitStatus.failed, error)
  })
  const address = server.address()
  return typeof address === 'object' && address !== null ? address.port : 0
}

/**
 * Removes the socket of a process that was killed. One that answers stays, and so does any other file. Only one process may
 * do this at a time.
 *
 * @throws CommandFailure when no socket can have this path
 */
export async function removeStaleSocket(path: string): Promise<void> {
  const length = Buffer.byteLength(path)
  // Windows has named pipes, whose names can be longer.
  if (process.platform !== 'win32' && length > MAX_SOCKET_PATH) {
    const message = `the path has ${length} bytes, and the system allows ${MAX_SOCKET_PATH}`
    throw new CommandFailure(`cannot listen at unix:${path}: ${message}`, ExitStatus.failed)
  }
  const stats = await stat(path).catch(() => null)
  if (stats === null || !stats.isSocket()) return
  const isRefused = await new Promise<boolean>((resolve) => {
    const socket = connect(path, () => resolve(false))
    socket.on('error', (error: NodeJS.ErrnoException) => resolve(error.code === 'ECONNREFUSED'))
    socket.end()
  })
  if (isRefused) await unlink(path).catch(() => {})
}

/** Stops listening, lets requests finish for some time, then closes their connections. */
export async function stop(server: Server, graceMs: number): Promise<void> {
  if (!server.listening) return
  const closed = new Promise<void>((resolve) => server.close(() => resolve()))
  const unused = setTimeout(() => connectionsOf.get(server)?.closeUnused(), FIRST_BYTES_MS)
  const idle = setInterval(() => server.closeIdleConnections(), STOP_INTERVAL_MS)
  const late = setTimeout(() => server.closeAllConnections(), graceMs)
  await closed
  clearInterval(idle)
  clearTimeout(unused)
  clearTimeout(late)
}
