import fc from 'fast-check'
import { expect, it } from 'vitest'
import { recordJson } from '../../src/location/record-json.ts'

const text = fc.option(fc.string({ unit: 'binary' }))
const number = fc.option(fc.double({ noNaN: true, noDefaultInfinity: true }))
const record = fc.record({
  ip: fc.oneof(fc.ipV4(), fc.ipV6()),
  country: fc.record({ code: text, name: text }, { noNullPrototype: true }),
  region: fc.record({ name: text, code: text }, { noNullPrototype: true }),
  city: text,
  postal_code: text,
  coordinates: fc.record({ latitude: number, longitude: number }),
  timezone: fc.record({ id: text, offset: text }),
})

it('recordJson writes what JSON.stringify writes', () => {
  fc.assert(
    fc.property(record, (each) => {
      expect(recordJson(each)).toBe(JSON.stringify(each))
      expect(recordJson(each)).toBe(JSON.stringify(each)) // from the cache of shared parts
    }),
  )
})
