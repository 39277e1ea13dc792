// The database of autonomous systems: read from the CSV files of @ip-location-db/asn, written, and checked against them.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parse } from 'csv-parse/sync'
import { formatCidr } from '../../src/address/ip-text.ts'
import { MmdbWriter } from '../../src/mmdb/writer/mmdb-writer.ts'
import { uint32 } from '../../src/mmdb/writer/value.ts'
import { ASN_ATTRIBUTION } from './manifest.ts'
import { dataOffset, IPV4, isEmpty, isNode, MmdbFile, type TreeRecord } from './mmdb-file.ts'
import { normaliseName } from './name-spelling.ts'

export const ASN_PACKAGE = '@ip-location-db/asn'

/** Addresses of one family that one autonomous system announces. */
export type AsnRange = {
  readonly first: bigint
  /** Inclusive. */
  readonly last: bigint
  readonly number: number
  /** `null` if the source has a placeholder in place of a name. */
  readonly organization: string | null
}

export type AsnSource = {
  readonly ipv4: readonly AsnRange[]
  readonly ipv6: readonly AsnRange[]
  readonly buildDate: Date
}

/** Size of the database, for the manifest. */
export type AsnCoverage = {
  readonly ranges: number
  readonly ipv4Addresses: number
  readonly ipv6Networks48: number
  readonly systems: number
  readonly systemsWithoutName: number
  /** Ranges whose start is in the range before them. There, the later range is used. */
  readonly overlaps: number
}

const MAX_NUMBER = 2 ** 32 - 1

/** The source writes this for numbers that it knows no holder of. It also repeats the number, as `AS65002`. */
const RESERVED = '-Reserved AS-'

/** @param folder of the installed package. @throws Error if a row is not what this build expects */
export function readAsnSource(folder: string): AsnSource {
  const { version }: { version: string } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))
  return {
    ipv4: readRanges(join(folder, 'asn-ipv4-num.csv'), 32),
    ipv6: readRanges(join(folder, 'asn-ipv6-num.csv'), 128),
    buildDate: dateOfVersion(version),
  }
}

/** The files have no date, but the version ends in the hour of the build, in UTC: `2.3.2026061719`. */
export function dateOfVersion(version: string): Date {
  const [, year, month, day, hour] = /\.(\d{4})(\d\d)(\d\d)(\d\d)$/.exec(version) ?? []
  const date = new Date(`${year}-${month}-${day}T${hour}:00:00Z`)
  if (Number.isNaN(date.getTime())) throw new Error(`${ASN_PACKAGE}: no date in the version ${version}`)
  return date
}

function readRanges(path: string, bits: number): AsnRange[] {
  const rows: string[][] = parse(readFileSync(path))
  const end = 1n << BigInt(bits)
  let previous = -1n
  return rows.map((row, index) => {
    const where = `${path}, row ${index + 1}`
    const [start = '', stop = '', number = '', name = ''] = row
    if (row.length !== 4 || ![start, stop, number].every((text) => /^\d+$/.test(text)))
      throw new Error(`${where}: not two addresses, a number and a name`)
    const [first, last] = [BigInt(start), BigInt(stop)]
    if (first > last || last >= end || first < previous) throw new Error(`${where}: not in ascending order`)
    if (Number(number) < 1 || Number(number) > MAX_NUMBER) throw new Error(`${where}: AS${number}`)
    const organization = normaliseName(name)
    if (organization === '') throw new Error(`${where}: there is no name`)
    previous = first
    const isPlaceholder = organization === RESERVED || organization === `AS${number}`
    return { first, last, number: Number(number), organization: isPlaceholder ? null : organization }
  })
}

/** The records have the fields of GeoLite2 ASN, so that every reader of that database reads them. */
export function buildAsn(source: AsnSource): { readonly bytes: Uint8Array; readonly records: number } {
  const writer = new MmdbWriter({
    databaseType: 'Geofix-ASN',
    recordSize: 32,
    languages: ['en'],
    description: { en: `Geofix database of autonomous systems. ${ASN_ATTRIBUTION}` },
    buildDate: source.buildDate,
  })
  const records = new Set<string>()
  for (const [family, ranges] of familiesOf(source)) {
    for (const range of ranges) {
      const { number, organization } = range
      const record = {
        autonomous_system_number: uint32(number),
        ...(organization === null ? {} : { autonomous_system_organization: organization }),
      }
      records.add(JSON.stringify([number, organization]))
      for (const network of networksOf(family, range)) writer.insert(network, record)
    }
  }
  return { bytes: writer.toBytes(), records: records.size }
}

function familiesOf({ ipv4, ipv6 }: AsnSource): readonly (readonly [4 | 6, readonly AsnRange[]])[] {
  return [
    [4, ipv4],
    [6, ipv6],
  ]
}

/** The networks that together have exactly the addresses of a range. */
function* networksOf(family: 4 | 6, { first, last }: AsnRange): Generator<string> {
  const bits = family === 4 ? 32 : 128
  for (let at = first; at <= last; ) {
    let free = 0
    while (free < bits && ((at >> BigInt(free)) & 1n) === 0n && at + (1n << BigInt(free + 1)) - 1n <= last)
      free++
    const words = Array.from({ length: bits / 32 }, (_, word) =>
      Number((at >> BigInt(bits - 32 * (word + 1))) & 0xffff_ffffn),
    )
    yield formatCidr(family, Uint32Array.from(words), bits - free)
    at += 1n << BigInt(free)
  }
}

