import { Database } from '../mmdb/database.ts'
import { MmdbWriter } from '../mmdb/writer/mmdb-writer.ts'
import { type Overlay, readOverlays } from './overlay-records.ts'

/** IPv6 networks that networks such as ::/0 do not cover: addresses in them are looked up as IPv4 addresses. */
const LOOKED_UP_AS_IPV4: readonly string[] = [
  '::/96',
  '2002::/16', // 6to4
  '2001::/32', // Teredo
  '64:ff9b::/96', // NAT64
]

/**
 * A database of the option `overlays`; `null` for none. The most specific network with an address is used.
 *
 * @throws InvalidOverlayError when they are not valid
 */
export function openOverlays(overlays: readonly Overlay[]): Database | null {
  const networks = readOverlays(overlays)
  if (networks.length === 0) return null
  const writer = new MmdbWriter({ databaseType: 'Geofix-Overlays' })
  // IPv4 last: an IPv6 network around it, such as ::/8, holds IPv6 addresses only.
  for (const { family, text, value } of networks) if (family === 6) writer.insert(text, value)
  for (const network of LOOKED_UP_AS_IPV4) writer.remove(network)
  for (const { family, text, value } of networks) if (family === 4) writer.insert(text, value)
  return new Database(writer.toBytes())
}
