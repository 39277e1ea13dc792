import { describe, expect, it } from 'vitest'
import { Address } from '../../src/address/address.ts'
import { isZoneId } from '../../src/address/zone.ts'

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
