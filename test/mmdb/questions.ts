import { parseCidr } from '../../src/address/ip-text.ts'
import type { Database } from '../../src/mmdb/database.ts'
import type { MmdbValue } from '../../src/mmdb/record-decoder.ts'
import { NO_RECORD } from '../../src/mmdb/search-tree.ts'

/** The record of an address, `null` for none, and how many of its 32 or 128 bits were used. */
export interface Answer {
  readonly record: MmdbValue | null
  readonly prefixLength: number
}

/** Looks an address up as IPv4 or IPv6, as written, without rules for special addresses. */
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
