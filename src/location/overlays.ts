import { Database } from '../mmdb/database.ts'
import { LOOKED_UP_AS_IPV4 } from '../mmdb/format.ts'
import { DataSectionEncoder } from '../mmdb/writer/data-section-encoder.ts'
import { encodeDatabase } from '../mmdb/writer/database-encoder.ts'
import { DEFAULT_BUILD_DATE } from '../mmdb/writer/mmdb-writer.ts'
import { ipv4InIPv6, NetworkTrie } from '../mmdb/writer/network-trie.ts'
import { NodeTable } from '../mmdb/writer/node-table.ts'
import { SearchTreeEncoder } from '../mmdb/writer/search-tree-encoder.ts'
import { ValueTable } from '../mmdb/writer/value-table.ts'
import { type Overlay, readOverlays } from './overlay-records.ts'

/**
 * A database of the option `overlays`; `null` for none. The most specific network with an address is used.
 *
 * @throws InvalidOverlayError when they are not valid
 */
export function openOverlays(overlays: readonly Overlay[]): Database | null {
  const values = new ValueTable()
  const networks = readOverlays(overlays, (record) => values.add(record))
  if (networks.length === 0) return null
  const trie = new NetworkTrie()
  for (const { family, words, prefixLength, value } of networks)
    if (family === 6) trie.insert(words, prefixLength, value)
  // IPv4 last: an IPv6 network around it, such as ::/8, holds IPv6 addresses only.
  for (const { words, prefixLength } of LOOKED_UP_AS_IPV4) trie.remove(words, prefixLength)
  for (const network of networks) {
    if (network.family === 6) continue
    const { words, prefixLength } = ipv4InIPv6(network)
    trie.insert(words, prefixLength, network.value)
  }
  const table = new NodeTable()
  const root = trie.addTo(table)
  const bytes = encodeDatabase(new SearchTreeEncoder(table, root), new DataSectionEncoder(values), {
    databaseType: 'Geofix-Overlays',
    ipVersion: 6,
    languages: [],
    description: {},
    buildDate: new Date(DEFAULT_BUILD_DATE),
  })
  return new Database(bytes)
}
