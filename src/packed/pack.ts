import { deflateSync } from 'fflate'
import { distance, type Words } from '../address/position.ts'
import { ByteSink } from '../bytes/byte-sink.ts'
import { asUint8Array, type Bytes } from '../bytes/byte-source.ts'
import { crc32, extractUncompressed } from '../bytes/extract.ts'
import { isPacked } from '../bytes/file-kind.ts'
import { type Deflate, PORTABLE_CODEC } from '../bytes/gunzip.ts'
import { InvalidDatabaseError, isGeofixError } from '../errors.ts'
import { Database } from '../mmdb/database.ts'
import { countNetworks } from '../mmdb/networks.ts'
import type { SearchTree } from '../mmdb/search-tree.ts'
import { BlockFile, sourceOf } from './block-file.ts'
import {
  ALIAS,
  BLOCK_ITEMS,
  type BlockTable,
  bytesOf,
  DATA_BLOCK_BYTES,
  ESCAPE,
  encodeDirectory,
  type Family,
  FIRST_RECORD,
  familyShapes,
  mostUnreachable,
  NONE,
} from './directory.ts'
import { listRuns, STORED_ALIAS, type TreeFacts } from './tree-runs.ts'
import { unpackFile } from './unpack.ts'

/** The {@link Deflate} of every platform. The same input always gives the same bytes. */
export const portableDeflate: Deflate = (bytes) => deflateSync(bytes, { level: 9, mem: 12 })

/**
 * Packs an MMDB database to half the size of gzip. A lookup reads only the blocks that it needs. {@link unpack} gives a
 * file with the same records, networks and metadata. The same bytes always give the same packed file.
 *
 * A city database takes half a minute, and about 15 times the packed size in memory.
 *
 * @param bytes an uncompressed `.mmdb` file
 * @throws InvalidDatabaseError when it is not a database, is already packed, or its search tree has a loop, repeats subtrees
 *   too often, or has thousands of unused nodes for each used one
 */
export function pack(bytes: Bytes): Uint8Array {
  return packWith(portableDeflate, asUint8Array(bytes))
}

const NOT_PACKED =
  'it is not a packed database: use an .mmdb file as it is, gunzip for a .gz file, and tar for a .tar.gz file'

/**
 * Unpacks a file that {@link pack} made, and checks all of it.
 *
 * @returns an MMDB file with the same records, networks, metadata and data section. The nodes of its search tree can
 *   have another order
 * @throws InvalidDatabaseError when it is damaged or not packed
 */
export function unpack(bytes: Bytes): Uint8Array {
  const packed = asUint8Array(bytes)
  if (!isPacked(packed)) throw new InvalidDatabaseError(NOT_PACKED)
  return unpackFile(new BlockFile(sourceOf(packed), PORTABLE_CODEC))
}

/** `pack` with another compressor for the blocks, whose bytes can differ. */
export function packWith(deflate: Deflate, bytes: Uint8Array): Uint8Array {
  const file = extractUncompressed(bytes)
  if (isPacked(file)) throw new InvalidDatabaseError('it is packed already')
  const database = new Database(file)
  const { tree, data, metadata } = database
  const { isJoined, unreachable, records, families } = surveyRuns(tree)
  const blocks: BlockTable<number[]> = { inflated: [], deflated: [], plain: [], crc: [] }
  const body = new ByteSink()
  const add: AddBlock = (stream, plain = new Uint8Array(0)) => {
    const deflated = deflate(stream)
    const start = body.length
    body.write(deflated)
    body.write(plain)
    blocks.inflated.push(stream.length)
    blocks.deflated.push(deflated.length)
    blocks.plain.push(plain.length)
    blocks.crc.push(crc32(body.bytes.subarray(start)))
  }
  const values = valuesOf(records)
  const writers = families.map((family) => new RunWriter(family, values, add))
  listRuns(tree, (start, end, stored) => writers[familyOf(end)]?.add(start, end, stored))
  for (let start = 0; start < records.length; start += BLOCK_ITEMS) {
    add(differences(records.subarray(start, start + BLOCK_ITEMS)))
  }
  for (let start = data.base; start < data.end; start += DATA_BLOCK_BYTES) {
    add(file.subarray(start, Math.min(data.end, start + DATA_BLOCK_BYTES)))
  }
  const directory = encodeDirectory(
    {
      isJoined,
      recordCount: records.length,
      networkCount: networkCount(database),
      dataBytes: data.end - data.base,
      families: writers.map(({ family }) => family),
      blocks,
      metadata: file.subarray(metadata.start),
    },
    portableDeflate,
  )
  const packed = new ByteSink(directory.length + body.length)
  packed.write(directory)
  packed.write(body.bytes)
  if (unreachable > mostUnreachable(packed.length, metadata.recordSize))
    throw new InvalidDatabaseError('it has too many nodes that no path leads to')
  return packed.take()
}

/** The family of a run, by the position after it. */
function familyOf(end: Words): number {
  distance(ONE, end, last)
  if (last[0] !== 0 || last[1] !== 0) return 2
  return last[2] === 0 ? 0 : 1
}

const ONE = Uint32Array.of(0, 0, 0, 1)
/** Reused for every run. */
const last = new Uint32Array(4)

