import { readFileSync } from 'node:fs'
import fc from 'fast-check'
import ipaddr from 'ipaddr.js'
import { describe, expect, it } from 'vitest'
import { Address, translatedIPv4 } from '../../src/address/address.ts'
import {
  IPV4_REGISTRY,
  IPV6_REGISTRY,
  REGISTRY_DATE,
  type RegistryRow,
  type SpecialPurpose,
} from '../../src/address/iana-registries.ts'
import { mappedIPv4 } from '../../src/address/ip-text.ts'
import { specialPurposeOfIPv4, specialPurposeOfIPv6 } from '../../src/address/special-purpose.ts'

/** A network as whole numbers. Uses ipaddr.js, not the arithmetic of the source. */
interface Range {
  readonly network: string
  readonly first: bigint
  readonly last: bigint
  readonly prefixLength: number
  readonly meaning: SpecialPurpose | null
}

function rangeOf([network, meaning]: RegistryRow): Range {
  const [address, prefixLength] = ipaddr.parseCIDR(network)
  const bytes = address.toByteArray()
  const first = BigInt(`0x${Buffer.from(bytes).toString('hex')}`)
  return {
    network,
    first,
    last: first + (1n << BigInt(bytes.length * 8 - prefixLength)) - 1n,
    prefixLength,
    meaning,
  }
}

/** Longest prefix match, slow and simple. */
function meaningOf(ranges: readonly Range[], address: bigint): SpecialPurpose | null {
  const covering = ranges.filter(({ first, last }) => first <= address && address <= last)
  covering.sort((a, b) => b.prefixLength - a.prefixLength)
  return covering[0]?.meaning ?? null
}

function wordsOf(address: bigint): Uint32Array {
  return Uint32Array.from([96n, 64n, 32n, 0n], (shift) => Number((address >> shift) & 0xffffffffn))
}

const ipv4 = IPV4_REGISTRY.map(rangeOf)
const ipv6 = IPV6_REGISTRY.map(rangeOf)
const LAST_IPV4 = 2n ** 32n - 1n
const LAST_IPV6 = 2n ** 128n - 1n

const edges = ({ first, last }: Range, most: bigint): bigint[] =>
  [first - 1n, first, first + 1n, last - 1n, last, last + 1n].filter((each) => each >= 0n && each <= most)

describe('specialPurposeOfIPv4', () => {
  it.each(ipv4)('$network, its edges and neighbours', (range) => {
    expect(specialPurposeOfIPv4(Number(range.first))).toBe(meaningOf(ipv4, range.first))
    for (const address of edges(range, LAST_IPV4)) {
      expect(specialPurposeOfIPv4(Number(address)), address.toString(16)).toBe(meaningOf(ipv4, address))
    }
  })

  it('agrees with a longest prefix match anywhere', () => {
    fc.assert(
      fc.property(fc.bigInt(0n, LAST_IPV4), (address) => {
        expect(specialPurposeOfIPv4(Number(address))).toBe(meaningOf(ipv4, address))
      }),
      { numRuns: 2000 },
    )
  })
})

describe('specialPurposeOfIPv6', () => {
  it.each(ipv6)('$network, its edges and neighbours', (range) => {
    for (const address of edges(range, LAST_IPV6)) {
      expect(specialPurposeOfIPv6(wordsOf(address)), address.toString(16)).toBe(meaningOf(ipv6, address))
    }
  })

  it('agrees with a longest prefix match anywhere, and near every row', () => {
    const near = fc
      .tuple(fc.constantFrom(...ipv6), fc.bigInt(0n, LAST_IPV6), fc.integer({ min: 0, max: 127 }))
      .map(([{ first }, noise, shift]) => first ^ (noise >> BigInt(shift)))
    fc.assert(
      fc.property(fc.oneof(near, fc.bigInt(0n, LAST_IPV6)), (address) => {
        expect(specialPurposeOfIPv6(wordsOf(address))).toBe(meaningOf(ipv6, address))
      }),
      { numRuns: 5000 },
    )
  })

  it('applies to all addresses except IPv4-mapped and translated ones', () => {
    const parsed = new Address()
    for (const range of ipv6) {
      for (const address of edges(range, LAST_IPV6)) {
        const words = wordsOf(address)
        if (mappedIPv4(words) >= 0 || translatedIPv4(words) >= 0) continue
        const groups = address.toString(16).padStart(32, '0').match(/.{4}/g) ?? []
        expect(parsed.parse(groups.join(':'))).toBe(true)
        expect(parsed.special).toBe(meaningOf(ipv6, address))
      }
    }
  })
})

