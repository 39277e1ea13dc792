// Every function that decompresses must detect all damage to a small .mmdb.gz.
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { isGzip } from '../../src/bytes/gzip-member.ts'
import { InvalidDatabaseError } from '../../src/errors.ts'
import { MmdbWriter } from '../../src/writer.ts'
import { sampled } from '../effort.ts'
import { temporaryFolder } from '../temporary.ts'
import { type Unpack, waysToUnpack } from './ways-to-unpack.ts'

const folder = temporaryFolder()
const mmdb = new MmdbWriter({ databaseType: 'Sample', ipVersion: 4 })
  .insert('81.0.0.0/8', { country: { iso_code: 'GB' } })
  .toBytes()
const packed = new Uint8Array(gzipSync(mmdb))

/** Offsets of header fields (RFC 1952 section 2.3) that are not about the content and not checked. */
const FLAGS = 3
const FREE = [4, 5, 6, 7, 8, 9] // MTIME, XFL and OS
const FTEXT = 1

/** Offsets to damage. The header and the trailer are tried whole. */
const places = [
  ...Array.from({ length: 12 }, (_, at) => at),
  ...sampled(Array.from(packed.keys()).slice(12, -10), 15),
  ...Array.from({ length: 10 }, (_, at) => packed.length - 10 + at),
]

/** Deflate data ends in the middle of a byte; the other bits of that byte are not used. */
const LAST_OF_DEFLATE = packed.length - 9

/** Replacements for a byte: each bit flipped, and a few other values. */
function wrongValues(right: number): number[] {
  const values = [0x00, 0x7f, 0xff]
  for (let bit = 0; bit < 8; bit++) values.push(right ^ (1 << bit))
  return [...new Set(values)].filter((value) => value !== right)
}

/** Whether the file was read; any content but the right one fails the test. */
async function isRead(unpack: Unpack, bytes: Uint8Array): Promise<boolean> {
  let content: Uint8Array
  try {
    content = await unpack(bytes)
  } catch (error) {
    if (!(error instanceof InvalidDatabaseError)) throw error
    return false
  }
  // Bytes that do not start with a gzip header are returned as they are, and are not a database.
  if (!isGzip(bytes) && Buffer.compare(content, bytes) === 0) return false
  expect(Buffer.compare(content, mmdb)).toBe(0)
  return true
}

describe.each(waysToUnpack(join(folder, 'damaged')))('%s', (name, unpack) => {
  it('detects every wrong byte, except unused bytes of the header', async () => {
    const [refused, read]: [string[], string[]] = [[], []]
    let tried = 0
    for (const at of places) {
      const right = packed[at] ?? 0
      for (const value of wrongValues(right)) {
        const damaged = packed.slice()
        damaged[at] = value
        tried++
        const isFree = FREE.includes(at) || (at === FLAGS && value === FTEXT)
        const isRight = await isRead(unpack, damaged)
        if (isFree && !isRight) refused.push(`byte ${at} as ${value}`)
        if (!isFree && isRight && at !== LAST_OF_DEFLATE) read.push(`byte ${at} as ${value}`)
      }
    }
    expect(refused).toEqual([])
    // fflate accepts invalid lengths of codes that are not used; zlib refuses them.
    expect(read.length).toBeLessThanOrEqual(['portable', 'in pieces'].includes(name) ? 5 : 0)
    expect(tried).toBeGreaterThan(9 * places.length)
  })

  it('detects every truncation', async () => {
    for (const length of places) {
      expect(await isRead(unpack, packed.slice(0, length)), `${length} bytes`).toBe(false)
    }
  })

  it('detects every byte that is missing, doubled or inserted', async () => {
    for (const at of [...places, packed.length]) {
      const [before, after] = [packed.subarray(0, at), packed.subarray(at)]
      for (const changed of [
        Buffer.concat([before, after.subarray(1)]),
        Buffer.concat([before, after.subarray(0, 1), after]),
        Buffer.concat([before, Buffer.of(0), after]),
        Buffer.concat([before, Buffer.of(0xff), after]),
      ]) {
        if (Buffer.compare(changed, packed) === 0) continue
        expect(await isRead(unpack, new Uint8Array(changed)), `at ${at}`).toBe(false)
      }
    }
  })

  it.each([
    ['itself', packed],
    ['a member of nothing', gzipSync('')],
    ['a zero', Buffer.of(0)],
    ['a block of zeros, as on a tape', Buffer.alloc(512)],
    ['its trailer again', packed.subarray(-8)],
    ['zeros and its trailer again', Buffer.concat([Buffer.alloc(8), packed.subarray(-8)])],
    ['text', Buffer.from('rubbish')],
  ])('detects %s after the end', async (__, more) => {
    expect(await isRead(unpack, new Uint8Array(Buffer.concat([packed, more])))).toBe(false)
  })
})
