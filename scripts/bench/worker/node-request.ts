import { IncomingMessage } from 'node:http'
import { Socket } from 'node:net'

/** What a browser sends, as Node keeps it. */
const RAW_HEADERS = [
  ...[
    'Host',
    'example.com',
    'User-Agent',
    'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0',
  ],
  ...[
    'Accept',
    'text/html,application/xhtml+xml',
    'Accept-Language',
    'en-GB,en;q=0.5',
    'Accept-Encoding',
    'gzip, br',
  ],
  ...['Connection', 'keep-alive', 'Cookie', 'session=4f0c2a'],
]

/**
 * Requests of Node's HTTP server, each on a socket of its own from one of the addresses. A socket asks the
 * system once who is on the other end and remembers that in `_peername`; here nobody is, so it is put there.
 */
export function nodeRequests(addresses: readonly string[]): IncomingMessage[] {
  return addresses.map((address) => {
    const socket = new Socket()
    Object.assign(socket, { _peername: { address, family: 'IPv4', port: 50_000 } })
    if (socket.remoteAddress !== address) throw new Error('this Node keeps the peer of a socket elsewhere')
    const request = new IncomingMessage(socket)
    request.rawHeaders.push(...RAW_HEADERS)
    return request
  })
}
