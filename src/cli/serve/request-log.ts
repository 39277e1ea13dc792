import { Address } from '../../address/address.ts'
import { ClientWalk } from '../../client/client-address.ts'
import type { ServeSettings } from './flags.ts'
import type { Exchange } from './http-server.ts'
import type { JsonLog } from './log.ts'
import type { Served } from './served.ts'

/**
 * Returns a function that writes the line of an answer. The line has no key, no address that was looked up and no text of
 * the caller but a well-formed request identifier.
 */
export function requestLog(
  log: JsonLog,
  { trustedProxies, forwardedHeader, logClient }: ServeSettings,
): (exchange: Exchange<Served>) => void {
  const walk = new ClientWalk({ trustedProxies, forwardedHeader })
  const address = new Address()
  const clientOf = ({ asked, peer }: Exchange<Served>): string | null => {
    const found = walk.seek({ headers: asked ?? {}, remoteAddress: peer }, undefined, address)
    return typeof found === 'string' ? address.text : found.ip || null
  }
  return (exchange) => {
    const { id, asked, peer, status, milliseconds, served } = exchange
    log.write('request', {
      id,
      method: asked?.method ?? null,
      operation: served?.operation ?? null,
      status,
      key: served?.keyId ?? null,
      ms: milliseconds === null ? null : Math.round(milliseconds * 1000) / 1000,
      ...(logClient === 'none' ? {} : { peer, client: clientOf(exchange) }),
    })
  }
}
