import { isIPv4 } from 'node:net'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { formatIPv4, NOT_IPV4, parseIPv4, writeIPv4 } from '../../../src/address/ip-text.ts'
import { tableOf } from '../../table-of.ts'

describe('parseIPv4', () => {
  it.each([
    ['0.0.0.1', 1],
    ['1.2.3.4', 0x01020304],
    ['128.0.0.0', 0x80000000], // the sign bit of 32-bit arithmetic
    ['255.255.255.255', 0xffffffff], // the longest spelling
    ['10.20.30.40', 0x0a141e28], // zeros that are not leading
  ])('reads %s', (text, address) => {
    expect(parseIPv4(text)).toBe(address)
  })

  it.each([
    ...tableOf(import.meta.dirname, 'not-ipv4.tsv'),
    [''],
    ['1.2.3.4 '],
    ['1.2.3.4\n'],
    ['1.2.3.4\0'],
  ])('refuses %j', (text) => {
    expect(parseIPv4(text)).toBe(NOT_IPV4)
    expect(isIPv4(text)).toBe(false)
  })

  it('reads every octet at every position, in one spelling only', () => {
    for (let value = 0; value < 1000; value++) {
      for (let place = 0; place < 4; place++) {
        const octets = [9, 9, 9, 9].map((other, i) => (i === place ? value : other))
        const expected = value > 255 ? NOT_IPV4 : Buffer.from(octets).readUInt32BE()
        expect(parseIPv4(octets.join('.'))).toBe(expected)
        const padded = octets.map((octet, i) => (i === place ? `0${octet}` : octet)).join('.')
        expect(parseIPv4(padded)).toBe(NOT_IPV4)
      }
    }
  })

  it('reads from any start to the end of the text', () => {
    expect(parseIPv4('::ffff:1.2.3.4', 7)).toBe(0x01020304)
    expect(parseIPv4('::ffff:1.2.3.4', 8)).toBe(NOT_IPV4)
    expect(parseIPv4('1.2.3.4', 1)).toBe(NOT_IPV4)
    expect(parseIPv4('1.2.3.4', 99)).toBe(NOT_IPV4)
  })
})

describe('formatIPv4', () => {
  it('formats a text that parses as the same number', () => {
    fc.assert(
      fc.property(fc.nat(0xffffffff), (address) => {
        const octets = Buffer.alloc(4)
        octets.writeUInt32BE(address)
        const text = formatIPv4(address)
        const bytes = Buffer.alloc(17)
        expect(bytes.toString('latin1', 1, writeIPv4(address, bytes, 1))).toBe(text)
        expect(text).toBe([...octets].join('.'))
        expect(parseIPv4(text)).toBe(address)
      }),
    )
  })
})
