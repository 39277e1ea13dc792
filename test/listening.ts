import { once } from 'node:events'
import type { AddressInfo, ListenOptions, Server } from 'node:net'
import { onTestFinished } from 'vitest'

/** The TCP port of a server, which listens from then on. The caller closes it. */
export async function portOf(server: Server): Promise<number> {
  if (!server.listening) {
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
  }
  return (server.address() as AddressInfo).port // a TCP server's address
}

/** The TCP port of a server, which listens until the end of the test. A server at a path has none. */
export async function started(
  server: Server,
  where: ListenOptions = { port: 0, host: '127.0.0.1' },
): Promise<number> {
  onTestFinished(() => void server.close())
  server.listen(where)
  await once(server, 'listening')
  return Object(server.address()).port
}