/**
 * Walks the tree of the built database, and compares every network of it with the ranges of the source: those that have its
 * first and its last address.
 *
 * @param bytes the built database, decompressed from the file to be published
 * @returns the number of networks that were compared, including those without a record
 * @throws Error at the first difference
 */
export function verifyAsn(bytes: Buffer, source: AsnSource): number {
  const file = new MmdbFile(bytes)
  if (file.databaseType !== 'Geofix-ASN') throw new Error(`database_type is ${file.databaseType}`)
  let networks = 0
  const compare = (ranges: readonly AsnRange[], record: TreeRecord, first: bigint, size: bigint): void => {
    networks++
    const [start, end] = [rangesUntil(ranges, first), rangesUntil(ranges, first + size - 1n)]
    const [index, other] = [rangeWith(ranges, start, first), rangeWith(ranges, end, first + size - 1n)]
    const range = ranges[index]
    // A network lies in one range, in ranges of the same system without gaps, or between two ranges.
    const isWithin = (start === end && index === other) || coversAll(ranges, index, other)
    const wanted = range === undefined ? null : [range.number, range.organization]
    const found = isEmpty(record) ? null : systemIn(file.data(dataOffset(record)))
    if (!isWithin || String(wanted) !== String(found)) {
      throw new Error(`the network at ${first.toString(16)} has ${found}, but should have ${wanted}`)
    }
  }
  const walk = (ranges: readonly AsnRange[], record: TreeRecord, first: bigint, size: bigint): void => {
    if (!isNode(record)) {
      compare(ranges, record, first, size)
      return
    }
    const half = size / 2n
    // IPv4 has ranges of its own. ::ffff:0:0/96 leads to the same networks.
    const isIPv4 = ranges === source.ipv6 && half === 1n << 32n
    if (isIPv4 && first === 0n) walk(source.ipv4, file.left(record), 0n, half)
    else walk(ranges, file.left(record), first, half)
    if (isIPv4 && first + half === 0xffffn << 32n) {
      if (file.right(record) !== file.descend(IPV4)) throw new Error('::ffff:0:0/96 does not lead to IPv4')
    } else walk(ranges, file.right(record), first + half, half)
  }
  walk(source.ipv6, 0, 0n, 1n << 128n)
  return networks
}

/** How many ranges start at an address or before it. */
function rangesUntil(ranges: readonly AsnRange[], address: bigint): number {
  let [low, high] = [0, ranges.length]
  while (low < high) {
    const middle = (low + high) >> 1
    if ((ranges[middle]?.first ?? 0n) <= address) low = middle + 1
    else high = middle
  }
  return low
}

/** The index of the last range that has an address; -1 for none. @param until how many ranges start before it */
function rangeWith(ranges: readonly AsnRange[], until: number, address: bigint): number {
  // Where ranges overlap, one before the nearest can have the address.
  for (let index = until - 1; index >= Math.max(0, until - 3); index--) {
    if ((ranges[index]?.last ?? 0n) >= address) return index
  }
  return -1
}

/** Whether the ranges between two are neighbours without a gap, of one system. */
function coversAll(ranges: readonly AsnRange[], from: number, to: number): boolean {
  const [start] = ranges.slice(from, from + 1)
  if (from < 0 || to < from || start === undefined) return false
  for (let index = from; index < to; index++) {
    const [range, next] = [ranges[index], ranges[index + 1]]
    if (range === undefined || next === undefined || next.first > range.last + 1n) return false
    if (next.number !== start.number || next.organization !== start.organization) return false
  }
  return true
}

function systemIn(value: unknown): readonly unknown[] {
  const record: { autonomous_system_number?: unknown; autonomous_system_organization?: unknown } =
    Object(value)
  return [record.autonomous_system_number, record.autonomous_system_organization ?? null]
}

export function asnCoverage({ ipv4, ipv6 }: AsnSource): AsnCoverage {
  const all = [...ipv4, ...ipv6]
  const names = new Map(all.map(({ number, organization }) => [number, organization]))
  const overlaps = [ipv4, ipv6].flatMap((ranges) =>
    ranges.filter(({ first }, index) => first <= (ranges[index - 1]?.last ?? -1n)),
  )
  const sizeOf = (ranges: readonly AsnRange[]): bigint => {
    let [size, end] = [0n, 0n]
    for (const { first, last } of ranges) {
      if (last >= end) size += last + 1n - (first > end ? first : end)
      end = last + 1n > end ? last + 1n : end
    }
    return size
  }
  return {
    ranges: all.length,
    ipv4Addresses: Number(sizeOf(ipv4)),
    ipv6Networks48: Number(sizeOf(ipv6) >> 80n),
    systems: names.size,
    systemsWithoutName: [...names.values()].filter((name) => name === null).length,
    overlaps: overlaps.length,
  }
}

/** @throws Error if the source has much less than it usually has: an update of it was cut off */
export function checkAsnCoverage({ ipv4Addresses, ipv6Networks48, systems, overlaps }: AsnCoverage): void {
  const tooLow = [
    [ipv4Addresses, 3.1e9, 'IPv4 addresses'],
    [ipv6Networks48, 1.5e10, 'IPv6 networks of 48 bits'],
    [systems, 80_000, 'autonomous systems'],
  ].find(([is, least]) => Number(is) < Number(least))
  if (tooLow !== undefined)
    throw new Error(`only ${tooLow[0]} ${tooLow[2]}, but at least ${tooLow[1]} are usual`)
  if (overlaps > 10) throw new Error(`${overlaps} ranges overlap`)
}
