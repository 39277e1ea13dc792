import { asUint8Array, type Bytes } from '../bytes/byte-source.ts'
import { type Deflate, PORTABLE_CODEC, deflate as portableDeflate } from '../bytes/deflate.ts'
import { isPacked } from '../bytes/extract.ts'
import { crc32 } from '../bytes/gzip-member.ts'
import { InvalidDatabaseError, isGeofixError } from '../errors.ts'
import { Database } from '../mmdb/database.ts'
import { encodeData, nextPart } from './data-block.ts'
import { type DirectoryRows, encodeDirectory } from './directory.ts'
import { FIRST_RECORD, LEAVES_PER_BLOCK, mostUnreachable, RECORD_SHIFT } from './format.ts'
import { encodeLeaves } from './leaf-block.ts'
import { writeNumber } from './number-stream.ts'
import { PackedFile, sourceOf } from './packed-file.ts'
import { advance } from './position.ts'
import { type TreeLeaves, treeLeaves } from './tree-leaves.ts'
import { unpackFile } from './unpack.ts'

/** Blocks of one kind, and their rows in the directory. */
interface Packed<Row> {
  readonly rows: readonly Row[]
  readonly blocks: readonly Uint8Array[]
}

/**
 * Packs an MMDB database to half the size of gzip. A lookup reads only the blocks that it needs. {@link unpack} gives a
 * file with the same records, networks and metadata. The same bytes always give the same packed file.
 *
 * A city database takes a minute, and about 15 times the packed size in memory.
 *
 * @param bytes an uncompressed `.mmdb` file
 * @throws InvalidDatabaseError when it is not a database, is already packed, or its search tree has a loop, or
 *   thousands of unused nodes for each used one
 */
export function pack(bytes: Bytes): Uint8Array {
  return packWith(portableDeflate, asUint8Array(bytes))
}

/**
 * Unpacks a file that {@link pack} made, and checks all of it.
 *
 * @returns an MMDB file with the same records, networks, metadata and data section. The nodes of its search tree can
 *   have another order
 * @throws InvalidDatabaseError when it is damaged or not packed
 */
export function unpack(bytes: Bytes): Uint8Array {
  const packed = asUint8Array(bytes)
  if (!isPacked(packed)) throw new InvalidDatabaseError('it is not a packed database')
  return unpackFile(new PackedFile(sourceOf(packed), PORTABLE_CODEC))
}

/** As {@link pack}, with another compressor for the blocks, whose bytes can differ. */
export function packWith(deflate: Deflate, file: Uint8Array): Uint8Array {
  if (isPacked(file)) throw new InvalidDatabaseError('it is packed already')
  const database = new Database(file)
  const { tree, data, metadata } = database
  const base = metadata.ipVersion === 4 ? 96 : 0
  const leaves = treeLeaves(tree)
  const leafBlocks = packLeaves(deflate, leaves, base)
  const recordBlocks = packRecords(deflate, leaves.records)
  const dataBlocks = packData(deflate, file.subarray(data.base, data.end))
  const blocks = [...leafBlocks.blocks, ...recordBlocks.blocks, ...dataBlocks.blocks]
  const blockBytes = blocks.reduce((sum, block) => sum + block.length, 0)
  const directory = encodeDirectory(
    {
      isMinimal: leaves.isMinimal ? 1 : 0,
      leafCount: leaves.values.length,
      recordCount: leaves.records.length,
      ...networkCount(database),
      aliases: aliasRows(leaves, base),
      leafBlocks: leafBlocks.rows,
      recordBlocks: recordBlocks.rows,
      dataBlocks: dataBlocks.rows,
      metadata: file.subarray(metadata.start),
    },
    blockBytes,
    portableDeflate,
  )
  const packed = concatenated([directory, ...blocks])
  if (leaves.unreachable > mostUnreachable(packed.length, metadata.recordSize))
    throw new InvalidDatabaseError('it has too many nodes that no path leads to')
  return packed
}

