import { deflateRawSync } from 'node:zlib'
import { type Deflate, inflate, PORTABLE_CODEC } from '../../src/bytes/deflate.ts'
import { crc32 } from '../../src/bytes/gzip-member.ts'
import { type DirectoryRows, encodeDirectory, readDirectory } from '../../src/packed/directory.ts'

/** Faster than that of the project. */
const deflate: Deflate = (bytes) => deflateRawSync(bytes)

/** A packed file without compression and checksums, so that a test can change any of its contents. */
export interface Parts extends Omit<DirectoryRows, 'leafBlocks' | 'recordBlocks' | 'dataBlocks'> {
  readonly leafBlocks: readonly (DirectoryRows['leafBlocks'][number] & {
    readonly tokens: ArrayLike<number>
    readonly low: ArrayLike<number>
  })[]
  readonly recordBlocks: readonly (DirectoryRows['recordBlocks'][number] & {
    readonly records: ArrayLike<number>
  })[]
  readonly dataBlocks: readonly (DirectoryRows['dataBlocks'][number] & {
    readonly columns: ArrayLike<number>
  })[]
}

export function partsOf(packed: Uint8Array): Parts {
  const read = (at: number, length: number): Uint8Array => packed.subarray(at, at + length)
  const directory = readDirectory(packed.length, read, PORTABLE_CODEC, Number.POSITIVE_INFINITY)
  let at = directory.end
  const next = (length: number): Uint8Array => {
    at += length
    return read(at - length, length)
  }
  const leafBlocks = rowsOf(directory.leafBlocks).map((row) => ({
    ...row,
    tokens: inflate(next(row.deflated), row.tokenBytes),
    low: next(row.lowBytes),
  }))
  const recordBlocks = rowsOf(directory.recordBlocks).map((row) => ({
    ...row,
    records: inflate(next(row.deflated), row.bytes),
  }))
  const dataBlocks = rowsOf(directory.dataBlocks).map((row) => ({
    ...row,
    columns: inflate(next(row.deflated), row.columnBytes),
  }))
  return { ...directory, aliases: rowsOf(directory.aliases), leafBlocks, recordBlocks, dataBlocks }
}

/** Makes a packed file with right sizes and checksums. */
export function packedOf(parts: Parts): Uint8Array {
  const blocks: Uint8Array[] = []
  const leafBlocks = parts.leafBlocks.map(({ tokens, low, ...row }) => {
    const deflated = deflate(Uint8Array.from(tokens))
    const block = Buffer.concat([deflated, Uint8Array.from(low)])
    blocks.push(block)
    const sizes = { tokenBytes: tokens.length, deflated: deflated.length, lowBytes: low.length }
    return { ...row, ...sizes, crc: crc32(block) }
  })
  const recordBlocks = parts.recordBlocks.map(({ records, ...row }) => {
    const deflated = deflate(Uint8Array.from(records))
    blocks.push(deflated)
    return { ...row, bytes: records.length, deflated: deflated.length, crc: crc32(deflated) }
  })
  const dataBlocks = parts.dataBlocks.map(({ columns, ...row }) => {
    const deflated = deflate(Uint8Array.from(columns))
    blocks.push(deflated)
    return { ...row, columnBytes: columns.length, deflated: deflated.length, crc: crc32(deflated) }
  })
  const rows = { ...parts, leafBlocks, recordBlocks, dataBlocks }
  const blockBytes = blocks.reduce((sum, block) => sum + block.length, 0)
  return new Uint8Array(Buffer.concat([encodeDirectory(rows, blockBytes, deflate), ...blocks]))
}

function rowsOf<Column extends string>(table: Readonly<Record<Column, Uint32Array>>) {
  const names = Object.keys(table) as Column[]
  const count = names.map((name) => table[name].length)[0] ?? 0
  return Array.from(
    { length: count },
    (_, i) => Object.fromEntries(names.map((name) => [name, table[name][i] ?? 0])) as Record<Column, number>,
  )
}
