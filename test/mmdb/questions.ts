import { parseCidr } from '../../src/address/cidr.ts'
import type { Database } from '../../src/mmdb/database.ts'
import type { MmdbValue } from '../../src/mmdb/record-decoder.ts'
import { NO_RECORD } from '../../src/mmdb/search-tree.ts'

/** What a database says of an address: `null` for no record; and how many bits of 32 or 128 settled it. */
export interface Answer {
  readonly record: MmdbValue | null
  readonly prefixLength: number
}

/** Asks the search tree for IPv4 or IPv6, as the address is written: no rules about special addresses. */
export function ask(database: Database, address: string): Answer {
  const ipv4 = !address.includes(':')
  const { words } = parseCidr(`${address}/${ipv4 ? 32 : 128}`)
  const { tree } = database
  const offset = ipv4 ? tree.findIPv4(words[0] ?? 0) : tree.findIPv6(words)
  return {
    record: offset === NO_RECORD ? null : database.record(offset),
    prefixLength: ipv4 ? Math.max(tree.prefixLength - tree.ipv4RootDepth, 0) : tree.prefixLength,
  }
}
