import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { gunzipSync } from 'node:zlib'
import { advance, compare as comparePositions } from '../../src/address/position.ts'
import { readGzipMember } from '../../src/bytes/extract.ts'
import { isPacked } from '../../src/bytes/file-kind.ts'
import { Database, type OpenDatabase } from '../../src/mmdb/database.ts'
import { NATIVE_CODEC } from '../../src/node/file-bytes.ts'
import { BlockFile, sourceOf } from '../../src/packed/block-file.ts'
import { packWith } from '../../src/packed/pack.ts'
import { PackedDatabase } from '../../src/packed/packed-database.ts'
import { listRuns, STORED_ALIAS } from '../../src/packed/tree-runs.ts'
import { unpackFile } from '../../src/packed/unpack.ts'
import { TOOL, withoutFileMetadata } from './compress.ts'

/** Files that one process of the tool gets: operating systems limit the length of a command. */
const FILES_PER_PROCESS = 500

/**
 * Packs a database with libdeflate, whose blocks are a twentieth smaller than those of `pack`. The tool compresses files,
 * so all blocks are collected first, and packed when they are compressed.
 */
export function smallestPacked(database: Uint8Array): Uint8Array {
  const blocks: Uint8Array[] = []
  packWith((block) => {
    blocks.push(block)
    return block
  }, database)
  const deflated = deflateAll(blocks)
  let next = 0
  return packWith((block) => deflated[next++] ?? block, database)
}

function deflateAll(blocks: readonly Uint8Array[]): Uint8Array[] {
  const folder = mkdtempSync(join(tmpdir(), 'geofix-blocks-'))
  try {
    const paths = blocks.map((block, i) => {
      const path = join(folder, String(i))
      writeFileSync(path, block)
      return path
    })
    for (let i = 0; i < paths.length; i += FILES_PER_PROCESS) {
      execFileSync(TOOL, ['-12', '-f', ...paths.slice(i, i + FILES_PER_PROCESS)])
    }
    return paths.map((path) => readGzipMember(withoutFileMetadata(readFileSync(`${path}.gz`))).deflate)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** The MMDB file that a published file was made from: a packed database or gzip. Every checksum in it is checked. */
export function plainForm(published: Uint8Array): Buffer {
  if (!isPacked(published)) return gunzipSync(published)
  const { buffer, byteOffset, length } = unpackFile(new BlockFile(sourceOf(published), NATIVE_CODEC))
  return Buffer.from(buffer, byteOffset, length)
}

/** Opens a packed database. */
export function openPacked(packed: Uint8Array): PackedDatabase {
  return new PackedDatabase(sourceOf(packed), NATIVE_CODEC)
}

/** How much was compared. */
export interface Equality {
  /** Networks of the search tree, with and without a record. In an IPv6 tree, those of IPv4 count for both families. */
  readonly networks: number
  readonly records: number
}

/** Of this many records, one is decoded in both forms. Decoding all takes minutes, and their bytes are compared anyway. */
const RECORDS_PER_DECODED = 500

/**
 * Looks up every network of a database in its packed form and in its plain form. Compares prefix lengths, offsets of
 * records, metadata, and all bytes that records are made of.
 *
 * @throws Error at the first difference
 */
export function proveEqual(plain: Database, packed: PackedDatabase): Equality {
  if (!isDeepStrictEqual(packed.metadata, plain.metadata)) throw new Error('the metadata differ')
  const unpacked = new Database(unpackFile(new BlockFile(sourceOf(packed.bytes), NATIVE_CODEC)))
  const offsets = compareNetworks(plain, packed, unpacked)
  const { base, end } = plain.data
  if (Buffer.compare(unpacked.bytes.subarray(base, end), plain.bytes.subarray(base, end)) !== 0)
    throw new Error('the data differ')
  const records = [...offsets.records].sort((a, b) => a - b)
  for (let i = 0; i < records.length; i += RECORDS_PER_DECODED) {
    const offset = records[i] ?? 0
    if (!isDeepStrictEqual(packed.record(offset), plain.record(offset))) {
      throw new Error(`the records at byte ${offset} differ`)
    }
  }
  return { networks: offsets.networks, records: records.length }
}

function compareNetworks(
  plain: Database,
  packed: PackedDatabase,
  unpacked: Database,
): { readonly networks: number; readonly records: ReadonlySet<number> } {
  const isIPv4Only = plain.metadata.ipVersion === 4
  const position = new Uint32Array(4)
  const records = new Set<number>()
  let networks = 0
  const index = packed.index((offset) => offset)
  const compare = (family: 4 | 6, other: OpenDatabase = packed): void => {
    plain.ranges.seek(position)
    other.ranges.seek(position)
    const { offset, prefixLength } = plain.ranges
    const isFound = family === 6 || index.findIPv4(position[3] ?? 0) === offset
    if (!isFound || other.ranges.offset !== offset || other.ranges.prefixLength !== prefixLength) {
      const words = Array.from(position, (word) => word.toString(16).padStart(8, '0'))
      throw new Error(`IPv${family} ${words.join(':')} has another record or prefix length`)
    }
    if (offset > 0) records.add(offset)
    networks++
  }
  listRuns(plain.tree, (start, end, stored) => {
    position.set(start)
    // Lookups ask for the IPv4 address in an alias. Only unpacking follows it.
    if (stored === STORED_ALIAS) return compare(6, unpacked)
    do {
      const isIPv4 = position[0] === 0 && position[1] === 0 && position[2] === 0
      plain.ranges.seek(position)
      // A larger network than all IPv4 addresses is no network of theirs.
      if (isIPv4 && plain.ranges.prefixLength >= 96) compare(4)
      if (!isIPv4Only) compare(6)
      advance(position, plain.ranges.prefixLength)
    } while (comparePositions(position, end) !== 0)
  })
  return { networks, records }
}