function packLeaves(
  deflate: Deflate,
  leaves: TreeLeaves,
  base: number,
): Packed<DirectoryRows['leafBlocks'][number]> {
  const shape = { base, valueCount: FIRST_RECORD + leaves.records.length }
  const position = new Uint32Array(4)
  const rows: DirectoryRows['leafBlocks'][number][] = []
  const blocks: Uint8Array[] = []
  for (let start = 0; start < leaves.values.length; start += LEAVES_PER_BLOCK) {
    const end = start + LEAVES_PER_BLOCK
    const [word0 = 0, word1 = 0, word2 = 0, word3 = 0] = position
    const streams = encodeLeaves(
      leaves.prefixLengths.subarray(start, end),
      leaves.values.subarray(start, end),
      position,
      shape,
    )
    const deflated = deflate(streams.tokens)
    const block = concatenated([deflated, streams.lowBytes])
    rows.push({
      word0,
      word1,
      word2,
      word3,
      tokenBytes: streams.tokens.length,
      deflated: deflated.length,
      lowBytes: streams.lowBytes.length,
      crc: crc32(block),
    })
    blocks.push(block)
  }
  return { rows, blocks }
}

/** The record table: each record as the difference from the one before. */
function packRecords(deflate: Deflate, records: Uint32Array): Packed<DirectoryRows['recordBlocks'][number]> {
  const rows: DirectoryRows['recordBlocks'][number][] = []
  const blocks: Uint8Array[] = []
  for (let start = 0; start < records.length; start += 2 ** RECORD_SHIFT) {
    const base = records[start - 1] ?? 0
    const bytes: number[] = []
    let before = base
    for (const record of records.subarray(start, start + 2 ** RECORD_SHIFT)) {
      writeNumber(bytes, record - before)
      before = record
    }
    const deflated = deflate(Uint8Array.from(bytes))
    rows.push({ base, bytes: bytes.length, deflated: deflated.length, crc: crc32(deflated) })
    blocks.push(deflated)
  }
  return { rows, blocks }
}

function packData(deflate: Deflate, section: Uint8Array): Packed<DirectoryRows['dataBlocks'][number]> {
  const rows: DirectoryRows['dataBlocks'][number][] = []
  const blocks: Uint8Array[] = []
  for (let start = 0; start < section.length; ) {
    const part = nextPart(section, start)
    const columns = encodeData(section, part)
    const deflated = deflate(columns)
    rows.push({
      length: part.end - start,
      columnBytes: columns.length,
      deflated: deflated.length,
      crc: crc32(deflated),
    })
    blocks.push(deflated)
    start = part.end
  }
  return { rows, blocks }
}

/** The halves of a double, low first: 32 bits cannot count the networks of every file. NaN for a damaged tree. */
function networkCount(database: Database): { readonly networks0: number; readonly networks1: number } {
  const view = new DataView(new ArrayBuffer(8))
  try {
    view.setFloat64(0, database.countNetworks(), true)
  } catch (error) {
    if (!isGeofixError(error)) throw error
    view.setFloat64(0, Number.NaN, true)
  }
  return { networks0: view.getUint32(0, true), networks1: view.getUint32(4, true) }
}

function aliasRows({ aliases, prefixLengths }: TreeLeaves, base: number): DirectoryRows['aliases'] {
  const positions = new Map<number, Uint32Array>(aliases.map(({ target }) => [target, new Uint32Array(4)]))
  const position = new Uint32Array(4)
  if (positions.size > 0) {
    for (const [leaf, prefixLength] of prefixLengths.entries()) {
      positions.get(leaf)?.set(position)
      advance(position, base + prefixLength)
    }
  }
  return aliases.map(({ leaf, target, targetLength }) => {
    const [word0 = 0, word1 = 0, word2 = 0, word3 = 0] = positions.get(target) ?? position
    return { leaf, word0, word1, word2, word3, prefixLength: targetLength }
  })
}

function concatenated(parts: readonly Uint8Array[]): Uint8Array {
  const bytes = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0))
  let at = 0
  for (const part of parts) {
    bytes.set(part, at)
    at += part.length
  }
  return bytes
}
