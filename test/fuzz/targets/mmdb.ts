import assert from 'node:assert/strict'
import fc from 'fast-check'
import ipaddr from 'ipaddr.js'
import { Reader, type Response } from 'mmdb-lib'
import { parseAddress } from '../../../src/address/address.ts'
import { InvalidDatabaseError, MalformedAddressError, UnresolvableAddressError } from '../../../src/errors.ts'
import { isLookupFailure, type LocationRecord, type LookupResult, Resolver } from '../../../src/index.ts'
import { Database } from '../../../src/mmdb/database.ts'
import { countNetworks } from '../../../src/mmdb/networks.ts'
import { PrefixIndex } from '../../../src/mmdb/search-tree.ts'
import { verify } from '../../../src/mmdb/verify.ts'
import { ipv4Text } from '../../address/arbitraries.ts'
import { ordeal } from '../../mmdb/hostile/ordeal.ts'
import { offsetAt } from '../../mmdb/questions.ts'
import { mutatedBytes } from '../mutation.ts'
import { plainValue } from '../plain-value.ts'
import { sampleDatabases } from '../sample-databases.ts'
import type { Target } from '../target.ts'

interface Question {
  readonly bytes: Uint8Array
  readonly addresses: readonly string[]
}

const ADDRESSES = [
  ...'1.2.3.4 2.125.160.216 80.1.2.3 89.160.20.112 255.255.255.255 2001:218::1 2a02:d300::'.split(' '),
  ...'2001:4860::1 :: 2002:101:101:: ::ffff:80.0.0.1 ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff'.split(' '),
]
const address = fc.oneof(
  { weight: 4, arbitrary: fc.constantFrom(...ADDRESSES) },
  ipv4Text,
  fc.ipV6(),
  fc.constantFrom('', 'x', '1.2.3'),
)

const inputs: fc.Arbitrary<Question> = fc.record({
  bytes: mutatedBytes(sampleDatabases, 6),
  addresses: fc.array(address, { minLength: 1, maxLength: 6 }),
})

const AT = Date.UTC(2026, 6, 1)

export const mmdb: Target<Question> = {
  name: 'mmdb',
  inputs,
  shortRuns: 2000,
  check({ bytes, addresses }) {
    const before = Buffer.from(bytes)
    ordeal(bytes)
    const database = orInvalid(() => new Database(bytes))
    const resolver = orInvalid(() => Resolver.openSync(bytes))
    if (database === null) {
      assert.equal(resolver, null)
      return
    }
    orInvalid(() => countNetworks(database))
    if (resolver === null) {
      assert.ok(verify(database).faultCount > 0, 'a valid database cannot be opened')
      return
    }
    const [verification] = resolver.verify()
    const isSound = verification?.faultCount === 0
    const many = resolver.lookupMany(addresses, { at: AT })
    assert.equal(many.length, addresses.length)
    for (const [index, ip] of addresses.entries()) {
      const single: LocationRecord | Failure = outcomeOf(
        (): LocationRecord => resolver.lookup(ip, { at: AT }),
      )
      const result: LookupResult | undefined = many[index]
      assert.ok(result !== undefined)
      if (isLookupFailure(result)) {
        assert.ok(single instanceof Error)
        assert.equal(result.error.code, single.code)
      } else {
        assert.deepEqual(single, result)
      }
      checkWhole(resolver, database, bytes, ip, isSound)
      if (isSound && single instanceof InvalidDatabaseError) {
        assert.match(single.message, /it has no locations \(type/, 'a valid database has a fault')
      }
    }
    assert.ok(before.equals(bytes), 'the bytes changed')
  },
}

type Failure = Error & (MalformedAddressError | UnresolvableAddressError | InvalidDatabaseError)

/** Errors of any other class are findings. */
function outcomeOf<Result>(ask: () => Result): Result | Failure {
  try {
    return ask()
  } catch (error) {
    if (
      error instanceof MalformedAddressError ||
      error instanceof UnresolvableAddressError ||
      error instanceof InvalidDatabaseError
    ) {
      assert.ok(error.message.length <= 2000, `a message of ${error.message.length} characters`)
      return error
    }
    throw error
  }
}

/** What a call returns; `null` if it throws an InvalidDatabaseError. */
export function orInvalid<Result>(open: () => Result): Result | null {
  const outcome = outcomeOf(open)
  if (!(outcome instanceof Error)) return outcome
  assert.ok(outcome instanceof InvalidDatabaseError, String(outcome))
  return null
}

/** Compares the whole record and the network with SearchTree and mmdb-lib. */
function checkWhole(
  resolver: Resolver,
  database: Database,
  bytes: Uint8Array,
  ip: string,
  isSound: boolean,
): void {
  const raw = outcomeOf(() => resolver.raw(ip))
  const network = outcomeOf(() => resolver.network(ip))
  if (isSound) assert.ok(!(raw instanceof InvalidDatabaseError || network instanceof InvalidDatabaseError))
  if (raw instanceof MalformedAddressError) {
    assert.ok(network instanceof MalformedAddressError)
    return
  }
  const lookup = lookupOf(ip)
  const [value, prefix] = [
    ipaddr.process(lookup),
    typeof network === 'string' ? ipaddr.parseCIDR(network) : null,
  ]
  const isIPv4 = value.kind() === 'ipv4'
  if (prefix !== null && prefix[0].kind() === value.kind())
    assert.ok(value.match(prefix), 'the address is not in its network')
  const { tree, metadata } = database
  const index = new PrefixIndex(tree, (offset) => offset)
  const words = Uint32Array.from(wordsOf(value.toByteArray()))
  const [ipv4 = 0] = words
  const walked = outcomeOf(() => offsetAt(database, isIPv4 ? ipv4 : words))
  const quick = outcomeOf(() => (isIPv4 ? index.findIPv4(ipv4) : index.findIPv6(words)))
  if (walked instanceof Error)
    assert.ok(quick instanceof Error, 'the index finds a record that the walk does not')
  else assert.equal(quick, walked)
  if (raw instanceof Error || (!isIPv4 && metadata.ipVersion === 4)) return
  assert.deepEqual(plainValue(raw), plainValue(libraryRecord(bytes, lookup, raw)))
}

/** The IPv4 address inside, if that is looked up. */
function lookupOf(ip: string): string {
  try {
    return parseAddress(ip).lookup
  } catch (error) {
    if (!(error instanceof UnresolvableAddressError)) throw error
    const inside = /^2002:|^2001:0?:|^64:ff9b::/.test(error.address ?? '') ? '' : (error.address ?? '')
    return inside === '' ? '0.0.0.0' : inside
  }
}

function wordsOf(bytes: readonly number[]): number[] {
  const buffer = Buffer.from(bytes)
  return Array.from({ length: bytes.length / 4 }, (_, index) => buffer.readUInt32BE(index * 4))
}

/** The result of mmdb-lib; `otherwise` if it refuses the file. It has no limits, so only valid records are decoded. */
function libraryRecord(bytes: Uint8Array, ip: string, otherwise: unknown): unknown {
  try {
    return new Reader<Response>(Buffer.from(bytes)).get(ip)
  } catch {
    return otherwise
  }
}
