// The header and the directory of a packed file: what opening reads, where everything else is, and what the blocks have. README.md has
// the whole format.
import { checkSize } from '../bytes/byte-limit.ts'
import { crc32, MAX_DEFLATE_RATIO } from '../bytes/extract.ts'
import { MAX_METADATA_BYTES, PACKED_MAGIC } from '../bytes/file-kind.ts'
import type { BlockCodec, Deflate } from '../bytes/gunzip.ts'
import { InvalidDatabaseError } from '../errors.ts'

export const VERSION = 3

/** The header has the magic, the version, four fields, and the checksum of all of them. */
export const HEADER_BYTES = 32

/** The binary logarithm of the runs in a block, and of the records. The last block of a family has the rest. */
export const BLOCK_SHIFT = 12
export const BLOCK_ITEMS = 4096

/** The binary logarithm of the bytes in a block of data. The last block has the rest. */
export const DATA_SHIFT = 15
export const DATA_BLOCK_BYTES = 32_768

/** Every run has this many bytes: the index of its length, and two of the distance to its value. */
export const RUN_BYTES = 3

/** Runs of this length index have their length in the block. The other indexes are rows of the family's table. */
export const ESCAPE = 255

/** The value of a run without a record. */
export const NONE = 0
/** The value of a run that is one of the aliases of the IPv4 networks: see `IPV4_ALIASES`. */
export const ALIAS = 1
/** The value of a run with the first record of the record table; the others follow. */
export const FIRST_RECORD = 2

/**
 * Limit of the nodes that no path leads to. They are not packed, and unpacking makes no more bytes of them than inflating
 * the packed file could.
 */
export function mostUnreachable(packedBytes: number, recordSize: number): number {
  return (packedBytes * MAX_DEFLATE_RATIO) / (recordSize / 4)
}

/** Bytes of a number up to a limit. */
export function bytesOf(limit: number): number {
  return Math.max(1, Math.ceil(Math.log2(limit + 1) / 8))
}

/** How many numbers the directory starts with. README.md lists them. */
const FIELD_COUNT = 10

/** The runs of a family of addresses. */
export interface Family {
  /** Number of runs. */
  readonly count: number
  /** How many words of a position this family stores, and the index of the first one. All other words are zero. */
  readonly width: number
  readonly firstWord: number
  /** The commonest lengths of runs, with `width` words for each. */
  readonly lengths: Uint32Array
  /** Where the first run of each block starts: first words of all blocks, then second words, and so on. */
  readonly starts: Uint32Array
}

/** The table of blocks, by column. Blocks of families come first, then blocks of records, then blocks of data. */
export interface BlockTable<Column = Uint32Array> {
  /** Bytes of the stream when it is inflated. */
  readonly inflated: Column
  /** Bytes of the stream in the file. */
  readonly deflated: Column
  /** Bytes after the stream that are not deflated. */
  readonly plain: Column
  readonly crc: Column
}

/** The contents of the directory. */
export interface Directory<Column = number[]> {
  /** Whether unpacking joins equal subtrees. */
  readonly isJoined: boolean
  readonly recordCount: number
  /** How many networks have a record; NaN if the search tree was damaged before it was packed. */
  readonly networkCount: number
  readonly dataBytes: number
  readonly families: readonly Family[]
  readonly blocks: BlockTable<Column>
  /** The end of the original file, from the metadata's marker. */
  readonly metadata: Uint8Array
}

export const blocksOf = (items: number): number => Math.ceil(items / BLOCK_ITEMS)

/** The stored words of positions in each family. Networks of the last family are rarely small, so few words are stored. */
export function familyShapes(width2: number): readonly (readonly [width: number, firstWord: number])[] {
  return [
    [1, 3],
    [2, 2],
    [width2, 0],
  ]
}

