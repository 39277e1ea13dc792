import assert from 'node:assert/strict'
import { constants, deflateRawSync, gunzipSync } from 'node:zlib'
import fc from 'fast-check'
import { inflateSync } from 'fflate'
import { gunzip } from '../../../src/bytes/gunzip.ts'
import { InvalidDatabaseError } from '../../../src/errors.ts'
import { nativeGunzip } from '../../../src/node/file-bytes.ts'
import { gzipOf, optionalHeaders } from '../../bytes/gzip-samples.ts'
import { mutatedBytes } from '../mutation.ts'
import type { Target } from '../target.ts'

const { Z_DEFAULT_STRATEGY, Z_FILTERED, Z_FIXED, Z_HUFFMAN_ONLY, Z_RLE } = constants

/** Text with near and far repetitions, for all codes of deflate. */
const content = fc
  .array(fc.tuple(fc.uint8Array({ maxLength: 12 }), fc.nat(40)), { maxLength: 12 })
  .map(
    (parts) =>
      new Uint8Array(
        Buffer.concat(parts.flatMap(([part, times]) => new Array<Uint8Array>(times).fill(part))),
      ),
  )

const deflated = fc
  .tuple(
    content,
    fc.record({
      level: fc.integer({ min: 0, max: 9 }),
      strategy: fc.constantFrom(Z_DEFAULT_STRATEGY, Z_FILTERED, Z_FIXED, Z_HUFFMAN_ONLY, Z_RLE),
      windowBits: fc.integer({ min: 9, max: 15 }),
    }),
  )
  .map(([bytes, options]) => ({ bytes, deflate: new Uint8Array(deflateRawSync(bytes, options)) }))

const whole = deflated.map(({ bytes, deflate }) => gzipOf(bytes, { deflate }))

/** Changed compressed data with the trailer of its new content: damage that the checksum does not detect. */
const refitted = mutatedBytes(
  deflated.map(({ deflate }) => deflate),
  3,
).map((deflate) => {
  let bytes: Uint8Array = new Uint8Array()
  try {
    bytes = inflateSync(deflate)
  } catch {
    // It cannot be read, so any trailer will do.
  }
  return gzipOf(bytes, { deflate })
})

const headers = fc.constantFrom(...optionalHeaders().map(([, file]) => file))
const several = fc
  .array(whole, { minLength: 2, maxLength: 3 })
  .map((files) => new Uint8Array(Buffer.concat(files)))

const inputs: fc.Arbitrary<Uint8Array> = fc.oneof(
  { weight: 2, arbitrary: whole },
  { weight: 4, arbitrary: mutatedBytes(whole) },
  { weight: 4, arbitrary: refitted },
  { weight: 1, arbitrary: mutatedBytes(headers) },
  { weight: 1, arbitrary: mutatedBytes(several, 2) },
)

/** The content by Node alone, which accepts several members and anything after them. */
function zlibContent(bytes: Uint8Array): Uint8Array | null {
  try {
    return gunzipSync(bytes, { maxOutputLength: 64 * 1024 * 1024 })
  } catch {
    return null
  }
}

function contentBy(read: (bytes: Uint8Array) => Uint8Array, bytes: Uint8Array): Uint8Array | null {
  try {
    return read(bytes)
  } catch (error) {
    assert.ok(error instanceof InvalidDatabaseError, String(error))
    assert.ok(error.message.length <= 300)
    return null
  }
}

export const gzip: Target<Uint8Array> = {
  name: 'gzip',
  inputs,
  shortRuns: 1000,
  check(bytes) {
    const expected = zlibContent(bytes)
    const native = contentBy(nativeGunzip, bytes)
    const portable = contentBy(gunzip, bytes)
    if (native === null && portable !== null) {
      // fflate accepts some faults if the content matches its checksum.
      assert.equal(expected, null)
      assert.ok(
        Buffer.from(gzipOf(portable)).subarray(-8).equals(bytes.subarray(-8)),
        'the trailer does not match',
      )
      return
    }
    assert.ok(portable !== null || native === null, 'gunzip refuses a file that nativeGunzip reads')
    if (native === null || portable === null) {
      // Ours refuse bytes after the first member; zlib then reads the file without its last byte too.
      const isMore = expected !== null && isReadable(bytes.subarray(0, -1))
      assert.ok(expected === null || isMore, 'zlib reads it, and there are no extra bytes')
      return
    }
    assert.ok(expected !== null, 'zlib refuses it')
    assert.ok(Buffer.from(native).equals(expected))
    assert.ok(Buffer.from(portable).equals(expected))
    assert.equal(native.length, expected.length)
  },
}

/** Whether zlib reads the file, or a beginning of it. */
function isReadable(bytes: Uint8Array): boolean {
  for (let end = bytes.length; end >= 18; end--) if (zlibContent(bytes.subarray(0, end)) !== null) return true
  return false
}
