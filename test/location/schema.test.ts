import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { coordinatesOf, NO_COORDINATES } from '../../src/location/schema.ts'

describe('coordinatesOf', () => {
  it.each<[number | null, number | null, string]>([
    [null, 1, 'no latitude'],
    [1, null, 'no longitude'],
    [0, 0, 'written by databases for an unknown location'],
    [90.1, 0, 'beyond the pole'],
    [0, -180.1, 'beyond the antimeridian'],
    [Number.NaN, 0, 'not a number'],
    [0, Number.POSITIVE_INFINITY, 'infinite'],
  ])('has no coordinates for %o, %o: %s', (latitude, longitude, _) => {
    expect(coordinatesOf(latitude, longitude)).toBe(NO_COORDINATES)
  })

  it.each([
    [51.40359878540039, 51.4036, 'the 32-bit float of 51.4036'],
    [51.4036, 51.4036, 'a double stays as it is'],
    [0.1, 0.1, 'a double that is not a 32-bit float'],
    [51.75, 51.75, 'both a float and a short decimal'],
    [-0.09122440218925476, -0.0912244, 'a small float'],
    [0.00010209672473138198, 0.000102096725, 'a float that needs nine digits'],
    [16.777217, 16.777217, 'a double near a float'],
  ])('writes latitude %d as %d: %s', (latitude, expected) => {
    expect(coordinatesOf(latitude, 10)).toEqual({ latitude: expected, longitude: 10 })
  })

  it('keeps 0 if only one of the two is 0', () => {
    expect(coordinatesOf(0, 32.5)).toEqual({ latitude: 0, longitude: 32.5 })
  })

  it('writes the shortest decimal with the same 32-bit float', () => {
    fc.assert(
      fc.property(fc.float({ min: -90, max: 90, noNaN: true }), (float) => {
        fc.pre(float !== 0)
        const { latitude } = coordinatesOf(float, 1)
        expect(latitude).not.toBeNull()
        const decimal = Number(latitude)
        expect(Math.fround(decimal)).toBe(float)
        const digits = decimal.toExponential().replace(/e.*|[-.]/g, '').length
        if (digits > 1) expect(Math.fround(Number(float.toPrecision(digits - 1)))).not.toBe(float)
      }),
    )
  })
})
