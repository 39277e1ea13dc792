import { InvalidDatabaseError } from '../errors.ts'
import { DataSection } from './data-section.ts'
import { MAX_METADATA_BYTES, METADATA_MARKER } from './format.ts'
import { isMap, type MmdbValue, RecordDecoder } from './record-decoder.ts'

/** The latest instant that a `Date` holds. */
const MAX_EPOCH_SECONDS = 8.64e12

/** The section "Database Metadata" of the specification, checked. */
export interface Metadata {
  readonly databaseType: string
  /** When the database was built; `null` when the file holds an impossible time. */
  readonly buildDate: Date | null
  readonly ipVersion: 4 | 6
  readonly nodeCount: number
  /** Bits of one record of the search tree; a node has two. */
  readonly recordSize: 24 | 28 | 32
  readonly languages: readonly string[]
  /** Description of the database, by language. */
  readonly description: Readonly<Record<string, string>>
  /** Where the metadata's marker starts and the data section ends. Bytes from the file's start. */
  readonly start: number
}

/**
 * Finds and checks the metadata.
 *
 * @throws InvalidDatabaseError when there is no metadata, or a field of it is invalid
 */
export function readMetadata(bytes: Uint8Array, path?: string): Metadata {
  if (bytes.length === 0) throw new InvalidDatabaseError('it is empty', { path })
  const start = findMarker(bytes)
  if (start < 0) {
    throw new InvalidDatabaseError(
      'it is not a MaxMind DB file (.mmdb), or is cut short: no metadata found',
      { path },
    )
  }
  const base = start + METADATA_MARKER.length
  const section = new DataSection(bytes, base, bytes.length, path)
  const value = new RecordDecoder(bytes, section).decode(base)
  const fields = new MetadataFields(value, base, path)
  const version = fields.whole('binary_format_major_version')
  if (version !== 2)
    throw fields.fault(`it has MaxMind DB format version ${version}; only version 2 is supported`)
  return {
    databaseType: fields.text('database_type'),
    buildDate: dateOf(fields.epoch('build_epoch')),
    ipVersion: fields.oneOf('ip_version', [4, 6]),
    nodeCount: fields.whole('node_count'),
    recordSize: fields.oneOf('record_size', [24, 28, 32]),
    languages: fields.texts('languages'),
    description: fields.textMap('description'),
    start,
  }
}

function findMarker(bytes: Uint8Array): number {
  const least = Math.max(0, bytes.length - MAX_METADATA_BYTES)
  for (let at = bytes.length - METADATA_MARKER.length; at >= least; at--) {
    if (
      bytes[at] === METADATA_MARKER[0] &&
      METADATA_MARKER.every((byte, index) => bytes[at + index] === byte)
    )
      return at
  }
  return -1
}

function dateOf(epoch: number | bigint): Date | null {
  return epoch <= MAX_EPOCH_SECONDS ? new Date(Number(epoch) * 1000) : null
}

/** Reads fields of the decoded metadata and checks their types. */
class MetadataFields {
  readonly #fields: Readonly<Record<string, MmdbValue>>

  constructor(
    value: MmdbValue,
    readonly offset: number,
    readonly path: string | undefined,
  ) {
    if (!isMap(value)) throw this.fault('the metadata is not a map')
    this.#fields = value
  }

  whole(name: string): number {
    const value = this.#fields[name]
    if (typeof value === 'number' && Number.isInteger(value) && value >= 0) return value
    throw this.#wrongType(name, 'a whole number')
  }

  epoch(name: string): number | bigint {
    const value = this.#fields[name]
    if (typeof value === 'bigint') return value
    return this.whole(name)
  }

  oneOf<T extends number>(name: string, values: readonly T[]): T {
    const value = this.whole(name)
    const found = values.find((each) => each === value)
    if (found === undefined)
      throw this.fault(`the metadata is damaged: ${name} is ${value}, not one of ${values.join(', ')}`)
    return found
  }

  text(name: string): string {
    const value = this.#fields[name]
    if (typeof value === 'string') return value
    throw this.#wrongType(name, 'text')
  }

  /** A list of texts; empty if the field is absent. */
  texts(name: string): string[] {
    const value = this.#fields[name] ?? []
    if (Array.isArray(value) && value.every((each) => typeof each === 'string')) return value
    throw this.#wrongType(name, 'a list of texts')
  }

  /** Texts by key; empty if the field is absent. */
  textMap(name: string): Record<string, string> {
    const value = this.#fields[name] ?? {}
    if (!isMap(value)) throw this.#wrongType(name, 'a map of texts')
    const texts: Record<string, string> = {}
    for (const [key, text] of Object.entries(value)) {
      if (typeof text !== 'string') throw this.#wrongType(name, 'a map of texts')
      texts[key] = text
    }
    return texts
  }

  fault(fault: string): InvalidDatabaseError {
    return new InvalidDatabaseError(fault, { offset: this.offset, path: this.path })
  }

  #wrongType(name: string, expected: string): InvalidDatabaseError {
    return this.fault(`the metadata is damaged: ${name} is not ${expected}`)
  }
}
