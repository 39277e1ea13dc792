import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  eventTime,
  eventTimeOf,
  instantOf,
  TIMESTAMP_ROOM,
  Timestamp,
} from '../../../src/enrich/locating/event-time.ts'
import { tableOf } from '../../table-of.ts'
import { utf8 } from '../world.ts'

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
    ['01/Jul/2026:14:00:00 +0200', NOON],
    ['2026-12-31T23:59:60Z', Date.UTC(2027, 0, 1)],
    ['2024-02-29T00:00:00Z', Date.UTC(2024, 1, 29)],
    ['1900-03-01T00:00:00Z', Date.UTC(1900, 2, 1)],
    ['1.7829072e9', NOON],
    // The last part of a second is not of the next hour.
    ['2026-07-01T11:59:59.9996Z', NOON - 1],
    ['1782907199.9996', NOON - 1],
    ['1782907199.999999', NOON - 1],
    ['1782907199999.6', NOON - 1],
    ['1782907199999600', NOON - 1],
    ['1782907199999600123', NOON - 1],
    ['1782907199999999999', NOON - 1],
    ['4999999999999999999', 4_999_999_999_999],
    ['000000001782907200', NOON],
    ['1.7829072004567891e9', NOON + 456],
    ['1782907200.001', NOON + 1],
    ['1782907200.123', NOON + 123],
    ['100000000', 1e11],
    ['-100000000', -1e11],
    ['2199-12-31T23:59:59Z', Date.UTC(2200, 0, 1) - 1000],
  ])('%s', (text, instant) => {
    expect(read(text)).toBe(instant)
    expect(eventTimeOf(text)).toBe(instant)
  })

  it.each([...tableOf(import.meta.dirname, 'event-times.tsv'), [`1${'0'.repeat(100)}`, 'too long']])(
    'is not in "%s": %s',
    (text) => {
      expect(read(text)).toBeNaN()
      expect(eventTimeOf(text)).toBeNaN()
    },
  )

  it('agrees with Date', () => {
    const date = fc.date({
      min: new Date('0000-01-01T00:00:00Z'),
      max: new Date('9999-12-31T23:59:59Z'),
      noInvalidDate: true,
    })
    fc.assert(
      fc.property(date, (each) => {
        expect(instantOf(each.toISOString())).toBe(each.getTime())
      }),
    )
  })
})

interface ReadTimestamp {
  readonly text: string
  readonly instant: number
}

/** `null` when it is not a timestamp. */
function readTimestamp(text: string): ReadTimestamp | null {
  const bytes = utf8(`${text}]`)
  const timestamp = new Timestamp()
  if (timestamp.read(bytes, 0, bytes.length) !== bytes.length - 1) return null
  const into = new Uint8Array(TIMESTAMP_ROOM + 2).fill(0x21)
  const end = timestamp.put(bytes, into, 1)
  expect([into[0], into[end]]).toEqual([0x21, 0x21])
  return { text: new TextDecoder().decode(into.subarray(1, end)), instant: timestamp.instant }
}

describe('timestamps that are read', () => {
  it.each(tableOf(import.meta.dirname, 'timestamps.tsv'))('%s is %s: %s', (given, text) => {
    expect(readTimestamp(given)?.text).toBe(text)
    expect(readTimestamp(given)?.instant).toBe(Date.parse(text))
  })

  it('can be a leap second, which has the instant of the next second', () => {
    expect(readTimestamp('31/Dec/2016:23:59:60 +0000')).toEqual({
      text: '2016-12-31T23:59:60+00:00',
      instant: Date.UTC(2017, 0, 1),
    })
  })

  it('are those of any instant and offset', () => {
    const spans = { min: -8640 * 60_000, max: 253_000_000_000_000 }
    fc.assert(
      fc.property(
        fc.integer(spans),
        fc.integer({ min: -1439, max: 1439 }),
        fc.boolean(),
        (at, minutes, isIso) => {
          const size = Math.abs(minutes)
          const two = (value: number): string => String(value).padStart(2, '0')
          const offset = [two(Math.floor(size / 60)), two(size % 60)]
          const sign = minutes < 0 ? '-' : '+'
          const local = new Date(at + minutes * 60_000).toISOString().slice(0, -1)
          const month = new Date(`${local}Z`).toLocaleString('en-US', { month: 'short', timeZone: 'UTC' })
          const clf = `${local.slice(8, 10)}/${month}/${local.slice(0, 4)}:${local.slice(11)} ${sign}${offset.join('')}`
          const iso = `${local}${sign}${offset.join(':')}`
          expect(readTimestamp(isIso ? iso : clf)).toEqual({ text: iso, instant: at })
        },
      ),
    )
  })
})

