import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { Address, translatedIPv4 } from '../../src/address/address.ts'
import { mappedIPv4, NOT_IPV4, NOT_IPV6, parseIPv6 } from '../../src/address/ip-text.ts'

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
    ['::fffe:192.88.99.1', NOT_IPV4],
    ['::192.88.99.1', NOT_IPV4], // IPv4-compatible, deprecated
    ['::ffff:0:192.88.99.1', NOT_IPV4], // IPv4-translated (RFC 2765), 16 bits further left
    ['::1:ffff:192.88.99.1', NOT_IPV4],
    ['1::ffff:192.88.99.1', NOT_IPV4],
    ['0:0:1::ffff:192.88.99.1', NOT_IPV4],
    ['0:0:0:1:0:ffff:192.88.99.1', NOT_IPV4],
  ])('IPv4-mapped %s', (text, expected) => {
    expect(mappedIPv4(words(text))).toBe(expected)
  })

  it.each([
    ['2002:c000:204::', 0xc0000204], // 6to4
    ['2002:ffff:ffff:ffff:ffff:ffff:ffff:ffff', 0xffffffff], // the other bits are ignored
    ['2002::', 0],
    ['2001:ffff:ffff:ffff:ffff:ffff:ffff:ffff', NOT_IPV4],
    ['2003::', NOT_IPV4],
    // RFC 4380 section 4: server 65.54.227.120, client 192.0.2.45
    ['2001:0:4136:e378:8000:63bf:3fff:fdd2', 0xc000022d],
    ['2001::', 0xffffffff],
    ['2001::ffff:ffff', 0],
    ['2001:1::1', NOT_IPV4],
    ['2000:ffff::', NOT_IPV4],
    ['64:ff9b::192.0.2.33', 0xc0000221], // NAT64, RFC 6052 section 2.4
    ['64:ff9b::', 0],
    ['64:ff9b:0:0:0:1:c000:221', NOT_IPV4], // outside the /96
    ['64:ff9b:0:1::c000:221', NOT_IPV4],
    ['64:ff9b:1::c000:221', NOT_IPV4], // RFC 8215 is for local use
    ['64:ff9a::192.0.2.33', NOT_IPV4],
    ['fe80::5efe:192.0.2.33', NOT_IPV4], // ISATAP
    ['::ffff:192.0.2.33', NOT_IPV4],
  ])('translated %s', (text, expected) => {
    expect(translatedIPv4(words(text))).toBe(expected)
  })

  it('is checked and looked up like the same IPv4 address', () => {
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

describe('a zone id', () => {
  const isZoneId = (text: string): boolean => new Address().parse(`fe80::1%${text}`)

  it.each(['0', 'eth0', '25eth0', 'br_lan.10', 'en-0~', 'x'.repeat(32)])('accepts %s', (text) => {
    expect(isZoneId(text)).toBe(true)
  })

  it.each([
    '', // "%" without a zone
    'x'.repeat(33),
    'eth 0',
    'eth0\n', // "$" would match it with the m flag
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

  // RFC 4007 section 11: only for addresses of non-global scope.
  it.each([
    'fe80::1', // link-local, fe80::/10
    'febf:ffff:ffff:ffff:ffff:ffff:ffff:ffff', // its last address
    'FE80::1',
    'fe80::1.2.3.4', // a dotted tail ends at "%"
    'ff01::1', // interface-local multicast
    'ff05::2',
    'ff08::1',
    'ff32::1', // flags do not matter, only the scope
    'ff0f::1', // reserved scope, not the global one
  ])('is allowed after %s, and dropped', (text) => {
    expect(address.parse(text)).toBe(true)
    const canonical = address.text
    expect(address.parse(`${text}%eth0`)).toBe(true)
    expect(address.text).toBe(canonical)
  })

  it.each([
    '2001:4860:4860::8888', // global
    'fe7f:ffff::1', // just below link-local
    'fec0::1', // just above
    'fd00::1', // unique local addresses have global scope
    'ff1e::1',
    'fe00::1',
    '::1',
    '::ffff:169.254.0.1', // IPv4-mapped is IPv4
    '169.254.0.1', // IPv4 has no zones
    '2002:a9fe:1::1', // link-local IPv4 inside 6to4
  ])('is refused after %s', (text) => {
    expect(address.parse(text)).toBe(true)
    expect(address.parse(`${text}%eth0`)).toBe(false)
  })
})
