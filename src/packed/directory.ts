// The header and the directory of a packed file: what opening reads, and where everything else is.
import { checkSize } from '../bytes/byte-limit.ts'
import type { BlockCodec, Deflate } from '../bytes/deflate.ts'
import { PACKED_MAGIC } from '../bytes/extract.ts'
import { crc32, MAX_DEFLATE_RATIO } from '../bytes/gzip-member.ts'
import { InvalidDatabaseError } from '../errors.ts'
import { MAX_METADATA_BYTES } from '../mmdb/format.ts'
import {
  FIRST_RECORD_SHIFT,
  FIRST_VERSION,
  HEADER_BYTES,
  LEAVES_PER_BLOCK,
  MAX_COLUMN_BYTES,
  MAX_DATA_BLOCK_BYTES,
  MAX_TOKEN_BYTES,
  RECORD_SHIFT,
  VERSION,
} from './format.ts'

/** The numbers at the start of the directory. */
const FIELDS = [
  'isMinimal',
  'leafCount',
  'recordCount',
  'networks0',
  'networks1',
  'aliasCount',
  'leafBlockCount',
  'recordBlockCount',
  'dataBlockCount',
  'metadataBytes',
] as const
/** Those of version 1. It has the only row of the table of record blocks here. */
const FIRST_FIELDS = [
  'isMinimal',
  'leafCount',
  'recordCount',
  'recordBytes',
  'recordDeflated',
  'recordCrc',
  'networks0',
  'networks1',
  'aliasCount',
  'leafBlockCount',
  'dataBlockCount',
  'metadataBytes',
] as const

/** The columns of the tables that follow. */
const ALIAS_COLUMNS = ['leaf', 'word0', 'word1', 'word2', 'word3', 'prefixLength'] as const
const LEAF_COLUMNS = [
  'word0',
  'word1',
  'word2',
  'word3',
  'tokenBytes',
  'deflated',
  'lowBytes',
  'crc',
] as const
const RECORD_COLUMNS = ['base', 'bytes', 'deflated', 'crc'] as const
const DATA_COLUMNS = ['length', 'columnBytes', 'deflated', 'crc'] as const

type Row<Column extends string> = Readonly<Record<Column, number>>
/** A table stored column by column, with a number for each row. */
type Table<Column extends string> = Readonly<Record<Column, Uint32Array>>
type Fields = Row<(typeof FIELDS)[number]>

/** What the directory says, with its tables as rows. */
export interface DirectoryRows
  extends Omit<
    Fields,
    'aliasCount' | 'leafBlockCount' | 'recordBlockCount' | 'dataBlockCount' | 'metadataBytes'
  > {
  readonly aliases: readonly Row<(typeof ALIAS_COLUMNS)[number]>[]
  readonly leafBlocks: readonly Row<(typeof LEAF_COLUMNS)[number]>[]
  readonly recordBlocks: readonly Row<(typeof RECORD_COLUMNS)[number]>[]
  readonly dataBlocks: readonly Row<(typeof DATA_COLUMNS)[number]>[]
  /** The end of the original file, from the metadata's marker. */
  readonly metadata: Uint8Array
}

/** What the directory says. */
export interface Directory extends Fields {
  readonly aliases: Table<(typeof ALIAS_COLUMNS)[number]>
  readonly leafBlocks: Table<(typeof LEAF_COLUMNS)[number]>
  readonly recordBlocks: Table<(typeof RECORD_COLUMNS)[number]>
  /** The binary logarithm of the records in a block. */
  readonly recordShift: number
  readonly dataBlocks: Table<(typeof DATA_COLUMNS)[number]>
  readonly metadata: Uint8Array
  /** Where the first block starts in the file. */
  readonly end: number
}

/**
 * The header and the directory of a file.
 *
 * @param blockBytes of all blocks after them
 */