describe('timestamps that are not read', () => {
  it.each([
    ...tableOf(import.meta.dirname, 'no-timestamps.tsv'),
    ['10/\x0a\x15\x0e/2000:13:55:36 -0700', 'the low bits of "Jun"'],
    ['10/Oct/2000:13:55:36 -0700 ', 'a space after it'],
  ])('%s: %s', (given) => {
    expect(readTimestamp(given)).toBeNull()
  })

  it('end at the end of the bytes', () => {
    const bytes = utf8('10/Oct/2000:13:55:36 -0700]')
    for (let end = 0; end < 26; end++) expect(new Timestamp().read(bytes, 0, end)).toBe(-1)
    expect(new Timestamp().read(bytes, 0, bytes.length)).toBe(26)
  })
})

describe('numbers since 1970', () => {
  const YEAR_10000 = Date.UTC(10_000, 0, 1) / 1000

  it('are those that Number reads, whatever their unit, in whole milliseconds', () => {
    const fraction = fc.option(fc.stringMatching(/^\d{1,18}$/), { nil: undefined })
    fc.assert(
      fc.property(fc.stringMatching(/^-?\d{1,20}$/), fraction, (whole, rest) => {
        const text = rest === undefined ? whole : `${whole}.${rest}`
        const size = Math.abs(Number(text))
        const unit = [1, 1e3, 1e6, 1e9].findIndex((each) => size < YEAR_10000 * each)
        const milliseconds = [Number(text) * 1000, Number(text), Number(text) / 1e3, Number(text) / 1e6][unit]
        // Later times are unknown, and not exact.
        if (milliseconds === undefined || Math.abs(milliseconds) >= 1e14) {
          expect(eventTimeOf(text)).toBeNaN()
          return
        }
        const instant = instantOf(text)
        // Rounded down, but for what a double of so many milliseconds cannot say.
        expect(Number.isInteger(instant)).toBe(true)
        expect(milliseconds - instant).toBeGreaterThan(-0.02)
        expect(milliseconds - instant).toBeLessThan(1.02)
      }),
    )
  })

  it('are of their own millisecond with up to nine digits more', () => {
    const seconds = fc.integer({ min: 1e9, max: 9e9 })
    const nanoseconds = fc.oneof(fc.integer({ min: 999_999_000, max: 999_999_999 }), fc.nat(999_999_999))
    fc.assert(
      fc.property(seconds, nanoseconds, fc.constantFrom(0, 3, 6, 9), (whole, rest, digits) => {
        const fraction = String(rest).padStart(9, '0')
        const text = `${whole}${fraction.slice(0, digits)}.${fraction.slice(digits)}`.replace(/\.$/, '')
        expect(instantOf(text)).toBe(whole * 1000 + Math.floor(rest / 1e6))
      }),
    )
  })

  it.each(['', '.', '1.', '.5', '1.2.3', '1,5', '+1', '0x10', '1e', ' 1', '1 ', '1'.repeat(41)])(
    'are not %j',
    (text) => {
      expect(instantOf(text)).toBe(Number.NaN)
    },
  )
})
