import { parseCidr } from '../../src/address/ip-text.ts'
import type { Database, OpenDatabase } from '../../src/mmdb/database.ts'
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
  const offset = offsetAt(database, ipv4 ? (words[0] ?? 0) : words)
  const { prefixLength } = database.ranges
  return {
    record: offset === NO_RECORD ? null : database.record(offset),
    prefixLength: ipv4 ? Math.max(prefixLength - 96, 0) : prefixLength,
  }
}

/** The offset of the record of an address: a number for IPv4, four words for IPv6. */
export function offsetAt({ ranges, metadata }: OpenDatabase, address: number | Uint32Array): number {
  const isIPv4 = typeof address === 'number'
  if (!isIPv4 && metadata.ipVersion === 4) return NO_RECORD
  ranges.seek(isIPv4 ? Uint32Array.of(0, 0, 0, address) : address)
  return ranges.offset
}
