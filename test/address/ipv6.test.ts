import { isIPv6 } from 'node:net'
import fc from 'fast-check'
import ipaddr from 'ipaddr.js'
import { describe, expect, it } from 'vitest'
import { Address } from '../../src/address/address.ts'
import {
  CANONICAL_IPV6,
  formatIPv6,
  isZoneId,
  mappedIPv4,
  NO_EMBEDDED_IPV4,
  NOT_IPV6,
  parseIPv6,
  translatedIPv4,
} from '../../src/address/ipv6.ts'
import { ipv6Spelling } from './arbitraries.ts'

function parsed(text: string, end = text.length): Uint32Array | null {
  const words = new Uint32Array(4)
  return parseIPv6(text, end, words) === NOT_IPV6 ? null : words
}

function canonical(text: string): string {
  const words = parsed(text)
  if (words === null) throw new Error(`${text} was refused`)
  return formatIPv6(words)
}

/** What the URL standard's host serializer makes of an address: RFC 5952, hexadecimal throughout. */
const hostname = (text: string): string => new URL(`http://[${text}]/`).hostname.slice(1, -1)

describe('parseIPv6', () => {
  it.each([
    ['::', [0, 0, 0, 0]],
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

  it.each([
    '', //
    ':',
    ':1', // one colon at the start
    '1:', // one at the end
    ':1:2:3:4:5:6:7:8',
    '1:2:3:4:5:6:7:8:',
    ':::',
    '1:::2',
    '::1::', // "::" twice
    '1::2::3',
    '1:2:3:4:5:6:7', // seven groups
    '1:2:3:4:5:6:7:8:9', // nine
    '1:2:3:4:5:6:7:8::', // "::" for no group at all
    '::1:2:3:4:5:6:7:8',
    '1:2:3:4::5:6:7:8',
    '12345::',
    '::12345',
    '00001::',
    'g::',
    '::g',
    '::1g',
    '::@', // lower-cased by "| 0x20" it would be a backtick
    '::`',
    '::G',
    '1.2.3.4', // IPv4 is not this parser's
    '1.2.3.4::',
    '::1.2.3.4:5',
    '::1.2.3.4::',
    '::1.2.3',
    '::1.2.3.4.5',
    '::1.2.3.256',
    '::01.2.3.4',
    '::1.2.3.4 ',
    '::.1.2.3',
    '::a.2.3.4',
    '1:2:3:4:5:6:7:1.2.3.4', // nine groups' worth
    '1:2:3:4:5:6::1.2.3.4', // "::" for no group before a dotted tail
    '1:2:3:4:5:1.2.3.4', // seven groups' worth
    '::ffff:12345.1.1.1',
    ' ::1',
    '::1 ',
    '::1\n',
    '::1\0',
    '[::1]',
    '::1/128',
    '::1%', // a zone is the caller's matter
    '::\u0131', // a dotless i: case folding plays no part
    '：：１', // full-width
    '0000:0000:0000:0000:0000:0000:255.255.255.2555',
    '0000:0000:0000:0000:0000:00000:255.255.255.255', // 46 characters
  ])('refuses %j', (text) => {
    expect(parsed(text)).toBeNull()
    if (!text.includes('%')) expect(isIPv6(text)).toBe(false)
  })

  it('reads as far as it is told', () => {
    expect(parsed('fe80::1%eth0', 7)).toEqual(Uint32Array.of(0xfe800000, 0, 0, 1))
    expect(parsed('fe80::1.2.3.4%eth0', 13)).toEqual(Uint32Array.of(0xfe800000, 0, 0, 0x01020304))
    expect(parsed('fe80::1.2.3.4', 12)).toBeNull()
    expect(parsed('1:2:3:4:5:6:7:8:9', 15)).toEqual(Uint32Array.of(0x10002, 0x30004, 0x50006, 0x70008))
  })

  it('leaves nothing of an earlier address behind', () => {
    const words = new Uint32Array(4)
    expect(parseIPv6('1:2:3:4:5:6:7:8', 15, words)).toBe(CANONICAL_IPV6)
    expect(parseIPv6('::', 2, words)).toBe(CANONICAL_IPV6)
    expect([...words]).toEqual([0, 0, 0, 0])
  })

  it('reads any spelling as ipaddr.js and the URL standard do', () => {
    fc.assert(
      fc.property(ipv6Spelling, (text) => {
        expect(canonical(text)).toBe(hostname(text))
        // ipaddr.js 2.5.0 reads ::10.0.0.2 as IPv4-mapped.
        if (text.includes('.')) return
        const bytes = Buffer.from(ipaddr.IPv6.parse(text).toByteArray())
        expect([...(parsed(text) ?? [])]).toEqual([0, 4, 8, 12].map((at) => bytes.readUInt32BE(at)))
      }),
      { numRuns: 1000 },
    )
  })
})

describe('formatIPv6', () => {
  // RFC 5952 section 4, rule by rule.
  it.each([
    ['2001:0db8::0001', '2001:db8::1'], // 4.1: no leading zeros
    ['2001:db8::ABCD', '2001:db8::abcd'], // 4.3: lower case
    ['2001:db8:0:0:0:0:2:1', '2001:db8::2:1'], // 4.2.1: as short as possible
    ['2001:db8:0:1:1:1:1:1', '2001:db8:0:1:1:1:1:1'], // 4.2.2: not for a single group
    ['2001:0:0:1:0:0:0:1', '2001:0:0:1::1'], // 4.2.3: the longest run
    ['2001:db8:0:0:1:0:0:1', '2001:db8::1:0:0:1'], // 4.2.3: the first of equal runs
    ['0:0:1:0:0:1:0:0', '::1:0:0:1:0:0'], // three equal runs
    ['0:0:0:0:0:0:0:0', '::'],
    ['1:0:0:0:0:0:0:0', '1::'],
    ['0:1:2:3:4:5:6:7', '0:1:2:3:4:5:6:7'], // a single zero at an end stays
    ['1:2:3:4:5:6:7:0', '1:2:3:4:5:6:7:0'],
    ['1:2:3:4:5:6:0:0', '1:2:3:4:5:6::'],
    ['0:0:3:4:5:6:7:8', '::3:4:5:6:7:8'],
    ['::1.2.3.4', '::102:304'], // never dotted
  ])('%s is %s', (text, expected) => {
    expect(canonical(text)).toBe(expected)
  })

  it('agrees with ipaddr.js and the URL standard, and is read as the same address', () => {
    const group = fc.oneof(fc.constant(0), fc.nat(0xffff))
    fc.assert(
      fc.property(fc.array(group, { minLength: 8, maxLength: 8 }), (groups) => {
        const long = groups.map((each) => each.toString(16)).join(':')
        const text = canonical(long)
        expect(text).toBe(hostname(long))
        expect(text).toBe(new ipaddr.IPv6(groups).toRFC5952String())
        expect(canonical(text)).toBe(text)
      }),
      { numRuns: 1000 },
    )
  })

  it('agrees for every pattern of zero groups', () => {
    for (let pattern = 0; pattern < 256; pattern++) {
      const long = Array.from({ length: 8 }, (_, i) => ((pattern >> i) & 1 ? 'a' : '0')).join(':')
      expect(canonical(long)).toBe(hostname(long))
    }
  })
})

function words(text: string): Uint32Array {
  const into = new Uint32Array(4)
  if (parseIPv6(text, text.length, into) === NOT_IPV6) throw new Error(`${text} was refused`)
  return into
}

const hex = (octets: readonly number[]): string =>
  octets
    .map((octet) => octet.toString(16).padStart(2, '0'))
    .join('')
    .replace(/^(.{4})/, '$1:')

describe('an IPv4 address inside an IPv6 address', () => {
  it.each([
    ['::ffff:192.88.99.1', 0xc0586301], // RFC 4291 section 2.5.5.2
    ['::ffff:0.0.0.0', 0],
    ['::ffff:255.255.255.255', 0xffffffff],
    ['::fffe:192.88.99.1', NO_EMBEDDED_IPV4],
    ['::192.88.99.1', NO_EMBEDDED_IPV4], // IPv4-compatible, deprecated
    ['::ffff:0:192.88.99.1', NO_EMBEDDED_IPV4], // IPv4-translated (RFC 2765), 16 bits further left
    ['::1:ffff:192.88.99.1', NO_EMBEDDED_IPV4],
    ['1::ffff:192.88.99.1', NO_EMBEDDED_IPV4],
    ['0:0:1::ffff:192.88.99.1', NO_EMBEDDED_IPV4],
    ['0:0:0:1:0:ffff:192.88.99.1', NO_EMBEDDED_IPV4],
  ])('IPv4-mapped %s', (text, expected) => {
    expect(mappedIPv4(words(text))).toBe(expected)
  })

  it.each([
    ['2002:c000:204::', 0xc0000204], // 6to4
    ['2002:ffff:ffff:ffff:ffff:ffff:ffff:ffff', 0xffffffff], // what follows plays no part
    ['2002::', 0],
    ['2001:ffff:ffff:ffff:ffff:ffff:ffff:ffff', NO_EMBEDDED_IPV4],
    ['2003::', NO_EMBEDDED_IPV4],
    // RFC 4380 section 4: server 65.54.227.120, client 192.0.2.45
    ['2001:0:4136:e378:8000:63bf:3fff:fdd2', 0xc000022d],
    ['2001::', 0xffffffff],
    ['2001::ffff:ffff', 0],
    ['2001:1::1', NO_EMBEDDED_IPV4],
    ['2000:ffff::', NO_EMBEDDED_IPV4],
    ['64:ff9b::192.0.2.33', 0xc0000221], // NAT64, RFC 6052 section 2.4
    ['64:ff9b::', 0],
    ['64:ff9b:0:0:0:1:c000:221', NO_EMBEDDED_IPV4], // beyond the /96
    ['64:ff9b:0:1::c000:221', NO_EMBEDDED_IPV4],
    ['64:ff9b:1::c000:221', NO_EMBEDDED_IPV4], // RFC 8215 is for local use
    ['64:ff9a::192.0.2.33', NO_EMBEDDED_IPV4],
    ['fe80::5efe:192.0.2.33', NO_EMBEDDED_IPV4], // ISATAP
    ['::ffff:192.0.2.33', NO_EMBEDDED_IPV4],
  ])('translated %s', (text, expected) => {
    expect(translatedIPv4(words(text))).toBe(expected)
  })

  it('is judged and looked up as itself, once', () => {
    const inside = new Address()
    const outside = new Address()
    const octets = fc.tuple(fc.nat(255), fc.nat(255), fc.nat(255), fc.nat(255))
    fc.assert(
      fc.property(octets, fc.nat(0xffff), (bytes, any) => {
        const ipv4 = bytes.join('.')
        inside.parse(ipv4)
        for (const text of [
          `2002:${hex(bytes)}::${any.toString(16)}`,
          `2001:0:${any.toString(16)}::${hex(bytes.map((octet) => 255 - octet))}`,
          `64:ff9b::${ipv4}`,
        ]) {
          expect(outside.parse(text)).toBe(true)
          expect([outside.lookupText, outside.family, outside.special]).toEqual([ipv4, 4, inside.special])
          expect(outside.text).toContain(':')
        }
        expect(outside.parse(`::ffff:${ipv4}`)).toBe(true)
        expect([outside.text, outside.special]).toEqual([ipv4, inside.special])
      }),
    )
  })
})

describe('isZoneId', () => {
  it.each(['0', 'eth0', '25eth0', 'br_lan.10', 'en-0~', 'x'.repeat(32)])('accepts %s', (text) => {
    expect(isZoneId(text)).toBe(true)
  })

  it.each([
    '', // "%" with nothing behind it
    'x'.repeat(33),
    'eth 0',
    'eth0\n', // "$" would let it pass under the m flag
    'eth0\0',
    'a%b',
    'a/64',
    'a]',
    'a:b',
    '\u00e9th0',
  ])('refuses %j', (text) => {
    expect(isZoneId(text)).toBe(false)
  })
})

describe('a zone', () => {
  const address = new Address()

  // RFC 4007 section 11: only where the address is not of global scope.
  it.each([
    'fe80::1', // link-local, fe80::/10
    'febf:ffff:ffff:ffff:ffff:ffff:ffff:ffff', // its last address
    'FE80::1',
    'fe80::1.2.3.4', // a dotted tail ends at "%"
    'ff01::1', // interface-local multicast
    'ff02::1',
    'ff05::2',
    'ff08::1',
    'ff32::1', // flags do not matter, only the scope
    'ff0f::1', // reserved scope, not the global one
  ])('is legal behind %s, and dropped', (text) => {
    expect(address.parse(text)).toBe(true)
    const canonical = address.text
    expect(address.parse(`${text}%eth0`)).toBe(true)
    expect(address.text).toBe(canonical)
    expect(address.parse(`${text}%`)).toBe(false)
    expect(address.parse(`${text}%a%b`)).toBe(false)
    expect(address.parse(`${text}%${'x'.repeat(33)}`)).toBe(false)
  })

  it.each([
    '2001:4860:4860::8888', // global
    'fe7f:ffff::1', // just below link-local
    'fec0::1', // just above
    'fd00::1', // unique local addresses are of global scope
    'ff0e::1', // global multicast
    'ff1e::1',
    'fe00::1',
    '::1',
    '::',
    '::ffff:169.254.0.1', // IPv4-mapped is IPv4
    '169.254.0.1', // IPv4 has no zones
    '2002:a9fe:1::1', // link-local IPv4 inside 6to4
  ])('is refused behind %s', (text) => {
    expect(address.parse(text)).toBe(true)
    expect(address.parse(`${text}%eth0`)).toBe(false)
  })
})