export function encodeDirectory(rows: DirectoryRows, blockBytes: number, deflate: Deflate): Uint8Array {
  const { aliases, leafBlocks, recordBlocks, dataBlocks, metadata } = rows
  const counts = {
    aliasCount: aliases.length,
    leafBlockCount: leafBlocks.length,
    recordBlockCount: recordBlocks.length,
    dataBlockCount: dataBlocks.length,
    metadataBytes: metadata.length,
  }
  const fields: Fields = { ...rows, ...counts }
  const numbers = [
    ...FIELDS.map((name) => fields[name]),
    ...columnsOf(aliases, ALIAS_COLUMNS),
    ...columnsOf(leafBlocks, LEAF_COLUMNS),
    ...columnsOf(recordBlocks, RECORD_COLUMNS),
    ...columnsOf(dataBlocks, DATA_COLUMNS),
  ]
  const plain = new Uint8Array(4 * numbers.length + metadata.length)
  const plainView = new DataView(plain.buffer)
  for (const [i, number] of numbers.entries()) plainView.setUint32(4 * i, number, true)
  plain.set(metadata, 4 * numbers.length)

  const deflated = deflate(plain)
  const bytes = new Uint8Array(HEADER_BYTES + deflated.length)
  bytes.set(PACKED_MAGIC)
  const header = new DataView(bytes.buffer, 0, HEADER_BYTES)
  header.setUint32(8, VERSION, true)
  header.setUint32(12, bytes.length + blockBytes, true)
  header.setUint32(16, deflated.length, true)
  header.setUint32(20, plain.length, true)
  header.setUint32(24, crc32(deflated), true)
  header.setUint32(28, crc32(bytes.subarray(0, 28)), true)
  bytes.set(deflated, HEADER_BYTES)
  return bytes
}