/** The header and the directory of a file. */
export function encodeDirectory(directory: Directory, deflate: Deflate): Uint8Array {
  const { isJoined, recordCount, networkCount, dataBytes, families, blocks, metadata } = directory
  const networks = new DataView(new ArrayBuffer(8))
  networks.setFloat64(0, networkCount, true)
  const runs = families.map(({ count }) => count)
  const numbers = [isJoined ? 1 : 0, recordCount, networks.getUint32(0, true), networks.getUint32(4, true)]
  numbers.push(dataBytes, ...runs, families[2]?.width ?? 1, metadata.length)
  for (const { count, lengths, starts } of families) if (count > 0) numbers.push(...lengths, ...starts)
  const { inflated, deflated: streams, plain: rest, crc } = blocks
  for (const column of [inflated, streams, rest, crc]) for (const number of column) numbers.push(number)
  const plain = new Uint8Array(4 * numbers.length + metadata.length)
  const plainView = new DataView(plain.buffer)
  for (const [i, number] of numbers.entries()) plainView.setUint32(4 * i, number, true)
  plain.set(metadata, 4 * numbers.length)

  const deflated = deflate(plain)
  const bytes = new Uint8Array(HEADER_BYTES + deflated.length)
  const size = [...streams, ...rest].reduce((sum, length) => sum + length, bytes.length)
  bytes.set(PACKED_MAGIC)
  const header = new DataView(bytes.buffer, 0, HEADER_BYTES)
  header.setUint32(8, VERSION, true)
  header.setUint32(12, size, true)
  header.setUint32(16, deflated.length, true)
  header.setUint32(20, plain.length, true)
  header.setUint32(24, crc32(deflated), true)
  header.setUint32(28, crc32(bytes.subarray(0, 28)), true)
  bytes.set(deflated, HEADER_BYTES)
  return bytes
}

/** A directory that was read. */
export interface ReadDirectory extends Directory<Uint32Array> {
  /** By block, where it starts in the file. */
  readonly positions: Float64Array
}

/**
 * Reads and checks the header and the directory.
 *
 * @param size of the file in bytes
 * @param read returns bytes of the file, by their position and length
 * @param maxBytes of the directory when it is inflated
 * @throws Error when they are damaged, or a field has an impossible value
 * @throws InvalidDatabaseError when the directory is too large, or the file is packed in another version
 */
export function readDirectory(
  size: number,
  read: (position: number, length: number) => Uint8Array,
  codec: BlockCodec,
  maxBytes: number,
  path?: string,
): ReadDirectory {
  if (size < HEADER_BYTES) throw new Error('it is cut short')
  const bytes = Uint8Array.from(read(0, HEADER_BYTES))
  const header = new DataView(bytes.buffer, bytes.byteOffset, HEADER_BYTES)
  if (codec.crc32(bytes.subarray(0, 28)) !== header.getUint32(28, true)) {
    throw new Error('its header does not match its checksum')
  }
  const version = header.getUint32(8, true)
  if (version !== VERSION) {
    const fault = `it is packed in version ${version}; only version ${VERSION} is supported: pack the original again, or use the newest geofix`
    throw new InvalidDatabaseError(fault, { path })
  }
  const expected = header.getUint32(12, true)
  if (size !== expected) throw new Error(`it has ${size} bytes and should have ${expected}`)
  const deflatedLength = header.getUint32(16, true)
  const length = header.getUint32(20, true)
  if (HEADER_BYTES + deflatedLength > size || length > deflatedLength * MAX_DEFLATE_RATIO) {
    throw new Error('its directory is larger than the file')
  }
  checkSize(length, maxBytes, path)
  const deflated = read(HEADER_BYTES, deflatedLength)
  if (codec.crc32(deflated) !== header.getUint32(24, true)) {
    throw new Error('its directory does not match its checksum')
  }
  const directory = parseDirectory(codec.inflate(deflated, length))
  return { ...directory, positions: positionsOf(directory, HEADER_BYTES + deflatedLength, size) }
}

