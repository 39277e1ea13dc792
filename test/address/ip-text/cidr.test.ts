import fc from 'fast-check'
import ipaddr from 'ipaddr.js'
import { describe, expect, it } from 'vitest'
import { formatCidr, parseCidr } from '../../../src/address/ip-text.ts'
import { tableOf } from '../../table-of.ts'
import { ipv4Text, ipv6Spelling } from '../arbitraries.ts'

describe('parseCidr', () => {
  it.each([
    ['192.0.2.0/24', 4, [0xc0000200], 24],
    ['0.0.0.0/0', 4, [0], 0],
    ['255.255.255.255/32', 4, [0xffffffff], 32],
    ['128.0.0.0/1', 4, [0x80000000], 1],
    ['2001:db8::/32', 6, [0x20010db8, 0, 0, 0], 32],
    ['::/0', 6, [0, 0, 0, 0], 0],
    ['::1/128', 6, [0, 0, 0, 1], 128],
    ['2001:DB8:0:0::/64', 6, [0x20010db8, 0, 0, 0], 64], // any spelling of the address
    ['::ffff:192.0.2.0/120', 6, [0, 0, 0xffff, 0xc0000200], 120], // an IPv4-mapped network stays IPv6; the caller decides
    ['8000::/1', 6, [0x80000000, 0, 0, 0], 1],
    ['1:2:3:4:5:6:7:8/127', 6, [0x10002, 0x30004, 0x50006, 0x70008], 127],
  ])('reads %s', (text, family, words, prefixLength) => {
    expect(parseCidr(text)).toEqual({ family, words: Uint32Array.from(words), prefixLength })
  })

  it.each([...tableOf(import.meta.dirname, 'not-cidr.tsv'), ['192.0.2.0/24\n', 'not a network']])(
    'refuses %j',
    (text, message) => {
      expect(() => parseCidr(text)).toThrow(TypeError)
      expect(() => parseCidr(text)).toThrow(message)
    },
  )

  it.each([undefined, null, 24, ['192.0.2.0/24']])('refuses %j, which is not a string', (value) => {
    const parse = () => Reflect.apply(parseCidr, undefined, [value])
    expect(parse).toThrow(TypeError)
    expect(parse).toThrow(`a network must be a string such as 192.0.2.0/24, not ${typeof value}`)
  })

  it('accepts an address with a prefix if no bits are set after it, according to ipaddr.js', () => {
    fc.assert(
      fc.property(fc.oneof(ipv4Text, fc.ipV6()), fc.nat(128), (address, prefixLength) => {
        fc.pre(!address.includes(':') || !address.includes('.')) // ipaddr.js misreads dotted tails
        const bits = address.includes(':') ? 128 : 32
        fc.pre(prefixLength <= bits)
        const text = `${address}/${prefixLength}`
        const given = ipaddr.parse(address)
        const first = (bits === 32 ? ipaddr.IPv4 : ipaddr.IPv6).networkAddressFromCIDR(text)
        if (given.toString() === first.toString()) {
          const network = parseCidr(text)
          expect(Buffer.from(Uint32Array.from(network.words).buffer).swap32()).toEqual(
            Buffer.from(first.toByteArray()),
          )
          expect(network.prefixLength).toBe(prefixLength)
        } else {
          expect(() => parseCidr(text)).toThrow('bits set after its prefix')
        }
      }),
      { numRuns: 1000 },
    )
  })
})

describe('formatCidr', () => {
  it.each([
    [4, [0xc0000263], 24, '192.0.2.0/24'],
    [4, [0xffffffff], 0, '0.0.0.0/0'],
    [4, [0xffffffff], 1, '128.0.0.0/1'],
    [4, [0xffffffff], 31, '255.255.255.254/31'],
    [4, [0x01020304], 32, '1.2.3.4/32'],
    [6, [0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff], 0, '::/0'],
    [6, [0x20010db8, 1, 2, 3], 32, '2001:db8::/32'],
    [6, [0x20010db8, 1, 2, 3], 33, '2001:db8::/33'],
    [6, [0x20010db8, 1, 2, 3], 64, '2001:db8:0:1::/64'],
    [6, [0, 0, 0xffff, 0xc0000201], 120, '::ffff:c000:200/120'], // always hexadecimal
    [6, [0, 0, 0, 1], 128, '::1/128'],
  ] as const)('IPv%i %j / %i is %s', (family, words, prefixLength, text) => {
    expect(formatCidr(family, Uint32Array.from(words), prefixLength)).toBe(text)
  })

  it('does not change the address', () => {
    const words = Uint32Array.of(0x20010db8, 1, 2, 3)
    formatCidr(6, words, 32)
    expect([...words]).toEqual([0x20010db8, 1, 2, 3])
  })

  it('formats the network of an address, which parses as that network', () => {
    const block = fc.oneof(
      fc.tuple(fc.constant(4 as const), ipv4Text, fc.nat(32)),
      fc.tuple(fc.constant(6 as const), ipv6Spelling, fc.nat(128)),
    )
    fc.assert(
      fc.property(block, ([family, address, prefixLength]) => {
        const bits = family === 4 ? 32 : 128
        const { words } = parseCidr(`${address}/${bits}`)
        const text = formatCidr(family, words, prefixLength)
        const network = parseCidr(text)
        expect([network.family, network.prefixLength]).toEqual([family, prefixLength])
        const number = (each: Uint32Array): bigint =>
          each.reduce((sum, word) => (sum << 32n) | BigInt(word), 0n)
        const shift = BigInt(bits - prefixLength)
        expect(number(network.words)).toBe((number(words) >> shift) << shift)
        expect(formatCidr(family, network.words, prefixLength)).toBe(text)
      }),
      { numRuns: 1000 },
    )
  })
})