function columnsOf<Column extends string>(rows: readonly Row<Column>[], names: readonly Column[]): number[] {
  return names.flatMap((name) => rows.map((row) => row[name]))
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
): Directory {
  if (size < HEADER_BYTES) throw new Error('it is cut short')
  const bytes = Uint8Array.from(read(0, HEADER_BYTES))
  const header = new DataView(bytes.buffer, bytes.byteOffset, HEADER_BYTES)
  if (codec.crc32(bytes.subarray(0, 28)) !== header.getUint32(28, true)) {
    throw new Error('its header does not match its checksum')
  }
  const version = header.getUint32(8, true)
  if (version !== VERSION && version !== FIRST_VERSION) {
    const fault = `it is packed in version ${version}; only versions up to ${VERSION} are supported: use the newest geofix`
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
  const directory = parseDirectory(version, codec.inflate(deflated, length), HEADER_BYTES + deflatedLength)
  check(directory, size)
  return directory
}

function parseDirectory(version: number, bytes: Uint8Array, end: number): Directory {
  let at = 0
  const column = (count: number): Uint32Array => {
    const start = at
    at += 4 * count
    if (at > bytes.length) throw new Error('its directory is cut short')
    return numbersOf(Uint8Array.from(bytes.subarray(start, at)))
  }
  // Object.fromEntries loses the types of keys.
  const row = <Column extends string>(names: readonly Column[]): Row<Column> => {
    const numbers = column(names.length)
    return Object.fromEntries(names.map((name, i) => [name, numbers[i] ?? 0])) as Row<Column>
  }
  const table = <Column extends string>(names: readonly Column[], count: number): Table<Column> =>
    Object.fromEntries(names.map((name) => [name, column(count)])) as Table<Column>
  const first = version === FIRST_VERSION ? row(FIRST_FIELDS) : null
  const fields: Fields = first === null ? row(FIELDS) : { ...first, recordBlockCount: 1 }
  const aliases = table(ALIAS_COLUMNS, fields.aliasCount)
  const leafBlocks = table(LEAF_COLUMNS, fields.leafBlockCount)
  const recordBlocks =
    first === null ? table(RECORD_COLUMNS, fields.recordBlockCount) : firstRecordBlock(first)
  const recordShift = first === null ? RECORD_SHIFT : FIRST_RECORD_SHIFT
  const dataBlocks = table(DATA_COLUMNS, fields.dataBlockCount)
  if (bytes.length - at !== fields.metadataBytes || fields.metadataBytes > MAX_METADATA_BYTES) {
    throw new Error('the length of its directory does not match the length of its metadata')
  }
  const metadata = bytes.slice(at)
  return { ...fields, aliases, leafBlocks, recordBlocks, recordShift, dataBlocks, metadata, end }
}

/** The record table of version 1 as one block. */
function firstRecordBlock({
  recordBytes,
  recordDeflated,
  recordCrc,
}: Row<(typeof FIRST_FIELDS)[number]>): Directory['recordBlocks'] {
  return {
    base: Uint32Array.of(0),
    bytes: Uint32Array.of(recordBytes),
    deflated: Uint32Array.of(recordDeflated),
    crc: Uint32Array.of(recordCrc),
  }
}

/** Whether the processor has the byte order of nearly all processors. */
export function isLittleEndian(): boolean {
  return new Uint8Array(Uint32Array.of(1).buffer)[0] === 1
}

/** Little-endian numbers. Without a loop where the platform has the same order: a loop takes long in a new process. */
function numbersOf({ buffer, byteLength }: Uint8Array): Uint32Array {
  const numbers = new Uint32Array(buffer, 0, byteLength / 4)
  if (isLittleEndian()) return numbers
  const view = new DataView(buffer)
  return numbers.map((_, i) => view.getUint32(4 * i, true))
}

/**
 * Limit of a deflated stream: deflate adds some bytes to data that it cannot compress. Otherwise, one small block could make a
 * lookup read much of the file.
 */
function mostDeflated(length: number): number {
  return length + (length >>> 10) + 64
}

/**
 * Bounds what the blocks can take in memory, and checks that they fill the file. Loops, because callbacks take longer in a
 * new process.
 */
function check(directory: Directory, size: number): void {
  const { leafCount, aliasCount, recordCount, leafBlocks, recordBlocks, recordShift, dataBlocks } = directory
  let isPlausible =
    leafCount > 0 &&
    leafBlocks.crc.length === Math.ceil(leafCount / LEAVES_PER_BLOCK) &&
    aliasCount + recordCount <= leafCount &&
    (recordShift === FIRST_RECORD_SHIFT ||
      recordBlocks.crc.length === Math.ceil(recordCount / 2 ** recordShift))
  let total = directory.end
  for (let block = 0; block < leafBlocks.crc.length; block++) {
    const deflated = leafBlocks.deflated[block] ?? 0
    const tokens = leafBlocks.tokenBytes[block] ?? 0
    const low = leafBlocks.lowBytes[block] ?? 0
    isPlausible &&=
      deflated > 0 && tokens <= MAX_TOKEN_BYTES && low <= LEAVES_PER_BLOCK && deflated <= mostDeflated(tokens)
    total += deflated + low
  }
  for (let block = 0; block < recordBlocks.crc.length; block++) {
    const deflated = recordBlocks.deflated[block] ?? 0
    const bytes = recordBlocks.bytes[block] ?? 0
    const count = Math.min(2 ** recordShift, recordCount - block * 2 ** recordShift)
    isPlausible &&=
      deflated > 0 &&
      bytes >= count &&
      bytes <= 5 * count &&
      bytes <= deflated * MAX_DEFLATE_RATIO &&
      deflated <= mostDeflated(bytes)
    total += deflated
  }
  for (let block = 0; block < dataBlocks.crc.length; block++) {
    const deflated = dataBlocks.deflated[block] ?? 0
    const columns = dataBlocks.columnBytes[block] ?? 0
    const length = dataBlocks.length[block] ?? 0
    isPlausible &&=
      deflated > 0 &&
      length > 0 &&
      length <= MAX_DATA_BLOCK_BYTES &&
      columns <= MAX_COLUMN_BYTES &&
      deflated <= mostDeflated(columns)
    total += deflated
  }
  if (!isPlausible) throw new Error('its directory has impossible sizes')
  if (total !== size) throw new Error('its blocks do not fill the file')
}
