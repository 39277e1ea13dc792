import { IPV4_ALIASES, IPV4_IN_IPV6, IPV4_MAPPED, type TreePath } from '../address/position.ts'
import type { Bytes } from '../bytes/byte-source.ts'
import { DatabaseSet } from '../location/database-set.ts'
import { type OverlaidNetwork, type Overlay, readOverlays } from '../location/overlays.ts'
import { SampledFields } from '../location/record-table.ts'
import { isGeoip2 } from '../location/vendors.ts'
import { Database } from '../mmdb/database.ts'
import { DataSectionEncoder, encodeDatabase } from '../mmdb/writer/database-encoder.ts'
import { EMPTY, isNode, type Link, linkToValue, NetworkTrie, NodeTable } from '../mmdb/writer/node-table.ts'
import { SearchTreeEncoder } from '../mmdb/writer/search-tree-encoder.ts'
import { ValueTable } from '../mmdb/writer/value-table.ts'
import { copyTree, type EditedDatabase, editedMetadata, openForEdit, written } from './edited-database.ts'
import { checkSlimOptions, slimDatabase } from './slim.ts'

/**
 * Makes a database with a program's own networks, private ones too. Their locations replace those of the database in all
 * of the network; the most specific of the given networks with an address is used. All other records stay as they are if
 * the database has the schema of GeoIP2; those of other vendors are written in that schema, as `slim` writes them. The
 * same bytes and overlays always give the same file.
 *
 * @param bytes an uncompressed `.mmdb` file, or a packed one
 * @throws InvalidOverlayError when an overlay is not valid, or two have the same network
 * @throws InvalidDatabaseError when the database is damaged, or has no locations
 */
export function overlay(bytes: Bytes, overlays: readonly Overlay[]): Uint8Array {
  const values = new ValueTable()
  const networks = readOverlays(overlays, (record) => values.add(record))
  return overlayDatabase(openForEdit(bytes), networks, values).bytes
}

/**
 * Does what `overlay` does, and counts the records.
 *
 * @param networks larger ones first
 * @param values has their records
 */
export function overlayDatabase(
  original: Database,
  networks: readonly OverlaidNetwork[],
  values: ValueTable,
): EditedDatabase {
  const set = new DatabaseSet([original])
  if (set.noLocationsError !== null) throw set.noLocationsError
  const fields = new SampledFields(original)
  if (fields.isEmpty || isGeoip2(fields)) return withNetworks(original, networks, values)
  const { bytes, originalRecordCount } = slimDatabase(original, checkSlimOptions())
  return { ...withNetworks(new Database(bytes, original.path), networks, values), originalRecordCount }
}

function withNetworks(
  database: Database,
  networks: readonly OverlaidNetwork[],
  values: ValueTable,
): EditedDatabase {
  const { bytes, data, metadata, path } = database
  return written(path, () => {
    const offsets: number[] = []
    const table = new NodeTable()
    const depth = metadata.ipVersion === 4 ? 32 : 128
    // Ids of values: those of the database's records first.
    const copy = copyTree(database, 0, depth, table, (offset) => linkToValue(offsets.push(offset) - 1))
    const tries = { ipv4: new NetworkTrie(), ipv6: new NetworkTrie() }
    for (const { family, words, prefixLength, value } of networks) {
      const trie = family === 4 ? tries.ipv4 : tries.ipv6
      trie.set(words, prefixLength, linkToValue(offsets.length + value))
    }
    const languages = new Set(metadata.languages)
    if (networks.some(({ hasNames }) => hasNames)) languages.add('en')
    const ipVersion = networks.some(({ family }) => family === 6) ? 6 : metadata.ipVersion
    const root =
      ipVersion === 4
        ? tries.ipv4.addTo(table, copy)
        : inBothFamilies(table, metadata.ipVersion === 6 ? copy : null, copy, tries)
    const before = bytes.subarray(data.base, metadata.start)
    const section = new DataSectionEncoder(values, { before })
    const tree = new SearchTreeEncoder(table, root)
    const ids = tree.values()
    for (const id of ids) if (id >= offsets.length) section.offsetOf(id - offsets.length)
    const file = encodeDatabase(
      tree,
      {
        get bytes() {
          return section.bytes
        },
        offsetOf: (id) => {
          const offset = offsets[id]
          return offset === undefined ? section.offsetOf(id - offsets.length) : offset - data.base
        },
      },
      {
        ...editedMetadata(
          database,
          `${networks.length} ${networks.length === 1 ? 'network' : 'networks'} overlaid`,
          metadata.overlayBytes + section.bytes.length - before.length,
        ),
        ipVersion,
        languages: [...languages].sort(),
      },
    )
    return { bytes: file, recordCount: ids.length, originalRecordCount: offsets.length }
  })
}

interface Tries {
  readonly ipv4: NetworkTrie
  readonly ipv6: NetworkTrie
}

/**
 * An IPv6 tree with all networks.
 *
 * @param ipv6Root of the database; `null` if it has an IPv4 tree
 * @param ipv4Root of an IPv4 tree
 */
function inBothFamilies(
  table: NodeTable,
  ipv6Root: Link | null,
  ipv4Root: Link,
  { ipv4, ipv6 }: Tries,
): Link {
  const at = (path: TreePath): Link => table.find(ipv6Root ?? EMPTY, path.words, path.prefixLength)
  const before = ipv6Root === null ? ipv4Root : at(IPV4_IN_IPV6)
  const after = ipv4.addTo(table, before)
  const aliases =
    ipv6Root === null ? [IPV4_MAPPED] : IPV4_ALIASES.filter((path) => isNode(before) && at(path) === before)
  // IPv4 last: an IPv6 network around it, such as ::/8, holds IPv6 addresses only.
  return [IPV4_IN_IPV6, ...aliases].reduce(
    (root, { words, prefixLength }) => table.replace(root, words, prefixLength, after),
    ipv6.addTo(table, ipv6Root ?? EMPTY),
  )
}
