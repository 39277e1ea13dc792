// Shared steps of making a database from another one: open it, copy its search tree, write its new metadata.
import { asUint8Array, type Bytes } from '../bytes/byte-source.ts'
import { extractUncompressed } from '../bytes/extract.ts'
import { isPacked } from '../bytes/file-kind.ts'
import { InvalidDatabaseError, isGeofixError } from '../errors.ts'
import { Database } from '../mmdb/database.ts'
import { OVERLAY_BYTES } from '../mmdb/metadata.ts'
import { NOT_WALKED, walkTree } from '../mmdb/networks.ts'
import { NO_RECORD } from '../mmdb/search-tree.ts'
import type { DatabaseOptions } from '../mmdb/writer/database-encoder.ts'
import { EMPTY, type Link, type NodeTable } from '../mmdb/writer/node-table.ts'
import { unpack } from '../packed/pack.ts'

/** A database that was made of another one. */
export interface EditedDatabase {
  /** The `.mmdb` file. */
  readonly bytes: Uint8Array
  /** How many distinct records its search tree leads to. */
  readonly recordCount: number
  /** How many distinct records the search tree of the original leads to. */
  readonly originalRecordCount: number
}

/** Opens the bytes of a file, packed, in a tar archive, or neither. @throws InvalidDatabaseError when it is not a database */
export function openForEdit(bytes: Bytes, path?: string): Database {
  const file = extractUncompressed(asUint8Array(bytes), path)
  return new Database(isPacked(file) ? unpack(file) : file, path)
}

/**
 * Copies a search tree to a table, which merges networks with equal values and shares equal subtrees. Each node is
 * visited once, however many paths lead to it.
 *
 * @param from the node to start from, or the value of a record
 * @param bits of the addresses below it
 * @param linkOf gives the new link for the offset of a record. Called once for each record, in the order of addresses
 * @returns the link to the copy
 * @throws InvalidDatabaseError when the tree is damaged
 */
export function copyTree(
  { tree }: Database,
  from: number,
  bits: number,
  table: NodeTable,
  linkOf: (offset: number) => Link,
): Link {
  const copies = new Int32Array(tree.metadata.nodeCount).fill(NOT_WALKED)
  const links = new Map<number, Link>()
  return walkTree(tree, from, bits, {
    known: (node) => copies[node] ?? EMPTY,
    leaf(value) {
      const offset = tree.record(value)
      if (offset === NO_RECORD) return EMPTY
      let link = links.get(offset)
      if (link === undefined) {
        link = linkOf(offset)
        links.set(offset, link)
      }
      return link
    },
    join(node, left, right) {
      const link = table.node(left, right)
      copies[node] = link
      return link
    },
  })
}

/**
 * The metadata of a database that was made of another one: type and build date stay.
 *
 * @param change what was done to it, for the description
 */
export function editedMetadata(
  { metadata }: Database,
  change: string,
  overlayBytes = 0,
): Pick<DatabaseOptions, 'databaseType' | 'description' | 'buildDate'> {
  const { databaseType, description, buildDate } = metadata
  const { en } = description
  const text = en === undefined ? `Made with Geofix: ${change}` : `${en} (changed with Geofix: ${change})`
  const own = overlayBytes > 0 && { [OVERLAY_BYTES]: String(overlayBytes) }
  const texts = { ...description, en: text, ...own }
  // A file with an impossible date gets the date that means "unknown".
  return { databaseType, description: texts, buildDate: buildDate ?? new Date(0) }
}

/** Runs a step that writes what it read. @throws InvalidDatabaseError when the format or its limits do not allow that */
export function written<Result>(path: string | undefined, step: () => Result): Result {
  try {
    return step()
  } catch (cause) {
    // The writer refuses what no sound database has, such as a key __proto__.
    if (isGeofixError(cause) || !(cause instanceof RangeError || cause instanceof TypeError)) throw cause
    throw new InvalidDatabaseError(`it cannot be written in another form: ${cause.message}`, { path, cause })
  }
}
