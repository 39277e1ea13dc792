// The only importer of @hono/node-server, which is bundled into the command line's output.
import { createServer, type Server } from 'node:http'
import type { Socket } from 'node:net'
import { getRequestListener, RequestError } from '@hono/node-server'
import { type Asked, FetchAsked, type Reply, responseOf } from '../../http/exchange.ts'
import { chain, isPromise, type MaybePromise } from '../../http/maybe-promise.ts'
import { type Problem, problemReply } from '../../http/problem.ts'
import { messageOf } from '../../realm.ts'
import { CommandFailure, ExitStatus } from '../terminal.ts'
import { connectionLimit } from './descriptors.ts'
import { NodeAsked, send } from './node-exchange.ts'

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
/** Open connections of a server, if the process may have as many descriptors. More are closed at once. */
const MAX_CONNECTIONS = 10_000
/** The same for the port of the metrics. */
export const MAX_METRICS_CONNECTIONS = 16
/** How often connections that have become idle are closed while the server stops. */
const STOP_INTERVAL_MS = 50

const FAILED: Problem = { code: 'INTERNAL_ERROR', detail: 'The fault is in the service, not in the request.' }

/** Answers a request. Must not throw. */
export type AnswerFunction = (asked: Asked, remoteAddress: string | undefined) => MaybePromise<Reply>

const MALFORMED: Problem = {
  code: 'MALFORMED_REQUEST',
  detail: 'The target or the Host field is malformed.',
  headers: ['connection', 'close'],
}

/** The open connections of each server. */
const connections = new WeakMap<Server, Set<Socket>>()

/**
 * Makes an HTTP/1.1 server that slow and hostile clients cannot block. Node refuses requests that are ambiguous
 * (RFC 9112 section 11.2).
 *
 * @param refused is called for each connection beyond the limit
 * @param maxConnections the limit, if the process may have as many descriptors
 */
export function makeServer(
  answer: AnswerFunction,
  refused: () => void = () => {},
  maxConnections = MAX_CONNECTIONS,
): Server {
  const unusual = getRequestListener(
    (request, { incoming: { socket }, outgoing }) =>
      chain(answer(new FetchAsked(request), socket.remoteAddress), (reply) => {
        closeIfStopping(outgoing)
        return responseOf(reply)
      }),
    {
      // HTTP/1.0 allows a request without Host.
      hostname: 'localhost',
      errorHandler: (error) =>
        responseOf(problemReply(error instanceof RequestError ? MALFORMED : FAILED, 'GET')),
    },
  )
  const server = createServer(
    {
      maxHeaderSize: MAX_HEADER_BYTES,
      headersTimeout: HEADERS_TIMEOUT_MS,
      requestTimeout: REQUEST_TIMEOUT_MS,
      keepAliveTimeout: KEEP_ALIVE_TIMEOUT_MS,
      connectionsCheckingInterval: CHECK_INTERVAL_MS,
    },
    (incoming, outgoing) => {
      const { remoteAddress } = incoming.socket
      // The client has reset the connection.
      if (remoteAddress === undefined) return void outgoing.destroy()
      const asked = new NodeAsked(incoming)
      if (!asked.isPlain) {
        // A proxy may have read another of several Host lines (RFC 9112 section 3.2).
        if (asked.get('host')?.includes(','))
          return void send(problemReply(MALFORMED, asked.method), outgoing)
        return void unusual(incoming, outgoing)
      }
      const end = (reply: Reply): void => {
        closeIfStopping(outgoing)
        send(reply, outgoing)
      }
      const reply = answer(asked, remoteAddress)
      if (isPromise(reply)) return void reply.then(end)
      end(reply)
    },
  )
  /** Tells the client not to use the connection again. */
  const closeIfStopping = (outgoing: object): void => {
    if (!server.listening && 'shouldKeepAlive' in outgoing) outgoing.shouldKeepAlive = false
  }
  const sockets = new Set<Socket>()
  connections.set(server, sockets)
  server.on('connection', (socket) => {
    sockets.add(socket)
    socket.once('close', () => sockets.delete(socket))
  })
  // By default, Node drops lines beyond 1,000, perhaps that of a trusted proxy. MAX_HEADER_BYTES bounds them.
  server.maxHeadersCount = 0
  server.timeout = IDLE_TIMEOUT_MS
  server.maxConnections = connectionLimit(maxConnections)
  server.on('drop', refused)
  server.on('checkExpectation', (_, outgoing) => outgoing.writeHead(417, { connection: 'close' }).end())
  return server
}

/** @returns the port. @throws CommandFailure when the port cannot be used */
export async function listen(server: Server, port: number, host: string): Promise<number> {
  await new Promise<void>((resolve, reject) => {
    const fail = (error: Error): void => {
      const message = `cannot listen at ${host}, port ${port}: ${messageOf(error)}`
      reject(new CommandFailure(message, ExitStatus.failed, error))
    }
    server.once('error', fail)
    server.listen({ port, host }, () => {
      server.off('error', fail)
      resolve()
    })
  })
  const address = server.address()
  return typeof address === 'object' && address !== null ? address.port : port
}

/** Stops listening, lets requests finish for some time, then closes their connections. */
export async function stop(server: Server, graceMs: number): Promise<void> {
  if (!server.listening) return
  const closed = new Promise<void>((resolve) => server.close(() => resolve()))
  // Node takes connections without a first byte, such as the spare ones of a balancer, for busy ones.
  for (const socket of connections.get(server) ?? []) if (socket.bytesRead === 0) socket.destroy()
  const idle = setInterval(() => server.closeIdleConnections(), STOP_INTERVAL_MS)
  const late = setTimeout(() => server.closeAllConnections(), graceMs)
  await closed
  clearInterval(idle)
  clearTimeout(late)
}
