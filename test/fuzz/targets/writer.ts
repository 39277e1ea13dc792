import assert from 'node:assert/strict'
import fc from 'fast-check'
import ipaddr from 'ipaddr.js'
import { Reader, type Response } from 'mmdb-lib'
import { Database } from '../../../src/mmdb/database.ts'
import { PrefixIndex } from '../../../src/mmdb/search-tree.ts'
import { verify } from '../../../src/mmdb/verify.ts'
import { MmdbWriter, type WritableValue } from '../../../src/writer.ts'
import { ask, offsetAt } from '../../mmdb/questions.ts'
import { plainValue } from '../plain-value.ts'
import type { Target } from '../target.ts'

interface Networks {
  readonly ipVersion: 4 | 6
  readonly recordSize: 24 | 28 | 32
  readonly aliases: boolean
  /** In order of insertion; a network without a value is removed. */
  readonly networks: readonly (readonly [network: string, value?: WritableValue])[]
  readonly asked: readonly string[]
}

const key = fc.string({ maxLength: 6 }).filter((text) => text !== '__proto__')
const { value } = fc.letrec<{ value: WritableValue }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 4, withCrossShrink: true },
    {
      weight: 6,
      arbitrary: fc.oneof<fc.Arbitrary<WritableValue>[]>(
        fc.string({ unit: 'grapheme', maxLength: 40 }),
        fc.nat(300).map((length) => 'x'.repeat(length)),
        fc.integer(),
        fc.nat(),
        fc.integer({ min: 2 ** 32, max: Number.MAX_SAFE_INTEGER }),
        fc.double({ noNaN: true, noDefaultInfinity: true }).filter((each) => !Number.isInteger(each)),
        fc.bigInt({ min: 0n, max: 2n ** 128n - 1n }),
        fc.boolean(),
        fc.uint8Array({ maxLength: 40 }),
      ),
    },
    { weight: 1, arbitrary: fc.array(tie('value'), { maxLength: 4 }) },
    { weight: 2, arbitrary: fc.dictionary(key, tie('value'), { maxKeys: 4, noNullPrototype: true }) },
  ),
}))

/** Few leading bits, so that networks often overlap; not in networks that are looked up as IPv4 inside IPv6. */
const ipv4 = fc
  .tuple(fc.nat(7), fc.nat(0xffffff), fc.integer({ min: 0, max: 32 }))
  .map(([first, rest, length]) =>
    networkOf(`${80 + first}.${rest >> 16}.${(rest >> 8) & 255}.${rest & 255}`, length),
  )
const ipv6 = fc
  .tuple(fc.nat(3), fc.nat(0xffff), fc.nat(0xffff), fc.integer({ min: 14, max: 128 }))
  .map(([first, second, last, length]) =>
    networkOf(`2a0${first}:${second.toString(16)}::${last.toString(16)}`, length),
  )

function networkOf(ip: string, length: number): string {
  const { IPv4, IPv6 } = ipaddr
  const network = (ip.includes(':') ? IPv6 : IPv4).networkAddressFromCIDR(`${ip}/${length}`)
  return `${network}/${length}`
}

const inputs: fc.Arbitrary<Networks> = fc
  .record({
    ipVersion: fc.constantFrom(4, 6),
    recordSize: fc.constantFrom(24, 28, 32),
    aliases: fc.boolean(),
    networks: fc.array(
      fc.oneof(
        { weight: 6, arbitrary: fc.tuple(fc.oneof(ipv4, ipv6), value) },
        { weight: 1, arbitrary: fc.tuple(fc.oneof(ipv4, ipv6)) },
      ),
      { maxLength: 20 },
    ),
    asked: fc.array(fc.oneof(ipv4, ipv6), { maxLength: 8 }),
  })
  .map(({ networks, asked, ...options }) => {
    const fits = (network: string): boolean => options.ipVersion === 6 || !network.includes(':')
    return {
      ...options,
      networks: networks.filter(([network]) => fits(network)),
      asked: asked.filter(fits).map((network) => network.split('/')[0] ?? ''),
    }
  })

/** Databases of networks that overlap, with values of every type. */
export const writtenDatabases: fc.Arbitrary<Uint8Array> = inputs.map(({ networks, asked: _, ...options }) =>
  written(networks, options),
)

export const writer: Target<Networks> = {
  name: 'writer',
  inputs,
  shortRuns: 150,
  check({ networks, asked, ...options }) {
    const bytes = written(networks, options)
    assert.ok(Buffer.from(bytes).equals(written(networks, options)), 'the same calls give other bytes')
    const database = new Database(bytes)
    const index = new PrefixIndex(database.tree, (offset) => offset)
    assert.deepEqual(verify(database).faults, [])
    const library = new Reader<Response>(Buffer.from(bytes))
    for (const address of [...networks.flatMap(([network]) => around(network)), ...asked]) {
      const parsed = ipaddr.parse(address)
      const last = networks.findLast(([network]) => {
        const [first, length] = ipaddr.parseCIDR(network)
        return first.kind() === parsed.kind() && parsed.match(first, length)
      })
      const expected = last?.[1] === undefined ? null : plainValue(readBack(last[1]))
      assert.deepEqual(plainValue(ask(database, address).record), expected)
      assert.deepEqual(plainValue(library.get(address)), expected, 'mmdb-lib')
      if (parsed.kind() === 'ipv4' && options.ipVersion === 6 && options.aliases)
        assert.deepEqual(plainValue(library.get(`::ffff:${address}`)), expected, 'the alias of IPv4')
      const found = parsed.kind() === 'ipv4' ? index.findIPv4(wordOf(parsed.toByteArray())) : null
      if (found !== null) assert.equal(found, offsetAt(database, wordOf(parsed.toByteArray())))
    }
  },
}

/** The first and the last address of a network, and their neighbours of the same family. */
function around(network: string): string[] {
  const [address, length] = ipaddr.parseCIDR(network)
  const bytes = address.toByteArray()
  const size = BigInt(8 * bytes.length)
  const first = BigInt(`0x${Buffer.from(bytes).toString('hex')}`)
  const last = first | ((1n << (size - BigInt(length))) - 1n)
  return [first - 1n, first, last, last + 1n]
    .filter((each) => each >= 0n && each >> size === 0n)
    .map((each) => each.toString(16).padStart(2 * bytes.length, '0'))
    .map((hex) => ipaddr.fromByteArray([...Buffer.from(hex, 'hex')]).toString())
}

function written(networks: Networks['networks'], options: Omit<Networks, 'networks' | 'asked'>): Uint8Array {
  const made = new MmdbWriter({ databaseType: 'Test', ...options })
  for (const [network, value] of networks) {
    if (value === undefined) made.remove(network)
    else made.insert(network, value)
  }
  return made.toBytes()
}

/** Integers that need 64 bits are read as bigint. */
function readBack(value: unknown): unknown {
  if (typeof value === 'number' && Number.isInteger(value) && value > 0xffff_ffff) return BigInt(value)
  if (Array.isArray(value)) return value.map(readBack)
  if (typeof value !== 'object' || value === null || value instanceof Uint8Array) return value
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, readBack(each)]))
}

function wordOf(bytes: readonly number[]): number {
  return Buffer.from(bytes).readUInt32BE(0)
}
