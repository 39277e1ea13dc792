// The only importer of mmdb-lib's decoder among the scripts. This file walks the search tree itself: mmdb-lib only looks
// up addresses, and the library's own reader is tested with this data.
import { readFileSync } from 'node:fs'
import * as decoderModule from 'mmdb-lib/lib/decoder.js'
import * as metadataModule from 'mmdb-lib/lib/metadata.js'

type DecoderClass = typeof decoderModule.default
type Interop<T> = T | { default: T }

/** Loaders differ in the default export of a CommonJS module. */
const Decoder = unwrap<DecoderClass>(decoderModule.default)

function unwrap<T extends object>(module: Interop<T>): T {
  return 'default' in module ? module.default : module
}

const EMPTY = -1

/** A record of a node: the number of a node, nothing (-1), or data (-2 - offset). */
export type TreeRecord = number

export const isNode = (record: TreeRecord): boolean => record >= 0
export const isEmpty = (record: TreeRecord): boolean => record === EMPTY
export const dataOffset = (record: TreeRecord): number => -2 - record

/** The bits that lead to the IPv4 networks of an IPv6 database. */
export const IPV4: readonly number[] = Array.from({ length: 96 }, () => 0)

/** An MMDB file in memory with records of 28 or 32 bits. */
export class MmdbFile {
  readonly ipVersion: 4 | 6
  readonly nodeCount: number
  readonly recordSize: 28 | 32
  readonly databaseType: string
  readonly buildDate: Date
  readonly #bytes: Buffer
  readonly #decoder: InstanceType<DecoderClass>

  constructor(bytes: Buffer) {
    const metadata = metadataModule.parseMetadata(bytes)
    const { ipVersion, recordSize } = metadata
    if (ipVersion !== 4 && ipVersion !== 6)
      throw new Error(`the file's IP version is ${ipVersion}, not 4 or 6`)
    if (recordSize !== 28 && recordSize !== 32)
      throw new Error(`the record size is ${recordSize}, not 28 or 32`)
    this.ipVersion = ipVersion
    this.recordSize = recordSize
    this.nodeCount = metadata.nodeCount
    this.databaseType = metadata.databaseType
    this.buildDate = metadata.buildEpoch
    this.#bytes = bytes
    this.#decoder = new Decoder(bytes, metadata.searchTreeSize + 16)
  }

  static open(path: string): MmdbFile {
    return new MmdbFile(readFileSync(path))
  }

  left(node: number): TreeRecord {
    if (this.recordSize === 32) return this.#record(this.#bytes.readUInt32BE(node * 8))
    const at = node * 7
    return this.#record(((this.#byte(at + 3) & 0xf0) << 20) | this.#bytes.readUIntBE(at, 3))
  }

  right(node: number): TreeRecord {
    if (this.recordSize === 32) return this.#record(this.#bytes.readUInt32BE(node * 8 + 4))
    return this.#record(this.#bytes.readUInt32BE(node * 7 + 3) & 0x0fff_ffff)
  }

  /** The record that bits lead to, or the one before them that is no node. */
  descend(bits: readonly number[]): TreeRecord {
    let record: TreeRecord = 0
    for (const bit of bits) if (isNode(record)) record = bit === 1 ? this.right(record) : this.left(record)
    return record
  }

  /** The record at an offset of the data section. */
  data(offset: number): unknown {
    return this.#decoder.decode(this.#dataStart + offset).value
  }

  get #dataStart(): number {
    return (this.nodeCount * this.recordSize) / 4 + 16
  }

  #byte(at: number): number {
    return this.#bytes[at] ?? 0
  }

  #record(value: number): TreeRecord {
    if (value < this.nodeCount) return value
    return value === this.nodeCount ? EMPTY : -2 - (value - this.nodeCount - 16)
  }
}