/** What writing the runs needs: the records in ascending order, and the families with their commonest lengths, without blocks. */
function surveyRuns(tree: SearchTree): TreeFacts & { records: Uint32Array; families: readonly Family[] } {
  const records = new Set<number>()
  const counts = [0, 0, 0]
  /** For each family, how many runs have a length. The key has the words of the length. */
  const lengths = counts.map(() => new Map<string, number>())
  /** The most words that a position of the last family needs. */
  let lastWidth = 1
  const length = new Uint32Array(4)
  const facts = listRuns(tree, (start, end, stored) => {
    if (stored > 0) records.add(stored)
    const family = familyOf(end)
    counts[family] = (counts[family] ?? 0) + 1
    if (family === 2)
      while (lastWidth < 4 && start.subarray(lastWidth).some((word) => word !== 0)) lastWidth++
    distance(start, end, length)
    const [first = 0, second = 0, third = 0, fourth = 0] = length
    const key = `${first} ${second} ${third} ${fourth}`
    const known = lengths[family]
    known?.set(key, (known.get(key) ?? 0) + 1)
  })
  const families = familyShapes(lastWidth).map(([width, firstWord], family) => {
    const commonest = [...(lengths[family] ?? [])].sort(([a, m], [b, n]) => n - m || (a < b ? -1 : 1))
    const rows = new Uint32Array(ESCAPE * width)
    for (const [i, [key]] of commonest.slice(0, ESCAPE).entries()) {
      rows.set(
        key
          .split(' ')
          .map(Number)
          .slice(firstWord, firstWord + width),
        i * width,
      )
    }
    return { count: counts[family] ?? 0, width, firstWord, lengths: rows, starts: new Uint32Array(0) }
  })
  return { ...facts, records: Uint32Array.from(records).sort(), families }
}

/** Adds a block to the file. @param plain bytes after the stream that are not deflated */
type AddBlock = (stream: Uint8Array, plain?: Uint8Array) => void

/** Writes the runs of a family as blocks. */
class RunWriter {
  readonly #family: Family
  readonly #values: ReadonlyMap<number, number>
  readonly #valueBytes: number
  readonly #addBlock: AddBlock
  readonly #indexes = new Map<string, number>()
  readonly #starts: number[][]
  readonly #length = new Uint32Array(4)
  #added = 0
  // The block that is being written.
  readonly #lengths: number[] = []
  readonly #long: number[] = []
  readonly #near: number[] = []
  readonly #far: number[] = []
  readonly #new: number[] = []
  /** The last run of each value. */
  readonly #last = new Map<number, number>()

  constructor(family: Family, values: ReadonlyMap<number, number>, addBlock: AddBlock) {
    this.#family = family
    this.#addBlock = addBlock
    // The largest value is one less than there are values.
    this.#valueBytes = bytesOf(values.size - 1)
    this.#values = values
    const { width, lengths } = family
    this.#starts = Array.from({ length: width }, () => [])
    for (let i = ESCAPE - 1; i >= 0; i--) {
      this.#indexes.set(lengths.subarray(i * width, (i + 1) * width).join(' '), i)
    }
  }

  /** The family with the starts of its blocks. */
  get family(): Family {
    return { ...this.#family, starts: Uint32Array.from(this.#starts.flat()) }
  }

  add(start: Words, end: Words, stored: number): void {
    const { width, firstWord } = this.#family
    const run = this.#lengths.length
    if (run === 0)
      for (const [word, starts] of this.#starts.entries()) starts.push(start[firstWord + word] ?? 0)
    distance(start, end, this.#length)
    const words = this.#length.subarray(firstWord, firstWord + width)
    const index = this.#indexes.get(words.join(' ')) ?? ESCAPE
    this.#lengths.push(index)
    if (index === ESCAPE) {
      for (const word of words) {
        this.#long.push(word & 0xff, (word >>> 8) & 0xff, (word >>> 16) & 0xff, word >>> 24)
      }
    }
    const value = this.#values.get(stored) ?? NONE
    const last = this.#last.get(value)
    const back = last === undefined ? 0 : run - last
    this.#near.push(back & 0xff)
    this.#far.push(back >>> 8)
    if (last === undefined) this.#new.push(value)
    this.#last.set(value, run)
    if (++this.#added === this.#family.count || run === BLOCK_ITEMS - 1) this.#flush()
  }

  /** Writes the block. */
  #flush(): void {
    const stream = [...this.#lengths, ...this.#near, ...this.#far, ...this.#long]
    for (let shift = 8 * (this.#valueBytes - 1); shift > 0; shift -= 8) {
      for (const value of this.#new) stream.push((value >>> shift) & 0xff)
    }
    this.#addBlock(
      Uint8Array.from(stream),
      Uint8Array.from(this.#new, (value) => value & 0xff),
    )
    for (const list of [this.#lengths, this.#long, this.#near, this.#far, this.#new]) list.length = 0
    this.#last.clear()
  }
}

/** Maps the number that the tree stores for a record to the value of a run. */
function valuesOf(records: Uint32Array): ReadonlyMap<number, number> {
  const values = new Map([
    [0, NONE],
    [STORED_ALIAS, ALIAS],
  ])
  for (const [index, record] of records.entries()) values.set(record, index + FIRST_RECORD)
  return values
}

/** Writes each record as its difference from the previous one, in four planes of bytes, the highest plane first. */
function differences(records: Uint32Array): Uint8Array {
  const { length: count } = records
  const planes = new Uint8Array(4 * count)
  for (let i = 0; i < count; i++) {
    const difference = (records[i] ?? 0) - (records[i - 1] ?? 0)
    for (let plane = 0; plane < 4; plane++) planes[plane * count + i] = difference >>> (24 - 8 * plane)
  }
  return planes
}

/** How many networks have a record. NaN for a damaged tree. */
function networkCount(database: Database): number {
  try {
    return countNetworks(database)
  } catch (error) {
    if (!isGeofixError(error)) throw error
    return Number.NaN
  }
}
