import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import ipaddr from 'ipaddr.js'
import { describe, expect, it } from 'vitest'
import { AllocatedSpace, LeftOut, type Placeholder } from '../../../scripts/build-data/left-out.ts'
import { parseNetwork } from '../../../src/address/ip-text.ts'

const INPUT = join(import.meta.dirname, '../../../scripts/build-data/input')
const csv = readFileSync(join(INPUT, 'ipv6-unicast-address-assignments.csv'), 'utf8')
const { records }: { records: readonly Placeholder[] } = JSON.parse(
  readFileSync(join(INPUT, 'placeholders.json'), 'utf8'),
)
const allocated = new AllocatedSpace(csv)

describe('the IPv6 space that IANA has allocated', () => {
  it.each([
    ['::/0', 'some'],
    ['2600::/11', 'some'],
    ['2e00::/7', 'none'],
    ['2003::/18', 'all'],
    ['2003:4000::/18', 'none'],
  ])('has of %s: %s', (network, part) => {
    const { words, prefixLength } = parseNetwork(network)
    expect(allocated.partOf(words[0] ?? 0, prefixLength)).toBe(part)
  })

  it('agrees with ipaddr.js about every prefix', () => {
    const prefixes = csv
      .split('\n')
      .filter((row) => /,(AFRINIC|APNIC|ARIN|LACNIC|RIPE NCC),.*,ALLOCATED$/.test(row))
      .map((row) => ipaddr.IPv6.parseCIDR(row.slice(0, row.indexOf(','))))
    expect(prefixes).toHaveLength(34)
    const first = fc.oneof(
      fc.integer({ min: 0x2000, max: 0x3fff }).map((word) => [word, 0] as const),
      fc.integer({ min: 0, max: 0xffff }).map((word) => [0x2001, word] as const),
      fc.constantFrom(0x2003, 0x2610, 0x2620).chain((word) => fc.tuple(fc.constant(word), fc.nat(0xffff))),
    )
    fc.assert(
      fc.property(first, ([high, low]) => {
        const address = new ipaddr.IPv6([high, low, 0, 0, 0, 0, 0, 0])
        const isAllocated = prefixes.some((prefix) => address.match(prefix))
        expect(allocated.partOf(((high << 16) | low) >>> 0, 32)).toBe(isAllocated ? 'all' : 'none')
      }),
    )
  })

  it.each([
    ['no date', 'Prefix,Designation,Date,Status\n2400::/12,APNIC,2006-10-03,ALLOCATED\n', 'no line'],
    [
      'other columns',
      '# Last updated 2025-10-10\nPrefix,Designation\n',
      'has the columns Prefix,Designation',
    ],
    ['an IPv4 prefix', csv.replace('2400::/12', '1.0.0.0/8'), '1.0.0.0/8 is not an IPv6 prefix'],
    ['a prefix that is too long', csv.replace('2400::/12', '2400::/33'), '2400::/33 is not an IPv6 prefix'],
    ['another status', csv.replace('ALLOCATED', 'LEGACY'), '2001::/23 has the status LEGACY'],
    ['a prefix with other bits', csv.replace('2400::/12', '2401::/12'), 'has bits set after its prefix'],
  ])('is not read from a table with %s', (_, text, message) => {
    expect(() => new AllocatedSpace(text)).toThrow(message)
  })
})

describe('what is left out', () => {
  const leftOut = new LeftOut(allocated, records)

  it('is unallocated space, in whole networks of the source', () => {
    expect(leftOut.isUnallocated(0x21000000, 8, true)).toBe(true)
    expect(leftOut.isUnallocated(0x24000000, 12, true)).toBe(false)
    expect(leftOut.isUnallocated(0x20000000, 3, false)).toBe(false)
    expect(() => leftOut.isUnallocated(0x26000000, 11, true)).toThrow(
      "IANA has allocated only a part of the source's network 26000000, /11",
    )
  })

  it.each([
    ['a placeholder', {}, 1],
    ['another city', { city: 'Murten' }, null],
    ['another region', { region: 'Bern' }, null],
    ['another country', { country: 'DE' }, null],
    ['other coordinates', { latitude: Math.fround(46.928) }, null],
  ])('is %s of the source', (_, change, reason) => {
    const murten = {
      country: 'CH',
      region: 'Fribourg',
      city: 'Murten/Morat',
      latitude: Math.fround(46.9219),
      longitude: Math.fround(7.16595),
    }
    expect(leftOut.placeholderReason({ ...murten, ...change })).toBe(reason)
  })
})