function parseDirectory(bytes: Uint8Array): Omit<ReadDirectory, 'positions'> {
  let at = 0
  const column = (count: number): Uint32Array => {
    const start = at
    at += 4 * count
    if (at > bytes.length) throw new Error('its directory is cut short')
    return numbersOf(Uint8Array.from(bytes.subarray(start, at)))
  }
  const [isJoined, recordCount = 0, networks0 = 0, networks1 = 0, dataBytes = 0, ...rest] =
    column(FIELD_COUNT)
  const [runs0 = 0, runs1 = 0, runs2 = 0, width2 = 0, metadataBytes = 0] = rest
  const networks = new DataView(new ArrayBuffer(8))
  networks.setUint32(0, networks0, true)
  networks.setUint32(4, networks1, true)
  if (width2 < 1 || width2 > 4) throw new Error('its directory has impossible sizes')
  const counts = [runs0, runs1, runs2]
  const families = familyShapes(width2).map(([width, firstWord], family) => {
    const count = counts[family] ?? 0
    const lengths = column(count > 0 ? ESCAPE * width : 0)
    return { count, width, firstWord, lengths, starts: column(blocksOf(count) * width) }
  })
  const blockCount = counts.reduce((sum, count) => sum + blocksOf(count), 0)
  const rows = blockCount + blocksOf(recordCount) + Math.ceil(dataBytes / DATA_BLOCK_BYTES)
  const blocks = {
    inflated: column(rows),
    deflated: column(rows),
    plain: column(rows),
    crc: column(rows),
  }
  if (bytes.length - at !== metadataBytes || metadataBytes > MAX_METADATA_BYTES) {
    throw new Error('the length of its directory does not match the length of its metadata')
  }
  return {
    isJoined: isJoined === 1,
    recordCount,
    networkCount: networks.getFloat64(0, true),
    dataBytes,
    families,
    blocks,
    metadata: bytes.slice(at),
  }
}

/** Reads little-endian numbers. A little-endian platform needs no loop. */
function numbersOf({ buffer, byteLength }: Uint8Array): Uint32Array {
  const numbers = new Uint32Array(buffer, 0, byteLength / 4)
  if (new Uint8Array(Uint32Array.of(1).buffer)[0] === 1) return numbers
  const view = new DataView(buffer)
  return numbers.map((_, i) => view.getUint32(4 * i, true))
}

/**
 * Where the blocks start. Bounds what they can take in memory, and checks that they fill the file. Uses loops
 * in one function, because V8 would compile callbacks twice.
 *
 * @param start where the first block starts
 */
function positionsOf(
  { families, recordCount, dataBytes, blocks }: Omit<ReadDirectory, 'positions'>,
  start: number,
  size: number,
): Float64Array {
  const { inflated, deflated, plain } = blocks
  const positions = new Float64Array(inflated.length)
  const valueBytes = bytesOf(recordCount + 1)
  let total = start
  let row = 0
  let isPlausible = true
  // Items, items of a block, the least and the most bytes of the stream for each, and the most plain bytes.
  const sections: [number, number, number, number, number][] = families.map(({ count, width }) => [
    count,
    BLOCK_ITEMS,
    RUN_BYTES,
    RUN_BYTES + 4 * width + valueBytes - 1,
    1,
  ])
  sections.push([recordCount, BLOCK_ITEMS, 4, 4, 0], [dataBytes, DATA_BLOCK_BYTES, 1, 1, 0])
  for (const [items, itemsPerBlock, least, most, mostPlain] of sections) {
    for (let left = items; left > 0; left -= itemsPerBlock, row++) {
      const count = left < itemsPerBlock ? left : itemsPerBlock
      const length = inflated[row] ?? 0
      const stream = deflated[row] ?? 0
      const rest = plain[row] ?? 0
      if (length < least * count || length > most * count || rest > mostPlain * count) isPlausible = false
      // Deflate adds some bytes to data that it cannot compress. Otherwise, one small block could make a lookup read much of the file.
      if (stream === 0 || stream > length + (length >>> 10) + 64) isPlausible = false
      positions[row] = total
      total += stream + rest
    }
  }
  if (!isPlausible) throw new Error('its directory has impossible sizes')
  if (total !== size) throw new Error('its blocks do not fill the file')
  return positions
}
