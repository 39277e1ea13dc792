import { findMetadata, METADATA_MARKER, NO_METADATA } from '../bytes/file-kind.ts'
import { InvalidDatabaseError } from '../errors.ts'
import { DataSection } from './data-section.ts'
import { decodeRecord, isMap, type MmdbValue } from './record-decoder.ts'

/** The latest instant that a `Date` holds. */
const MAX_EPOCH_SECONDS = 8.64e12

/** A private "language" of the description (BCP 47): Python's maxminddb cannot open a file with a field of our own. */
export const OVERLAY_BYTES = 'x-geofix-overlay'

/** The section "Database Metadata" of the specification, checked. */
export interface Metadata {
  readonly databaseType: string
  /** When the database was built; `null` when the file holds an impossible time. */
  readonly buildDate: Date | null
  readonly ipVersion: 4 | 6
  readonly nodeCount: number
  /** Bits of one record of the search tree; a node has two. */
  readonly recordSize: 24 | 28 | 32
  /** Locales of names in the records, such as `en` or `pt-BR`. */
  readonly languages: readonly string[]
  /** Description of the database, by language. */
  readonly description: Readonly<Record<string, string>>
  /** Bytes at the end of the data section with records of `geofix overlay`; 0 in other files. */
  readonly overlayBytes: number
  /** Where the metadata's marker starts and the data section ends. Bytes from the file's start. */
  readonly start: number
}

/**
 * Finds and checks the metadata.
 *
 * @throws InvalidDatabaseError when there is no metadata, or a field of it is invalid
 */
export function readMetadata(bytes: Uint8Array, path?: string): Metadata {
  const start = findMetadata(bytes)
  if (start < 0) throw new InvalidDatabaseError(NO_METADATA, { path })
  const base = start + METADATA_MARKER.length
  const section = new DataSection(bytes, base, bytes.length, path)
  const value = decodeRecord(section, base)
  const fault = (text: string) => new InvalidDatabaseError(text, { offset: base, path })
  if (!isMap(value)) throw fault('the metadata is not a map')
  /** @param absent the value when the field is absent, if it may be */
  const read = <T extends MmdbValue>(
    name: string,
    expected: string,
    isExpected: (field: MmdbValue) => field is T,
    absent?: T,
  ): T => {
    const field = value[name] ?? absent
    if (field !== undefined && isExpected(field)) return field
    throw fault(`the metadata is damaged: ${name} is not ${expected}`)
  }
  const whole = (name: string): number => read(name, 'a whole number', isWhole)
  const oneOf = <T extends number>(name: string, values: readonly T[]): T => {
    const number = whole(name)
    const found = values.find((each) => each === number)
    if (found !== undefined) return found
    throw fault(`the metadata is damaged: ${name} is ${number}, not one of ${values.join(', ')}`)
  }
  const version = whole('binary_format_major_version')
  if (version !== 2) throw fault(`it has MaxMind DB format version ${version}; only version 2 is supported`)
  const databaseType = read('database_type', 'text', isText)
  const epoch = read('build_epoch', 'a whole number', isEpoch)
  const { [OVERLAY_BYTES]: own = '0', ...description } = read('description', 'a map of texts', isTextMap, {})
  if (!/^\d{1,10}$/.test(own)) throw fault(`the metadata is damaged: ${OVERLAY_BYTES} is not a number`)
  return {
    databaseType,
    buildDate: epoch <= MAX_EPOCH_SECONDS ? new Date(Number(epoch) * 1000) : null,
    ipVersion: oneOf('ip_version', [4, 6]),
    nodeCount: whole('node_count'),
    recordSize: oneOf('record_size', [24, 28, 32]),
    languages: read('languages', 'a list of texts', isTexts, []),
    description,
    overlayBytes: Number(own),
    start,
  }
}

function isWhole(value: MmdbValue): value is number {
  return typeof value === 'number' && Number.isInteger(value) && value >= 0
}

function isEpoch(value: MmdbValue): value is number | bigint {
  return typeof value === 'bigint' || isWhole(value)
}

function isText(value: MmdbValue): value is string {
  return typeof value === 'string'
}

function isTexts(value: MmdbValue): value is string[] {
  return Array.isArray(value) && value.every(isText)
}

function isTextMap(value: MmdbValue): value is { [key: string]: string } {
  return isMap(value) && Object.values(value).every(isText)
}
