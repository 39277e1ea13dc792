import fc from 'fast-check'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { sharedOffset, shareOffsets, Timezone, timezoneOf, WINDOW_MS } from '../../src/location/timezone.ts'

const at = (zone: string, instant: string): string | null => timezoneOf(zone).at(Date.parse(instant)).offset

describe('timezone offset', () => {
  it.each([
    ['Europe/Berlin', '2026-03-29T00:59:59.999Z', '+01:00', 'the last millisecond before daylight saving'],
    ['Europe/Berlin', '2026-03-29T01:00:00Z', '+02:00', 'the first millisecond of daylight saving'],
    ['America/New_York', '2026-11-01T05:59:59.999Z', '-04:00', 'the last millisecond of it, west of UTC'],
    ['America/New_York', '2026-11-01T06:00:00Z', '-05:00', 'the first millisecond after daylight saving'],
    ['Europe/London', '1970-01-15T12:00:00Z', '+01:00', 'British Standard Time, before 1973'],
    ['Africa/Monrovia', '1970-01-15T12:00:00Z', '-00:45', '-00:44:30, rounded as Temporal does'],
    ['Europe/Berlin', '2055-07-15T12:00:00Z', '+02:00', 'the future, by the current rules'],
    ['America/St_Johns', '2010-11-07T02:30:59.999Z', '-02:30', 'a change that was not on a quarter hour'],
    ['America/St_Johns', '2010-11-07T02:31:00Z', '-03:30', 'right after that change'],
  ])('%s at %s is %s: %s', (zone, instant, offset) => {
    expect(at(zone, instant)).toBe(offset)
  })

  it('is null, not an error, for a zone that the platform does not know', () => {
    expect(timezoneOf('Mars/Olympus_Mons').at(0)).toEqual({ id: 'Mars/Olympus_Mons', offset: null })
  })

  it('is null without a zone', () => {
    expect(timezoneOf(null).at(0)).toEqual({ id: null, offset: null })
  })

  it('is null without an instant, and the platform is not asked', () => {
    const format = vi.spyOn(Intl, 'DateTimeFormat')
    expect(timezoneOf('Asia/Omsk').at(Number.NaN)).toEqual({ id: 'Asia/Omsk', offset: null })
    expect(format).not.toHaveBeenCalled()
  })

  it('works at both ends of the range of Date', () => {
    expect(timezoneOf('Asia/Tokyo').at(8.64e15).offset).toBe('+09:00')
    expect(timezoneOf('Asia/Tokyo').at(-8.64e15).offset).toMatch(/^[+-]\d\d:\d\d$/)
  })

  it('returns one frozen object while the offset stays the same', () => {
    const zone = timezoneOf('Asia/Tokyo')
    const first = zone.at(Date.parse('2026-01-01T00:00:00Z'))
    expect(zone.at(Date.parse('2026-01-01T00:14:59Z'))).toBe(first)
    expect(Object.isFrozen(first)).toBe(true)
  })

  it('is the same when another thread has found it', () => {
    const instant = Date.UTC(2026, 6, 1)
    const now = Math.floor(instant / WINDOW_MS)
    const zone = new Timezone('Europe/London')
    shareOffsets()
    const asked = zone.at(instant)
    expect(sharedOffset('europe/london', now)).toBe(60)
    const format = vi.spyOn(Intl, 'DateTimeFormat')
    expect(new Timezone('Europe/London').at(instant)).toEqual(asked)
    expect(format).not.toHaveBeenCalled()
    // A window with a change in it is not shared.
    const change = Date.UTC(2026, 2, 29, 1)
    expect(zone.at(change - 1).offset).toBe('+00:00')
    expect(zone.at(change).offset).toBe('+01:00')
    expect(sharedOffset('europe/london', Math.floor(change / WINDOW_MS))).toBeUndefined()
  })

  /** Zones with changes at odd times, twice within a week or a month, by half an hour, or by a day. */
  const ODD_ZONES = [
    ...'Europe/London Africa/Casablanca Asia/Gaza America/Noronha Africa/Tunis'.split(' '),
    ...'Australia/Lord_Howe America/St_Johns Pacific/Apia Africa/Freetown Asia/Kathmandu'.split(' '),
  ]
  // The oracle reads the fields of the wall clock as if they were UTC.
  const zones = Intl.supportedValuesOf('timeZone')
  const clocks = new Map<string, Intl.DateTimeFormat>()
  const minutesByClock = (zone: string, instant: number): number => {
    let clock = clocks.get(zone)
    if (clock === undefined) {
      clock = new Intl.DateTimeFormat('en-u-hc-h23', {
        timeZone: zone,
        calendar: 'gregory',
        year: 'numeric',
        month: 'numeric',
        day: 'numeric',
        hour: 'numeric',
        minute: 'numeric',
        second: 'numeric',
      })
      clocks.set(zone, clock)
    }
    const part = Object.fromEntries(
      clock.formatToParts(instant).map(({ type, value }) => [type, Number(value)]),
    )
    const { year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0 } = part
    const difference =
      Date.UTC(year, month - 1, day, hour, minute, second) - Math.floor(instant / 1000) * 1000
    // Seconds of local mean times are rounded half away from zero.
    return Math.sign(difference) * Math.round(Math.abs(difference) / 60_000)
  }

  it('agrees with the wall clock of every zone, at random instants in any order', () => {
    fc.assert(
      fc.property(
        fc.oneof(fc.constantFrom(...ODD_ZONES), fc.constantFrom(...zones)),
        fc.array(fc.integer({ min: Date.UTC(1900, 0), max: Date.UTC(2100, 0) }), {
          minLength: 1,
          maxLength: 9,
        }),
        (zone, instants) => {
          for (const instant of instants) {
            const offset = timezoneOf(zone).at(instant).offset ?? ''
            const minutes =
              (Number(offset.slice(1, 3)) * 60 + Number(offset.slice(4))) * (offset.startsWith('-') ? -1 : 1)
            expect(minutes).toBe(minutesByClock(zone, instant))
          }
        },
      ),
      { numRuns: 1500 },
    )
  })
})

