import fc from 'fast-check'
import { describe, expect, it, vi } from 'vitest'
import {
  type FaultLocation,
  GeofixError,
  InvalidDatabaseError,
  InvalidLocaleError,
  InvalidOverlayError,
  InvalidSchemaError,
  isGeofixError,
  MalformedAddressError,
  quoted,
  UnresolvableAddressError,
} from '../src/errors.ts'
import { anyCharacter } from './any-character.ts'

describe('the error classes', () => {
  it.each([
    [new MalformedAddressError('m'), 'MalformedAddress', 400],
    [new UnresolvableAddressError('m', 'private', '10.0.0.1'), 'UnresolvableAddress', 422],
    [new InvalidLocaleError('m'), 'InvalidLocale', 400],
    [new InvalidOverlayError('m'), 'InvalidOverlay', null],
    [new InvalidSchemaError('m'), 'InvalidSchema', null],
    [new InvalidDatabaseError('m'), 'InvalidDatabase', null],
  ])('%s', (error, kind, status) => {
    const [name, code] = [`${kind}Error`, kind.replace(/\B[A-Z]/, '_$&').toUpperCase()]
    expect(error).toBeInstanceOf(GeofixError)
    expect(error).toBeInstanceOf(Error)
    expect([error.name, error.code, error.status]).toEqual([name, code, status])
    expect(String(error)).toBe(`${name}: ${error.message}`)
    expect(error.stack).toContain('errors.test.ts')
    expect(isGeofixError(error)).toBe(true)
  })
})

describe('InvalidDatabaseError', () => {
  it.each<[FaultLocation, string]>([
    [{}, 'The database: it broke'],
    [{ offset: 12 }, 'The database: it broke (at byte 12)'],
    [{ offset: 0 }, 'The database: it broke (at byte 0)'],
    [{ path: '/a/b.mmdb' }, '/a/b.mmdb: it broke'],
    [{ path: '/a/b.mmdb', offset: 7 }, '/a/b.mmdb: it broke (at byte 7)'],
    [{ path: undefined, offset: undefined }, 'The database: it broke'],
    [{ path: '' }, 'The database: it broke'],
  ])('has the position in its message: %j', (location, message) => {
    const error = new InvalidDatabaseError('it broke', location)
    expect(error.message).toBe(message)
    expect([error.offset, error.path]).toEqual([location.offset, location.path])
  })

  it('only has a cause if one is given', () => {
    const cause = new RangeError('x')
    expect(new InvalidDatabaseError('m', { cause }).cause).toBe(cause)
    expect('cause' in new InvalidDatabaseError('m')).toBe(false)
  })
})

describe('isGeofixError', () => {
  it('recognises errors of another copy of the package, unlike instanceof', async () => {
    vi.resetModules()
    const copy = await import('../src/errors.ts')
    const error = new copy.MalformedAddressError('m')
    expect(error).not.toBeInstanceOf(GeofixError)
    expect(isGeofixError(error)).toBe(true)
    expect(copy.isGeofixError(new MalformedAddressError('m'))).toBe(true)
  })

  it.each([
    ...[null, undefined, 0, 'MALFORMED_ADDRESS', Symbol('geofix.error'), {}, [], () => undefined],
    ...[new Error('x'), new TypeError('x'), Object.create(null)],
    { code: 'MALFORMED_ADDRESS', status: 400 }, // similar, but not thrown by this package
  ])('is false for anything else: %s', (value) => {
    expect(isGeofixError(value)).toBe(false)
  })
})

describe('quoted', () => {
  it('is printable ASCII of limited length that parses to the start of the text', () => {
    fc.assert(
      fc.property(fc.string({ unit: anyCharacter, maxLength: 200 }), (text) => {
        const quote = quoted(text)
        expect(quote).toMatch(/^"[\x20-\x7e]{0,360}"(\.\.\.)?$/)
        expect(JSON.parse(quote.replace(/\.\.\.$/, ''))).toBe(text.slice(0, 60))
        expect(quote.endsWith('...')).toBe(text.length > 60)
      }),
    )
  })
})
