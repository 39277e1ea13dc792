import { createHash, createHmac } from 'node:crypto'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { HmacSha256, sha256 } from '../../src/bytes/sha-256.ts'

const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex')

describe('sha256', () => {
  it('is what Node computes, for every length up to three blocks', () => {
    for (let size = 0; size <= 192; size++) {
      const message = Uint8Array.from({ length: size }, (_, index) => index * 7 + size)
      expect(hex(sha256(message))).toBe(createHash('sha256').update(message).digest('hex'))
    }
  })
})

describe('HmacSha256', () => {
  it('is what Node computes, for keys shorter and longer than a block', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 100 }), fc.uint8Array({ maxLength: 200 }), (key, message) => {
        const expected = createHmac('sha256', key).update(message).digest('hex')
        const hmac = new HmacSha256(key)
        expect(hex(hmac.digest(message))).toBe(expected)
        // One key serves many messages.
        expect(hex(hmac.digest(message))).toBe(expected)
      }),
    )
  })
})