describe('the offsets of a zone', () => {
  it('are right in more windows than are cached', () => {
    const zone = new Timezone('Europe/London')
    const instants = Array.from({ length: 1500 }, (_, window) => Date.UTC(2020, 0, 1 + window * 6, 12))
    const found = instants.map((at) => zone.at(at).offset)
    expect(instants.map((at) => zone.at(at).offset)).toEqual(found)
    expect([...new Set(found)].sort()).toEqual(['+00:00', '+01:00'])
  })

  it('have minutes and JSON', () => {
    const of = (id: string | null) => new Timezone(id).spanAt(Date.UTC(2026, 0, 1)).offset
    expect(of('America/St_Johns')).toMatchObject({ text: '-03:30', minutes: -210, json: '"-03:30"' })
    expect(of(null)).toMatchObject({ text: null, minutes: null, json: 'null' })
  })
})

const WINDOW = 3400

/** A thread of its own: the module has the state of one thread. */
async function thread(): Promise<typeof import('../../src/location/timezone.ts')> {
  vi.resetModules()
  return import('../../src/location/timezone.ts')
}

describe('offsets that threads share', () => {
  it('are known to the other threads', async () => {
    const first = await thread()
    const memory = first.shareOffsets()
    expect(first.shareOffsets()).toBe(memory)
    const second = await thread()
    second.attachOffsets(memory)
    expect(second.sharedOffset('europe/london', WINDOW)).toBeUndefined()
    for (const minutes of [0, 60, -570, 840, -913, 913]) {
      first.shareOffset('europe/london', WINDOW, minutes)
      expect(second.sharedOffset('europe/london', WINDOW)).toBe(minutes)
    }
    expect(second.sharedOffset('europe/london', WINDOW + 1)).toBeUndefined()
    expect(second.sharedOffset('asia/tokyo', WINDOW)).toBeUndefined()
    second.shareOffset('asia/tokyo', WINDOW + 1, 540)
    expect(first.sharedOffset('asia/tokyo', WINDOW + 1)).toBe(540)
    expect(second.shareOffsets()).toBe(memory)
  })

  it.each([
    ['an unknown zone', 'mars/olympus', WINDOW, 60, undefined],
    ['an unknown offset', 'europe/london', WINDOW, null, undefined],
    ['a window before 1970', 'europe/london', -1, 0, undefined],
    ['the last window', 'europe/london', 2 ** 18 - 1, 913, 913],
    ['a window after 6278', 'europe/london', 2 ** 18, 0, undefined],
  ])('of %s', async (_, id, window, minutes, shared) => {
    const { shareOffset, shareOffsets, sharedOffset } = await thread()
    shareOffsets()
    shareOffset(id, window, minutes)
    expect(sharedOffset(id, window)).toBe(shared)
  })

  it('are not kept before they are shared, nor in memory of another size', async () => {
    const { attachOffsets, shareOffset, sharedOffset } = await thread()
    shareOffset('europe/london', WINDOW, 60)
    expect(sharedOffset('europe/london', WINDOW)).toBeUndefined()
    attachOffsets(new SharedArrayBuffer(8))
    shareOffset('europe/london', WINDOW, 60)
    expect(sharedOffset('europe/london', WINDOW)).toBeUndefined()
  })

  it('are none on platforms without a list of zones', async () => {
    const { shareOffset, shareOffsets, sharedOffset } = await thread()
    const { supportedValuesOf } = Intl
    Reflect.set(Intl, 'supportedValuesOf', undefined)
    onTestFinished(() => void Reflect.set(Intl, 'supportedValuesOf', supportedValuesOf))
    expect(shareOffsets().byteLength).toBe(0)
    shareOffset('europe/london', WINDOW, 60)
    expect(sharedOffset('europe/london', WINDOW)).toBeUndefined()
  })
})

describe('offsets by the zone of a process', () => {
  it('come from the function for zones that the platform lists, since 1973', async () => {
    const { useZoneOfProcess, Timezone } = await thread()
    const minutesIn = vi.fn((zone: string, instant: number) => (zone === 'Asia/Tokyo' && instant > 0 ? 7 : 8))
    useZoneOfProcess(minutesIn)
    const text = (id: string, year: number) => new Timezone(id).at(Date.UTC(year, 5)).offset
    expect(text('Asia/Tokyo', 2026)).toBe('+00:07')
    expect(text('asia/tokyo', 1973)).toBe('+00:07')
    expect(minutesIn.mock.calls.every(([zone]) => zone === 'Asia/Tokyo')).toBe(true)
    minutesIn.mockClear()
    expect(text('Africa/Monrovia', 1971)).toBe('-00:45')
    expect(text('UTC', 2026)).toBe('+00:00')
    expect(text('Mars/Olympus_Mons', 2026)).toBeNull()
    expect(minutesIn).not.toHaveBeenCalled()
  })
})
