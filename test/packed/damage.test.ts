// Packed files with wrong bytes: each is refused when it is opened, fails the lookups of one block, or changes nothing.
import { deflateRawSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { seeded } from '../../scripts/bench/addresses.ts'
import { crc32 } from '../../src/bytes/extract.ts'
import { isPacked } from '../../src/bytes/file-kind.ts'
import { type Inflate, inflate, PORTABLE_CODEC } from '../../src/bytes/gunzip.ts'
import { InvalidDatabaseError, isGeofixError } from '../../src/errors.ts'
import { Resolver } from '../../src/index.ts'
import { withDatabases } from '../../src/location/database-set.ts'
import { findLocation } from '../../src/location/lookup.ts'
import { Database } from '../../src/mmdb/database.ts'
import { countNetworks } from '../../src/mmdb/networks.ts'
import { verify } from '../../src/mmdb/verify.ts'
import { sourceOf } from '../../src/packed/block-file.ts'
import { readDirectory } from '../../src/packed/directory.ts'
import { pack, unpack } from '../../src/packed/pack.ts'
import { PackedDatabase } from '../../src/packed/packed-database.ts'
import { MmdbWriter } from '../../src/writer.ts'
import { addressOf } from '../address/address-of.ts'
import { effort, sampled } from '../effort.ts'
import { offsetAt } from '../mmdb/questions.ts'
import { openPacked } from './parts.ts'

/** 20,000 networks, in several blocks, and 200 KB of data. */
function manyNetworks(): Uint8Array {
  const writer = new MmdbWriter({ databaseType: 'Test-City' })
  for (let i = 0; i < 20_000; i++) {
    writer.insert(`${1 + (i >>> 8)}.${i & 255}.0.0/16`, {
      city: { names: { en: `City ${Math.imul(i, 0x9e3779b1) >>> 16}` } },
      country: { iso_code: 'GB' },
    })
  }
  return writer.toBytes()
}

/** As the core opens it. The tests of sources open packed files as Node does. */
const openDatabase = (bytes: Uint8Array) => (isPacked(bytes) ? openPacked(bytes) : new Database(bytes))

const PLAIN = manyNetworks()
const PACKED = pack(PLAIN)
const DIRECTORY = readDirectory(
  PACKED.length,
  (at, length) => PACKED.subarray(at, at + length),
  PORTABLE_CODEC,
  Number.POSITIVE_INFINITY,
)
/** Where it ends. */
const [END = 0] = DIRECTORY.positions
const { crc: CHECKSUMS } = DIRECTORY.blocks
const ADDRESSES = Array.from({ length: 100 }, (_, i) => Math.imul(i, 0x9e3779b1) >>> 0)

/** Everything that can be asked. @returns how many lookups failed */
function askAll(bytes: Uint8Array): { refused: boolean; failed: number } {
  const attempt = <Result>(ask: () => Result): Result | null => {
    try {
      return ask()
    } catch (error) {
      if (!isGeofixError(error)) throw error
      expect(error.code).toBe('INVALID_DATABASE')
      return null
    }
  }
  const database = attempt(() => openDatabase(bytes))
  if (database === null) {
    expect(() => unpack(bytes)).toThrow(InvalidDatabaseError)
    return { refused: true, failed: 0 }
  }
  let failed = 0
  for (const address of ADDRESSES) {
    const found = attempt(() => offsetAt(database, address))
    if (found === null || (found > 0 && attempt(() => database.record(found)) === null)) failed++
    attempt(() => offsetAt(database, Uint32Array.of(address, address, 0, 1)))
  }
  attempt(() => unpack(bytes))
  attempt(() => (database instanceof Database ? countNetworks(database) : database.countNetworks()))
  return { refused: false, failed }
}

/** Changes the header or the directory, and makes all checksums and lengths right again. */
function withDirectory(change: (fields: DataView, directory: Uint8Array) => Uint8Array): Uint8Array {
  const header = new DataView(PACKED.buffer, PACKED.byteOffset)
  const directory = inflate(PACKED.subarray(32, END), header.getUint32(20, true)).slice()
  const changed = change(new DataView(directory.buffer), directory)
  const deflated = deflateRawSync(changed)
  const bytes = Buffer.concat([PACKED.subarray(0, 32), deflated, PACKED.subarray(END)])
  bytes.writeUInt32LE(bytes.length, 12)
  bytes.writeUInt32LE(deflated.length, 16)
  bytes.writeUInt32LE(changed.length, 20)
  bytes.writeUInt32LE(crc32(deflated), 24)
  bytes.writeUInt32LE(crc32(bytes.subarray(0, 28)), 28)
  return new Uint8Array(bytes)
}

describe('a packed file', () => {
  it('has several blocks of networks, records and data, and answers', () => {
    expect(DIRECTORY.families.map(({ count }) => count)).toEqual([20_002, 3, 1])
    expect(DIRECTORY.recordCount).toBeGreaterThan(2 * 4096)
    expect(DIRECTORY.dataBytes).toBeGreaterThan(3 * 32_768)
    expect(askAll(PACKED)).toEqual({ refused: false, failed: 0 })
  })

  it('is refused with any bit of its header or directory flipped', () => {
    for (const at of sampled([...PACKED.keys()].slice(0, END), 60)) {
      const damaged = PACKED.slice()
      damaged[at] = (damaged[at] ?? 0) ^ (1 << (at & 7))
      // Without its magic, it is read as an MMDB file.
      expect(() => openDatabase(damaged), `byte ${at}`).toThrow(InvalidDatabaseError)
    }
  })

  it('fails only for the addresses of a damaged block, which verify reports', () => {
    const random = seeded(1)
    for (let round = 0; round < effort({ short: 8, long: 200 }); round++) {
      const damaged = PACKED.slice()
      const at = END + Math.floor(random() * (PACKED.length - END))
      damaged[at] = (damaged[at] ?? 0) ^ (1 << (round & 7))
      const { refused, failed } = askAll(damaged)
      expect(refused).toBe(false)
      const isRecordTable = failed > ADDRESSES.length / 2
      const verification = verify(openDatabase(damaged))
      expect(verification.faultCount).toBeGreaterThan(0)
      expect(verification.faults[0]?.message).toMatch(/block of.* cannot be read/)
      if (!isRecordTable) expect(verification.faultCount).toBe(1)
      expect(() => unpack(damaged)).toThrow(InvalidDatabaseError)
    }
  })

  it.each([
    ['en', 'en', 'de'],
    ['de', 'locale', 'en'],
  ] as const)(
    'has a failure for an address whose texts end in a damaged block: %s, %s',
    (locale, cityNames, other) => {
      const ips = Array.from({ length: 120 }, (_, i) => `1.0.0.${i}`)
      for (const length of [280, 283, 286, 289, 292, 295]) {
        const writer = new MmdbWriter({ databaseType: 'Test-City' })
        for (const ip of ips)
          writer.insert(ip, {
            city: { names: { [other]: ip.padEnd(length, 'o'), [locale]: ip.padEnd(length) } },
          })
        const bytes = pack(writer.toBytes())
        bytes[bytes.length - 1] = ~(bytes.at(-1) ?? 0)
        const geo = Resolver.openSync(bytes)
        const codes = geo
          .lookupMany(ips, { locale, cityNames })
          .map((each) => 'error' in each && each.error.code)
        const sound = codes.indexOf('INVALID_DATABASE')
        expect(codes).toEqual(ips.map((_, i) => i >= sound && 'INVALID_DATABASE'))
        for (const ip of ips.slice(sound - 1)) geo.find(ip, { locale, cityNames })
        // Lines and batches read English texts where they write them.
        const found = ips.map((ip) => withDatabases(geo, (set) => findLocation(set, addressOf(ip))))
        if (locale === 'en') expect(found.map((each) => typeof each === 'object')).toEqual(codes.map(Boolean))
      }
    },
  )

  it('opens, and fails for every address, if all blocks of networks are damaged', () => {
    const damaged = PACKED.slice()
    const blocks = DIRECTORY.families.reduce((sum, { starts, width }) => sum + starts.length / width, 0)
    for (const at of DIRECTORY.positions.subarray(0, blocks)) damaged[at] = (damaged[at] ?? 0) ^ 1
    expect([...openPacked(damaged).firstRecords(1)]).toHaveLength(1)
    expect(askAll(damaged)).toEqual({ refused: false, failed: ADDRESSES.length })
  })

  it('is refused if it is cut short, or longer', () => {
    for (const length of sampled([...PACKED.keys()].slice(8), 60)) {
      expect(() => openDatabase(PACKED.subarray(0, length))).toThrow(InvalidDatabaseError)
    }
    expect(() => openDatabase(Buffer.concat([PACKED, Uint8Array.of(0)]))).toThrow('and should have')
  })

  it('is refused, or fails lookups, with any number of its directory changed', () => {
    const lengths = DIRECTORY.families.reduce(
      (sum, { lengths, starts }) => sum + lengths.length + starts.length,
      0,
    )
    const numbers = 10 + lengths + 4 * CHECKSUMS.length
    const stages = { refused: 0, opened: 0 }
    for (const number of sampled(
      Array.from({ length: numbers }).map((_, i) => i),
      40,
    )) {
      for (const value of [0, 1, 0xffff_ffff, 77]) {
        const bytes = withDirectory((fields, directory) => {
          fields.setUint32(4 * number, value, true)
          return directory
        })
        stages[askAll(bytes).refused ? 'refused' : 'opened']++
      }
    }
    expect(Math.min(stages.refused, stages.opened)).toBeGreaterThan(0)
  })

  it.each([
    ['bytes', 16, PACKED.length],
    ['bytes inflated', 20, 2 ** 31],
  ])('is refused if its header gives the directory too many %s', (_, at, value) => {
    const bytes = Buffer.from(PACKED)
    bytes.writeUInt32LE(value, at)
    bytes.writeUInt32LE(crc32(bytes.subarray(0, 28)), 28)
    expect(() => openDatabase(bytes)).toThrow('its directory is larger than the file')
  })

  it('is refused if it, or its directory, has more bytes than maxBytes', () => {
    const open = (bytes: Uint8Array, maxBytes: number) => () => openPacked(bytes, undefined, { maxBytes })
    const bytes = withDirectory((_, directory) => Buffer.concat([directory, new Uint8Array(1_000_000)]))
    expect(bytes.length).toBeLessThan(PLAIN.length)
    expect(open(bytes, PLAIN.length)).toThrow(`it has more than ${PLAIN.length} bytes, the limit`)
    expect(open(PACKED, PLAIN.length)).not.toThrow()
    expect(open(PACKED, PLAIN.length - 1)).toThrow(`it has more than ${PLAIN.length - 1} bytes, the limit`)
  })

  it.each([0, 1])('says if there is not enough memory, after %i blocks', (blocks) => {
    let read = 0
    const inflateSome: Inflate = (stream, length) => {
      if (read++ === blocks) throw new RangeError('Array buffer allocation failed')
      return inflate(stream, length)
    }
    const codec = { ...PORTABLE_CODEC, inflate: inflateSome }
    const fault = 'there is not enough memory for it'
    expect(() => verify(new PackedDatabase(sourceOf(PACKED), codec))).toThrow(
      expect.objectContaining({ fault }),
    )
  })

  it('says which version it needs', () => {
    const bytes = Buffer.from(PACKED)
    bytes.writeUInt32LE(4, 8)
    bytes.writeUInt32LE(crc32(bytes.subarray(0, 28)), 28)
    // A download of the same file would not help.
    expect(() => openDatabase(bytes)).toThrow(
      /it is packed in version 4; only version 3 is supported: pack the original again, or use the newest geofix$/,
    )
  })
})
