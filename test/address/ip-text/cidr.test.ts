import fc from 'fast-check'
import ipaddr from 'ipaddr.js'
import { describe, expect, it } from 'vitest'
import { formatCidr, parseCidr } from '../../../src/address/ip-text.ts'
import { tableOf } from '../../table-of.ts'
import { ipv4Text, ipv6Spelling } from '../arbitraries.ts'

describe('parseCidr', () => {
  it.each([
    ['2001:DB8:0:0::/64', [0x20010db8, 0, 0, 0], 64], // any spelling of the address
    ['::ffff:192.0.2.0/120', [0, 0, 0xffff, 0xc0000200], 120], // an IPv4-mapped network stays IPv6; the caller decides
  ])('reads %s', (text, words, prefixLength) => {
    expect(parseCidr(text)).toEqual({ family: 6, words: Uint32Array.from(words), prefixLength })
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
          expect(network.family).toBe(bits === 32 ? 4 : 6)
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
  it('is hexadecimal for IPv4-mapped networks, and does not change the address', () => {
    const words = Uint32Array.of(0, 0, 0xffff, 0xc0000201)
    expect(formatCidr(6, words, 120)).toBe('::ffff:c000:200/120')
    expect([...words]).toEqual([0, 0, 0xffff, 0xc0000201])
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
