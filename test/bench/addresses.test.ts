import { isIPv4, isIPv6 } from 'node:net'
import { Reader } from 'mmdb-lib'
import { describe, expect, it } from 'vitest'
import { isReachable, randomIPv4, randomIPv6, seeded, skewed } from '../../scripts/bench/addresses.ts'
import { MmdbWriter, type RecordSize } from '../../src/writer.ts'

describe('randomIPv4', () => {
  const addresses = randomIPv4(5000, seeded(1))

  it('returns distinct, globally reachable addresses', () => {
    expect(new Set(addresses).size).toBe(5000)
    expect(addresses.every((ip) => isIPv4(ip) && isReachable(ip))).toBe(true)
  })

  it('is the same for the same seed', () => {
    expect(randomIPv4(5000, seeded(1))).toEqual(addresses)
    expect(randomIPv4(5000, seeded(2))).not.toEqual(addresses)
  })
})

describe('skewed', () => {
  it('repeats few addresses most of the time', () => {
    const pool = Array.from({ length: 1000 }, (_, index) => String(index))
    const drawn = skewed(pool, 10_000, seeded(1)).map(Number)
    // A random number is below 0.5 in half of the draws, and its cube below an eighth.
    const early = drawn.filter((index) => index < 125).length
    expect(early).toBeGreaterThan(4700)
    expect(early).toBeLessThan(5300)
    expect(Math.max(...drawn)).toBeGreaterThan(900)
  })
})

describe('randomIPv6', () => {
  it.each<RecordSize>([28, 32])('stays in networks below 2000::/3, in records of %i bits', (recordSize) => {
    const writer = new MmdbWriter({ databaseType: 'Test', recordSize })
    writer
      .insert('2a00:1::/32', 'a')
      .insert('2a00:2:3::/48', 'b')
      .insert('2c0f::5/128', 'c')
      .insert('fd00::/8', 'outside')
      .insert('8.8.8.0/24', 'IPv4')
      .insert('2002:808:800::/40', 'as an alias is')
    const bytes = Buffer.from(writer.toBytes())
    const reader = new Reader<never>(bytes)
    const random = seeded(1)
    expect(recordsOf(randomIPv6(bytes, 3, 128, random))).toEqual(['a', 'b', 'c'])
    // Cut to /32, nearly all addresses of one allocation are outside its network.
    const short = randomIPv6(bytes, 3, 32, random)
    expect(short.map((ip) => ip.split(':', 2).join(':')).sort()).toEqual([
      '2a00:1',
      '2a00:2',
      expect.stringMatching(/^2c0f:/),
    ])

    function recordsOf(addresses: readonly string[]): (string | null)[] {
      expect(addresses.every(isIPv6)).toBe(true)
      return addresses.map((ip) => reader.get(ip)).sort()
    }
  })
})
