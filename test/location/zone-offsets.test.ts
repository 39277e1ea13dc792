import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { Timezone } from '../../src/location/timezone.ts'
import { ZoneOffsets } from '../../src/location/zone-offsets.ts'

/** Zones with changes at odd times, twice within a week or a month, by half an hour, or by a day. */
const ZONES = [
  'Europe/London',
  'Africa/Casablanca',
  'Asia/Gaza',
  'America/Noronha',
  'Africa/Tunis',
  'Australia/Lord_Howe',
  'America/St_Johns',
  'Pacific/Apia',
  'Africa/Freetown',
  'Asia/Kathmandu',
  'Nowhere/Land',
]

describe('the offsets of a zone', () => {
  it('are those of the platform, in any order', () => {
    const instant = fc.integer({ min: Date.UTC(1900, 0, 1), max: Date.UTC(2100, 0, 1) })
    const all = Intl.supportedValuesOf('timeZone')
    fc.assert(
      fc.property(
        fc.oneof(fc.constantFrom(...ZONES), fc.constantFrom(...all)),
        fc.array(instant, { minLength: 1, maxLength: 40 }),
        (id, instants) => {
          const offsets = new ZoneOffsets(new Timezone(id))
          const zone = new Timezone(id)
          for (const at of instants) expect(offsets.at(at).text).toBe(zone.at(at).offset)
        },
      ),
      { numRuns: 100 },
    )
  })

  it('are right in more windows than are cached', () => {
    const offsets = new ZoneOffsets(new Timezone('Europe/London'))
    const zone = new Timezone('Europe/London')
    for (let round = 0; round < 2; round++) {
      for (let window = 0; window < 1500; window++) {
        const at = Date.UTC(2020, 0, 1 + window * 6, 12)
        expect(offsets.at(at).text).toBe(zone.at(at).offset)
      }
    }
  })

  it('change in the middle of a day', () => {
    const offsets = new ZoneOffsets(new Timezone('Europe/London'))
    const change = Date.UTC(2026, 2, 29, 1)
    for (const [at, minutes] of [
      [change - 1, 0],
      [change, 60],
      [change - 1, 0],
      [change + 7_200_000, 60],
    ] as const) {
      expect(offsets.at(at)).toMatchObject({ minutes, text: minutes === 0 ? '+00:00' : '+01:00' })
    }
  })

  it('have minutes and JSON', () => {
    const of = (id: string | null) => new ZoneOffsets(new Timezone(id)).at(Date.UTC(2026, 0, 1))
    expect(of('America/St_Johns')).toMatchObject({ text: '-03:30', minutes: -210 })
    expect(of('America/St_Johns').json).toBe('"-03:30"')
    expect(of(null)).toMatchObject({ text: null, minutes: null })
    expect(of(null).json).toBe('null')
  })

  it('reach both ends of the range of Date', () => {
    const offsets = new ZoneOffsets(new Timezone('Europe/London'))
    for (const at of [8.64e15, -8.64e15])
      expect(offsets.at(at).text).toBe(new Timezone('Europe/London').at(at).offset)
  })
})
