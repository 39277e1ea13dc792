import { describe, expect, it } from 'vitest'
import { treePathOf } from '../../../src/mmdb/writer/network-trie.ts'

describe('treePathOf', () => {
  it.each<[network: string, six: [number[], number], four: [number[], number] | null]>([
    ['1.2.3.0/24', [[0, 0, 0, 0x01020300], 120], [[0x01020300], 24]],
    ['0.0.0.0/0', [[0, 0, 0, 0], 96], [[0], 0]],
    ['::ffff:1.2.3.0/120', [[0, 0, 0, 0x01020300], 120], [[0x01020300], 24]],
    // All mapped addresses are all of IPv4; a larger network is IPv6.
    ['::ffff:0:0/96', [[0, 0, 0, 0], 96], [[0], 0]],
    ['::fffe:0:0/95', [[0, 0, 0xfffe, 0], 95], null],
    ['::/0', [[0, 0, 0, 0], 0], null],
    ['1::ffff:0:0/96', [[0x10000, 0, 0xffff, 0], 96], null],
    ['0:0:1::ffff:0:0/96', [[0, 0x10000, 0xffff, 0], 96], null],
    ['::1:ffff:0:0/96', [[0, 0, 0x1ffff, 0], 96], null],
    ['2001:db8::/32', [[0x20010db8, 0, 0, 0], 32], null],
  ])('%s', (network, six, four) => {
    const place = (ipVersion: 4 | 6): [number[], number] => {
      const { words, prefixLength } = treePathOf(network, ipVersion)
      return [[...words], prefixLength]
    }
    expect(place(6)).toEqual(six)
    if (four !== null) expect(place(4)).toEqual(four)
    else {
      expect(() => place(4)).toThrow(
        new TypeError(`${network} is an IPv6 network, but the database has ipVersion 4`),
      )
    }
  })
})
