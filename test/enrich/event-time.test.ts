import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { eventTime, eventTimeOf } from '../../src/enrich/event-time.ts'
import { utf8 } from './world.ts'

const read = (text: string): number => {
  const bytes = utf8(`x${text}"`)
  return eventTime(bytes, 1, bytes.length - 1)
}
const NOON = Date.UTC(2026, 6, 1, 12)

describe('the instant of an event', () => {
  it.each([
    ['2026-07-01T12:00:00Z', NOON],
    ['2026-07-01T12:00:00.5Z', NOON + 500],
    ['2026-07-01T12:00:00.123Z', NOON + 123],
    ['2026-07-01T12:00:00.123987654Z', NOON + 123],
    ['2026-07-01T12:00:00,25Z', NOON + 250],
    ['2026-07-01t12:00:00z', NOON],
    ['2026-07-01 12:00:00Z', NOON],
    ['2026-07-01 12:00:00 +00:00', NOON],
    ['2026-07-01T12:00Z', NOON],
    ['2026-07-01T14:00:00+02:00', NOON],
    ['2026-07-01T14:00:00+0200', NOON],
    ['2026-07-01T14:00:00+02', NOON],
    ['2026-07-01T08:30:00-03:30', NOON],
    ['2026-12-31T23:59:60Z', Date.UTC(2027, 0, 1)],
    ['2024-02-29T00:00:00Z', Date.UTC(2024, 1, 29)],
    ['1900-03-01T00:00:00Z', Date.UTC(1900, 2, 1)],
    ['1782907200', NOON],
    ['1782907200.25', NOON + 250],
    ['1782907200000', NOON],
    ['1.7829072e9', NOON],
    ['0', 0],
    ['-86400', -86_400_000],
    ['99999999999', 99_999_999_999_000],
    ['100000000000', 100_000_000_000],
    ['1782907200123456', NOON + 123],
    ['1782907200123456789', NOON + 123],
  ])('%s', (text, instant) => {
    expect(read(text)).toBe(instant)
    expect(eventTimeOf(text)).toBe(instant)
  })

  it.each([
    ['', 'nothing'],
    ['-', 'a dash'],
    ['2026-07-01T12:00:00', 'a local time'],
    ['2026-07-01', 'a day'],
    ['2026-02-29T00:00:00Z', 'no such day'],
    ['1900-02-29T00:00:00Z', 'no such day'],
    ['2026-13-01T00:00:00Z', 'no such month'],
    ['2026-00-01T00:00:00Z', 'no such month'],
    ['2026-04-31T00:00:00Z', 'no such day'],
    ['2026-07-01T24:00:00Z', 'no such hour'],
    ['2026-07-01T12:60:00Z', 'no such minute'],
    ['2026-07-01T12:00:61Z', 'no such second'],
    ['2026-07-01T12:00:00+24:00', 'no such offset'],
    ['2026-07-01T12:00:00+02:60', 'no such offset'],
    ['2026-07-01T12:00:00ZZ', 'more'],
    ['2026x07-01T12:00:00Z', 'other signs'],
    ['2026-07-01T12:00:0xZ', 'a letter'],
    ['100000000000000000000', 'more than nanoseconds'],
    ['0x10', 'another base'],
    ['1e400', 'too much'],
    ['Infinity', 'a word'],
    ['01/Jul/2026:12:00:00 +0000', 'that of an access log'],
    [`1${'0'.repeat(100)}`, 'too long'],
  ])('is not in "%s": %s', (text) => {
    expect(read(text)).toBeNaN()
    expect(eventTimeOf(text)).toBeNaN()
  })

  it('agrees with Date', () => {
    const date = fc.date({
      min: new Date('0000-01-01T00:00:00Z'),
      max: new Date('9999-12-31T23:59:59Z'),
      noInvalidDate: true,
    })
    fc.assert(
      fc.property(date, (each) => {
        expect(read(each.toISOString())).toBe(each.getTime())
        expect(eventTimeOf(each.toISOString())).toBe(each.getTime())
      }),
    )
  })
})
