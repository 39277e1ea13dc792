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
import { lengthOfKind } from '../../src/address/position.ts'
import { specialPurposeOfIPv4, specialPurposeOfIPv6 } from '../../src/address/special-purpose.ts'
import { tableOf } from '../table-of.ts'

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

it('the widest network of one kind around an address has no address of another kind', () => {
  const translated = ['::ffff:0:0/96', '64:ff9b::/96', '2001::/32', '2002::/16'].map((each) =>
    rangeOf([each, null]),
  )
  const all = [
    ...ipv4.flatMap((range) => edges(range, LAST_IPV4)),
    ...[...ipv6, ...translated]
      .flatMap((range) => edges(range, LAST_IPV6))
      .filter((each) => each > LAST_IPV4),
  ].map((address) => {
    const inside = mappedIPv4(wordsOf(address)) >= 0 || translatedIPv4(wordsOf(address)) >= 0
    const kind = inside ? 'inside' : meaningOf(address <= LAST_IPV4 ? ipv4 : ipv6, address)
    return { address, kind, least: address <= LAST_IPV4 ? 96 : 0 }
  })
  for (const { address, kind, least } of all) {
    const length = lengthOfKind(wordsOf(address))
    const kindsWithin = (bits: number) =>
      new Set(
        all
          .filter((each) => each.address >> BigInt(128 - bits) === address >> BigInt(128 - bits))
          .map((each) => each.kind),
      )
    expect(kindsWithin(length), address.toString(16)).toEqual(new Set([kind]))
    expect(length).toBeGreaterThanOrEqual(least)
    if (length > least) expect(kindsWithin(length - 1).size, address.toString(16)).toBeGreaterThan(1)
  }
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
  it.each(tableOf(import.meta.dirname, 'special-purpose.tsv'))('%s is %s', (text, expected) => {
    const address = new Address()
    expect(address.parse(text)).toBe(true)
    expect(address.special ?? '-').toBe(expected)
  })
})
