import { once } from 'node:events'
import type { AddressInfo, Server } from 'node:net'

/** The TCP port of a server, which listens from then on. The caller closes it. */
export async function portOf(server: Server, host = '127.0.0.1'): Promise<number> {
  if (!server.listening) {
    server.listen(0, host)
    await once(server, 'listening')
  }
  return (server.address() as AddressInfo).port // a TCP server's address
}
