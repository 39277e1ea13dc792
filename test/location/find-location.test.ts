import { describe, expect, it } from 'vitest'
import { Address } from '../../src/address/address.ts'
import { InvalidDatabaseError, UnresolvableAddressError } from '../../src/errors.ts'
import { DatabaseSet } from '../../src/location/database-set.ts'
import { findLocation, lookupError, lookupFailure } from '../../src/location/find-location.ts'
import { Database } from '../../src/mmdb/database.ts'
import { MmdbWriter, type WritableValue } from '../../src/writer.ts'

const addressOf = (text: string): Address => {
  const address = new Address()
  expect(address.parse(text)).toBe(true)
  return address
}

const setOf = (record: WritableValue): DatabaseSet => {
  const bytes = new MmdbWriter({ databaseType: 'Sample', ipVersion: 4 })
    .insert('81.2.69.0/24', record)
    .toBytes()
  return new DatabaseSet([new Database(bytes)])
}

const set = setOf({ city: { names: { en: 'Boxford' } } })
const withoutLocations = setOf({ asn: 1 })
/** The names are too long, which is only noticed when the record is read. */
const damaged = setOf({ city: { names: { en: 'n'.repeat(1000) } } })

describe('findLocation', () => {
  it('returns the location', () => {
    const found = findLocation(set, addressOf('81.2.69.142'))
    expect(typeof found === 'number' && set.location(found).city).toBe('Boxford')
  })

  it.each([
    ['10.0.0.1', 'private'],
    ['8.8.8.8', 'not-found'],
    ['2001:4860::1', 'not-found'],
  ])('returns the reason why %s has no location: %s', (ip, reason) => {
    const found = findLocation(set, addressOf(ip))
    expect(found).toBe(reason)
    expect(found).not.toBeTypeOf('number')
  })

  it('returns the reason for special-purpose addresses even without any locations', () => {
    expect(findLocation(withoutLocations, addressOf('127.0.0.1'))).toBe('loopback')
    expect(findLocation(withoutLocations, addressOf('8.8.8.8'))).toBe(withoutLocations.noLocationsError)
  })

  it('returns the error of a damaged record', () => {
    const found = findLocation(damaged, addressOf('81.2.69.142'))
    expect(found).toBeInstanceOf(InvalidDatabaseError)
    expect(found).not.toBeTypeOf('number')
  })
})

describe('lookupError and lookupFailure', () => {
  it.each([
    ['a special-purpose address', set, '10.0.0.1'],
    ['an address that is not found', set, '8.8.8.8'],
    ['an address without a database for its family', set, '2001:4860::1'],
    ['databases without locations', withoutLocations, '81.2.69.142'],
    ['a damaged record', damaged, '81.2.69.142'],
  ])('have the same code, status and message for %s', (_, databases, ip) => {
    const address = addressOf(ip)
    const found = findLocation(databases, address)
    if (typeof found === 'number') throw new Error('it has a location')
    const error = lookupError(databases, address, found, 'socket')
    const { code, status, message } = error
    const reason = error instanceof UnresolvableAddressError ? { reason: error.reason } : {}
    expect(lookupFailure(databases, address, found)).toEqual({
      ip,
      error: { code, status, message, ...reason },
    })
    if (error instanceof UnresolvableAddressError) expect([error.address, error.via]).toEqual([ip, 'socket'])
  })

  it('make a new error each time for databases without locations', () => {
    const address = addressOf('81.2.69.142')
    const found = findLocation(withoutLocations, address)
    if (typeof found === 'number') throw new Error('it has a location')
    expect(lookupError(withoutLocations, address, found)).not.toBe(withoutLocations.noLocationsError)
  })
})
