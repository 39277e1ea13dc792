import { describe, expect, it } from 'vitest'
import { checkRepairs, compareZones, type Repair } from '../../../scripts/build-data/repairs.ts'

const ZONES = 'networks with a time zone that their region never has'

describe('checkRepairs', () => {
  it.each<[string, Repair[], string[], string | null]>([
    ['nothing left', [{ what: ZONES, before: 5, after: 0 }], [], null],
    [
      'labels that names need',
      [{ what: 'names of regions with a label in parentheses', before: 5, after: 1 }],
      [],
      null,
    ],
    ['a fault that is left', [{ what: ZONES, before: 5, after: 2 }], [], `2 ${ZONES}`],
    ['an unused correction', [], ['AA|Nowhere'], 'the source does not have AA|Nowhere'],
  ])('%s', (_, repairs, unused, message) => {
    const check = () => checkRepairs(repairs, unused)
    if (message === null) expect(check).not.toThrow()
    else expect(check).toThrow(message)
  })
})

describe('compareZones', () => {
  const at = (latitude: number, zone: string | null) => ({ position: { latitude, longitude: 0 }, zone })
  const source = {
    buildDate: new Date('2026-06-05T00:00:00Z'),
    counts: [9_990, 9, 1, 5, 5].map((networks) => ({ networks, ipv4: 0, ipv6: 0 })),
  }
  const compare = (...elsewhere: string[]) =>
    compareZones(
      source,
      [
        at(0, 'Europe/London'),
        at(1, 'America/New_York'),
        at(2, 'Asia/Tokyo'),
        at(3, null),
        { position: null, zone: 'Asia/Tokyo' },
      ],
      ({ latitude }) => elsewhere[latitude] ?? '',
    )

  it('counts networks with the same zone, and with the same offsets in both halves of the year', () => {
    // Toronto has the offsets of New York, and Lagos not those of Tokyo.
    expect(compare('Europe/London', 'America/Toronto', 'Africa/Lagos')).toMatchObject({
      sameZone: 0.999,
      sameOffsets: 0.9999,
    })
  })

  it('refuses too many differences', () => {
    expect(() => compare('Africa/Lagos', 'America/New_York', 'Asia/Tokyo')).toThrow('for only 0.001')
  })
})
