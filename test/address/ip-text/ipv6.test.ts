import { isIPv6 } from 'node:net'
import { describe, expect, it } from 'vitest'
import { CANONICAL_IPV6, formatIPv6, NOT_IPV6, parseIPv6, writeIPv6 } from '../../../src/address/ip-text.ts'
import { tableOf } from '../../table-of.ts'

function parsed(text: string, end = text.length): Uint32Array | null {
  const words = new Uint32Array(4)
  return parseIPv6(text, end, words) === NOT_IPV6 ? null : words
}

function canonical(text: string): string {
  const words = parsed(text)
  if (words === null) throw new Error(`${text} was refused`)
  const formatted = formatIPv6(words)
  const bytes = Buffer.alloc(41)
  expect(bytes.toString('latin1', 1, writeIPv6(words, bytes, 1))).toBe(formatted)
  return formatted
}

/** The output of the URL standard's host serializer: RFC 5952, always hexadecimal. */
const hostname = (text: string): string => new URL(`http://[${text}]/`).hostname.slice(1, -1)

// The fuzz target address reads and formats any spelling, and compares it with net.isIP and the URL standard.
describe('parseIPv6', () => {
  it.each([
    ['::1', [0, 0, 0, 1]],
    ['1::', [0x10000, 0, 0, 0]],
    ['1:2:3:4:5:6:7:8', [0x10002, 0x30004, 0x50006, 0x70008]],
    ['1:2:3:4:5:6:7::', [0x10002, 0x30004, 0x50006, 0x70000]], // "::" for a single group at the end
    ['::2:3:4:5:6:7:8', [2, 0x30004, 0x50006, 0x70008]], // and at the start
    ['1:2:3::5:6:7:8', [0x10002, 0x30000, 0x50006, 0x70008]], // and in the middle
    ['ffff:FFFF:0abc:ABC::', [0xffffffff, 0x0abc0abc, 0, 0]], // either case, leading zeros
    ['0000:0000:0000:0000:0000:0000:0000:0001', [0, 0, 0, 1]],
    ['::1.2.3.4', [0, 0, 0, 0x01020304]],
    ['::ffff:255.255.255.255', [0, 0, 0xffff, 0xffffffff]],
    ['1:2:3:4:5:6:7.8.9.10', [0x10002, 0x30004, 0x50006, 0x0708090a]],
    ['1:2:3:4:5::7.8.9.10', [0x10002, 0x30004, 0x50000, 0x0708090a]],
    ['0000:0000:0000:0000:0000:ffff:255.255.255.255', [0, 0, 0xffff, 0xffffffff]], // 45 characters, the longest
  ])('reads %s', (text, words) => {
    expect(parsed(text)).toEqual(Uint32Array.from(words))
    expect(isIPv6(text)).toBe(true)
  })

  it.each([...tableOf(import.meta.dirname, 'not-ipv6.tsv'), [''], ['::1.2.3.4 '], ['::1 '], ['::1\0']])(
    'refuses %j',
    (text) => {
      expect(parsed(text)).toBeNull()
      if (!text.includes('%')) expect(isIPv6(text)).toBe(false)
    },
  )

  it('reads up to the given end', () => {
    expect(parsed('fe80::1%eth0', 7)).toEqual(Uint32Array.of(0xfe800000, 0, 0, 1))
    expect(parsed('fe80::1.2.3.4%eth0', 13)).toEqual(Uint32Array.of(0xfe800000, 0, 0, 0x01020304))
    expect(parsed('fe80::1.2.3.4', 12)).toBeNull()
    expect(parsed('1:2:3:4:5:6:7:8:9', 15)).toEqual(Uint32Array.of(0x10002, 0x30004, 0x50006, 0x70008))
  })

  it('overwrites an earlier address completely', () => {
    const words = new Uint32Array(4)
    expect(parseIPv6('1:2:3:4:5:6:7:8', 15, words)).toBe(CANONICAL_IPV6)
    expect(parseIPv6('::', 2, words)).toBe(CANONICAL_IPV6)
    expect([...words]).toEqual([0, 0, 0, 0])
  })
})

describe('formatIPv6', () => {
  it('agrees with the URL standard for every pattern of zero groups', () => {
    for (let pattern = 0; pattern < 256; pattern++) {
      const group = (i: number) => ((pattern >> i) & 1 ? ['a', '1b', '0C0d', 'e0F1'][i % 4] : '0')
      const long = Array.from({ length: 8 }, (_, i) => group(i)).join(':')
      expect(canonical(long)).toBe(hostname(long))
    }
  })
})
