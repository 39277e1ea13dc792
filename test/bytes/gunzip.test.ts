import { gzipSync } from 'node:zlib'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { gunzip } from '../../src/bytes/gunzip.ts'
import { InvalidDatabaseError } from '../../src/errors.ts'
import { nativeGunzip, nativeGunzipAsync } from '../../src/node/native-gunzip.ts'
import { CONTENT, damagedFiles, gzipOf, optionalHeaders } from './gzip-samples.ts'

// One table for both, so that they stay equal.
describe.each([
  ['gunzip', gunzip],
  ['nativeGunzip', nativeGunzip],
])('%s', (_, unzip) => {
  it.each([0, 1, 6, 9])('reads what zlib wrote at level %i', (level) => {
    expectContent(unzip(gzipSync(CONTENT, { level })))
  })

  it('reads any content', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 2000 }), (content) => {
        expect([...unzip(gzipSync(content))]).toEqual([...content])
      }),
    )
  })

  it('reads a large file of the best compression ratio, which is within the limit of deflate', () => {
    const content = new Uint8Array(3_000_000)
    expect(unzip(gzipSync(content, { level: 9 })).length).toBe(content.length)
  })

  it('reads an empty file', () => {
    expect(unzip(gzipSync(new Uint8Array())).length).toBe(0)
  })

  it.each(optionalHeaders())('reads a header with %s', (__, file) => {
    expectContent(unzip(file))
  })

  it('reads a view into a larger buffer', () => {
    const file = gzipOf(CONTENT)
    const larger = new Uint8Array(file.length + 20).fill(7)
    larger.set(file, 11)
    expectContent(unzip(larger.subarray(11, 11 + file.length)))
  })

  it('reads shared memory', () => {
    const file = gzipOf(CONTENT)
    const shared = new Uint8Array(new SharedArrayBuffer(file.length))
    shared.set(file)
    expectContent(unzip(shared))
  })

  it('does not keep more memory alive than the content needs', () => {
    expect(unzip(gzipOf(CONTENT)).buffer.byteLength).toBeLessThan(CONTENT.length + 8192)
  })

  it('refuses many extra bytes that end as the file does', () => {
    const file = gzipOf(CONTENT)
    for (const filler of [0, 0x1f, 0xff]) {
      const extra = Buffer.concat([file, Buffer.alloc(300_000, filler), file.subarray(-8)])
      expect(() => unzip(extra), String(filler)).toThrow(InvalidDatabaseError)
    }
  })

  it.each(damagedFiles())('refuses %s', (__, file, message) => {
    expect(() => unzip(file, '/db.gz')).toThrow(InvalidDatabaseError)
    expect(() => unzip(file, '/db.gz')).toThrow(message)
    expect(() => unzip(file, '/db.gz')).toThrow(/^\/db\.gz: /)
  })

  it('refuses every truncation', () => {
    const file = gzipOf(CONTENT)
    for (let length = 0; length < file.length; length++) {
      expect(() => unzip(file.subarray(0, length)), `${length} bytes`).toThrow(InvalidDatabaseError)
    }
  })

  it('refuses every wrong byte, or returns the same content', () => {
    const [, file] = optionalHeaders().at(-1) ?? ['', new Uint8Array()]
    let refused = 0
    for (let at = 0; at < file.length; at++) {
      for (const mask of [0x01, 0x80, 0xff]) {
        const damaged = file.slice()
        damaged[at] = (damaged[at] ?? 0) ^ mask
        if (outcomeOf(() => unzip(damaged)) === 'refused') refused++
      }
    }
    // FHCRC covers the whole header; in the deflate data only bits that zlib ignores too can change.
    expect(refused).toBeGreaterThan(3 * file.length - 24)
  })

  it('ignores the time and the system in a header without checksum', () => {
    const file = gzipOf(CONTENT)
    file.fill(0x55, 4, 10)
    expectContent(unzip(file))
  })

  it('allocates no more than a file of its size can hold, whatever size its trailer has', () => {
    const file = gzipOf(CONTENT, { length: 0x7fffffff })
    const before = process.memoryUsage().arrayBuffers
    for (let i = 0; i < 20; i++) expect(() => unzip(file)).toThrow('more bytes than the file can hold')
    expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(1_000_000)
  })
})

describe.each([
  ['gunzip', gunzip],
  ['nativeGunzip', nativeGunzip],
])('%s and bytes after the member', (_, unzip) => {
  const file = gzipOf(CONTENT)
  it.each([
    ['the same member again', file],
    ['its own trailer again', file.subarray(-8)],
    ['garbage and its own trailer', Buffer.concat([Buffer.from('rubbish'), file.subarray(-8)])],
    ['its own trailer many times', Buffer.concat(Array.from({ length: 50 }, () => file.subarray(-8)))],
  ])('refuses %s', (_, more) => {
    expect(() => unzip(Buffer.concat([file, more]))).toThrow(InvalidDatabaseError)
  })

  it('refuses zeros after an empty member, whose trailer is zeros too', () => {
    const nothing = gzipSync('')
    for (const zeros of [1, 7, 8, 9]) {
      expect(() => unzip(Buffer.concat([nothing, Buffer.alloc(zeros)])), `${zeros}`).toThrow(
        InvalidDatabaseError,
      )
    }
  })

  it('reads a member whose data contains its trailer by chance', () => {
    // Stored, not compressed: the file contains the content itself.
    const content = Buffer.from('content')
    const trailer = gzipSync(content, { level: 0 }).subarray(-8)
    expect(unzip(gzipSync(Buffer.concat([trailer, content]), { level: 0 }))).toHaveLength(15)
  })
})

describe('gunzip and nativeGunzip', () => {
  // fflate accepts some faults in the compressed data that zlib refuses. The content matches its checksum.
  it('agree on files with random damage, or only the portable one reads them', async () => {
    const file = gzipSync(CONTENT)
    const damage = fc.array(fc.tuple(fc.nat(file.length - 1), fc.nat(255)), { minLength: 1, maxLength: 4 })
    await fc.assert(
      fc.asyncProperty(damage, async (edits) => {
        const damaged = new Uint8Array(file)
        for (const [at, value] of edits) damaged[at] = value
        const portable = outcomeOf(() => gunzip(damaged))
        const native = outcomeOf(() => nativeGunzip(damaged))
        if (native === 'read') expect(portable).toBe('read')
        expect(await nativeGunzipAsync(damaged).then(() => 'read', faultOf)).toBe(native)
      }),
      { numRuns: 300 },
    )
  })
})

/** Faster than a deep comparison. Accepts a Buffer as a Uint8Array. */
function expectContent(bytes: Uint8Array): void {
  expect(Buffer.compare(bytes, CONTENT)).toBe(0)
}

function outcomeOf(unzip: () => Uint8Array): string {
  let content: Uint8Array
  try {
    content = unzip()
  } catch (error) {
    return faultOf(error)
  }
  expectContent(content)
  return 'read'
}

function faultOf(error: unknown): string {
  expect(error).toBeInstanceOf(InvalidDatabaseError)
  return 'refused'
}
