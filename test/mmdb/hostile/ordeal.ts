import assert from 'node:assert/strict'
import {
  InvalidDatabaseError,
  isLookupFailure,
  Resolver,
  UnresolvableAddressError,
} from '../../../src/index.ts'
import { faultOfRecord } from './well-typed.ts'

/** Canonical, globally reachable, and distributed over the networks of small databases. */
export const ADDRESSES: readonly string[] = [
  ...'1.1.1.1 2.125.160.217 81.2.69.142 89.160.20.113 128.101.101.101 216.160.83.57'.split(' '),
  ...'2001:218::1 2001:4860:4860::8888 2a02:d300::1'.split(' '),
]

/** How far a database could be used. */
export type Stage = 'refused' | 'damaged' | 'answers'

/** What every object inherits. No database may change it. */
const inherited = (): string =>
  [Object.prototype, Array.prototype, Map.prototype].map((each) => Reflect.ownKeys(each).length).join()
const BEFORE = inherited()

/**
 * Runs a database through the whole public interface. All results must be
 * well-typed records or errors of this package; anything else fails the test.
 *
 * @param isVerified whether to verify the whole database too, which takes time proportional to its size
 */
export function ordeal(bytes: Uint8Array, addresses = ADDRESSES, isVerified = true): Stage {
  let stage: Stage = 'answers'
  /** @returns `undefined` if the database is damaged */
  const attempt = <Value>(action: () => Value): Value | undefined => {
    try {
      return action()
    } catch (error) {
      if (error instanceof InvalidDatabaseError) stage = 'damaged'
      else if (!(error instanceof UnresolvableAddressError)) throw error
      return undefined
    }
  }
  const resolver = attempt(() => Resolver.openSync(bytes))
  if (resolver === undefined) return 'refused'
  for (const ip of addresses) {
    for (const locale of ['en', 'de']) {
      const record: unknown = attempt(() => resolver.lookup(ip, { locale, at: 0 }))
      if (record !== undefined) assert.equal(faultOfRecord(record, ip), null)
    }
    const network = attempt(() => resolver.network(ip))
    if (typeof network === 'string') assert.match(network, /^[0-9a-f.:]+\/\d{1,3}$/)
    attempt(() => checkRaw(resolver.raw(ip)))
  }
  const results = resolver.lookupMany(addresses)
  assert.equal(results.length, addresses.length)
  for (const [index, result] of results.entries()) {
    if (isLookupFailure(result)) assert.equal(typeof result.error.message, 'string')
    else assert.equal(faultOfRecord(result, addresses[index] ?? ''), null)
  }
  for (const info of resolver.databases) checkInfo(info)
  for (const { faults, faultCount } of isVerified ? resolver.verify() : []) {
    assert.ok(faults.length <= Math.min(100, faultCount))
    for (const { message } of faults) assert.equal(typeof message, 'string')
  }
  assert.equal(inherited(), BEFORE)
  return stage
}

/** Every map must be a plain object, with an unchanged prototype. */
function checkRaw(value: unknown): void {
  const pending = [value]
  for (let each = pending.pop(); each !== undefined; each = pending.pop()) {
    if (typeof each !== 'object' || each === null || each instanceof Uint8Array) continue
    const expected = Array.isArray(each) ? Array.prototype : Object.prototype
    assert.ok(Object.getPrototypeOf(each) === expected)
    for (const below of Object.values(each)) pending.push(below)
  }
}

function checkInfo(info: Resolver['databases'][number]): void {
  assert.equal(typeof info.type, 'string')
  assert.ok([4, 6].includes(info.ipVersion))
  assert.ok(info.locales.every((each) => typeof each === 'string'))
  assert.ok(Number.isSafeInteger(info.nodeCount) && info.nodeCount >= 0)
  const { buildDate, licence, attribution } = info
  assert.ok(buildDate === null || !Number.isNaN(buildDate.getTime()))
  for (const text of [licence, attribution]) assert.ok(text === null || typeof text === 'string')
}