describe('the registry tables', () => {
  const source = readFileSync(new URL('../../src/address/iana-registries.ts', import.meta.url), 'utf8')

  it.each([
    ['IPv4', IPV4_REGISTRY],
    ['IPv6', IPV6_REGISTRY],
  ])('%s: networks in canonical form, each once, with a source', (_, rows) => {
    expect(new Set(rows.map(([network]) => network)).size).toBe(rows.length)
    for (const [network] of rows) {
      const [address, prefixLength] = ipaddr.parseCIDR(network)
      const text = address instanceof ipaddr.IPv6 ? address.toRFC5952String() : address.toString()
      expect(`${text}/${prefixLength}`).toBe(network)
      const { IPv4, IPv6 } = ipaddr
      const first = (network.includes(':') ? IPv6 : IPv4).networkAddressFromCIDR(network)
      expect(first.toByteArray()).toEqual(address.toByteArray())
      const row = source.split('\n').find((line) => line.includes(`['${network}'`))
      expect(row).toMatch(/\], +\/\/ \S.*: RFC \d+/)
    }
    expect(REGISTRY_DATE).toMatch(/^20\d\d-\d\d-\d\d$/)
  })

  // Written from the RFCs, not from the tables of this repository.
  it.each([
    ['0.0.0.1', 'reserved'],
    ['9.255.255.255', null],
    ['100.63.255.255', null],
    ['100.127.255.255', 'shared'],
    ['126.255.255.255', null],
    ['127.0.0.0', 'loopback'],
    ['127.255.255.255', 'loopback'],
    ['128.0.0.0', null],
    ['169.253.255.255', null],
    ['169.254.0.0', 'link-local'],
    ['169.255.0.0', null],
    ['172.16.0.0', 'private'],
    ['172.31.255.255', 'private'],
    ['172.32.0.0', null],
    ['192.0.0.0', 'reserved'],
    ['192.0.0.10', null],
    ['192.0.0.11', 'reserved'],
    ['192.0.1.0', null],
    ['192.0.2.0', 'documentation'],
    ['192.0.3.0', null],
    ['192.31.196.1', null],
    ['192.88.99.1', 'reserved'],
    ['192.167.255.255', null],
    ['192.168.0.0', 'private'],
    ['192.169.0.0', null],
    ['198.18.0.0', 'benchmarking'],
    ['198.51.100.255', 'documentation'],
    ['203.0.113.0', 'documentation'],
    ['224.0.0.0', 'multicast'],
    ['239.255.255.255', 'multicast'],
    ['240.0.0.0', 'reserved'],
    ['255.255.255.255', 'reserved'],
    ['::1', 'loopback'],
    ['::2', 'reserved'],
    ['100::', 'reserved'],
    ['1fff:ffff::', 'reserved'],
    ['2001:1::', 'reserved'],
    ['2001:1::4', 'reserved'],
    ['2001:2::', 'benchmarking'],
    ['2001:2:1::', 'reserved'], // outside the /48
    ['2001:1ff:ffff::', 'reserved'],
    ['2001:200::', null],
    ['2001:db7:ffff::', null],
    ['2001:db8::', 'documentation'],
    ['2001:db9::', null],
    ['3ffe:ffff::', null],
    ['3fff::', 'documentation'],
    ['3fff:fff:ffff::', 'documentation'],
    ['3fff:1000::', null],
    ['3fff:ffff:ffff::', null],
    ['4000::', 'reserved'],
    ['5f00::', 'reserved'],
    ['fbff::', 'reserved'],
    ['fc00::', 'private'],
    ['fdff:ffff::', 'private'],
    ['fe00::', 'reserved'],
    ['febf:ffff::', 'link-local'],
    ['fec0::', 'reserved'], // site-local, deprecated by RFC 3879
    ['ff00::', 'multicast'],
    ['ffff:ffff::', 'multicast'],
  ] as const)('%s is %s', (text, expected) => {
    const address = new Address()
    expect(address.parse(text)).toBe(true)
    expect(address.special).toBe(expected)
  })
})
