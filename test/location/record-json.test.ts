import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { LocationRecord } from '../../src/index.ts'
import { recordJson } from '../../src/location/record-json.ts'

const text = fc.option(fc.string({ unit: 'binary' }))
const degrees = fc.option(fc.double({ noNaN: true, min: -180, max: 180 }))

/** Records with any names, which a database can choose. */
const record: fc.Arbitrary<LocationRecord> = fc.record({
  ip: fc.constantFrom('81.2.69.142', '2001:db8::1'),
  country: fc.record({ code: text, name: text }),
  region: fc.record({ name: text, code: text }),
  city: text,
  postal_code: text,
  coordinates: fc.record({ latitude: degrees, longitude: degrees }),
  timezone: fc.record({ id: text, offset: fc.constantFrom('+05:45', '-00:30', null) }),
})

describe('recordJson', () => {
  it('is JSON.stringify, also of parts that it has seen', () => {
    fc.assert(
      fc.property(record, record, (first, second) => {
        const mixed = { ...first, country: second.country, region: second.region }
        for (const each of [first, second, mixed]) expect(recordJson(each)).toBe(JSON.stringify(each))
      }),
    )
  })
})
