import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { NO_TIME } from '../../../src/enrich/locating/event-time.ts'
import { OpeningTime, type OpeningTimeKind } from '../../../src/enrich/locating/opening-time.ts'
import { tableOf } from '../../table-of.ts'
import { utf8 } from '../world.ts'

/** The log was last written on 2 March 2024. */
const LATEST = Date.UTC(2024, 2, 2, 12)

function read(text: string, latest = LATEST): [OpeningTimeKind, string | null] {
  const time = new OpeningTime(latest)
  // What is before and after the line must not matter.
  const bytes = utf8(`<1>${text}\n2024`)
  const kind = time.read(bytes, 3, bytes.length - 5)
  return [kind, Number.isNaN(time.instant) ? null : new Date(time.instant).toISOString()]
}

describe('the time that opens a line', () => {
  it.each(tableOf(import.meta.dirname, 'opening-times.tsv'))('%j is %s, %s: %s', (line, kind, instant) =>
    expect(read(line)).toEqual([kind, instant]),
  )

  it.each(tableOf(import.meta.dirname, 'no-opening-times.tsv'))('is none in %j: %s', (line) =>
    expect(read(line)).toEqual(['none', null]),
  )

  it.each([
    'time:2023-10-11T14:32:52Z\thost:a',
    'host:a\tid:-\ttime:[11/Oct/2023:16:32:52 +0200]\tstatus:200',
  ])('is that of LTSV: %j', (line) => {
    expect(read(line)).toEqual(['instant', '2023-10-11T14:32:52.000Z'])
  })

  it('has no instant without a year, if it is not known when the log was written', () => {
    expect(read('Oct 11 22:14:15 web x', NO_TIME)).toEqual(['yearless', null])
    expect(read('Feb 31 22:14:15 web x', NO_TIME)).toEqual(['none', null])
    expect(read('Oct 11 2023 22:14:15 web x', NO_TIME)[0]).toBe('local')
  })

  it.each([
    ['1970-01-01T00:00:12Z router x', 'instant'],
    ['0001-01-01T00:00:00Z x', 'instant'],
    ['9999-12-31T23:59:59Z x', 'instant'],
    ['1970/01/01 00:00:12 [error] x', 'local'],
  ])('is unknown in %j', (line, kind) => {
    expect(read(line)).toEqual([kind, null])
  })

  it('has the year of its own line, whatever the line before has', () => {
    const time = new OpeningTime(LATEST)
    const lines = [
      'Wed Oct 11 14:32:52 2023',
      'Wed Oct 11 14:32:52 2028',
      'Oct 11 14:32:52',
      'Oct 11 2022 14:32:52',
      'Oct 11 14:32:52 2021 router x',
      'Oct 11 14:32:52 2021-db x',
      'Oct 11 14:32:52 2020',
      'Oct 11 14:32:52 web x',
    ]
    const years = lines.map((line) => {
      time.read(utf8(line), 0, line.length)
      return new Date(time.instant).getUTCFullYear()
    })
    expect(years).toEqual([2023, 2028, 2023, 2022, 2021, 2023, 2020, 2023])
  })

  it('can be in the afternoon, but a host can be called pm', () => {
    const time = new OpeningTime(LATEST)
    const hours = ['Wed Oct 11 02:32:52 PM 2023', 'Oct 11 02:32:52 pm x', 'Oct 11 2023 02:32:52 PM'].map(
      (line) => {
        time.read(utf8(line), 0, line.length)
        return new Date(time.instant).getUTCHours()
      },
    )
    expect(hours).toEqual([14, 2, 14])
  })

  it('is in the year of the last leap day', () => {
    expect(read('Feb 29 01:00:00 a', Date.UTC(2023, 5, 1))[1]).toBe('2020-02-29T01:00:00.000Z')
    expect(read('Feb 29 01:00:00 a', Date.UTC(2103, 5, 1))[1]).toBe('2096-02-29T01:00:00.000Z')
  })

  it('is the one that was written, in each form and in any order', () => {
    const time = new OpeningTime(Date.UTC(2024, 11, 31, 23))
    const instant = fc.date({
      min: new Date('2024-01-02T00:00:00Z'),
      max: new Date('2024-12-31T22:00:00Z'),
      noInvalidDate: true,
    })
    const form = fc.constantFrom<((iso: string, date: Date) => string)[]>(
      (iso) => `${iso} x`,
      (iso) => iso.replace('T', ' ').replace('Z', ' x'),
      (iso) => `${iso.slice(0, 10).replaceAll('-', '/')} ${iso.slice(11, 19)} [error]`,
      (iso, date) => `${date.toUTCString().slice(8, 11)} ${iso.slice(8, 10)} ${iso.slice(11, 23)} web x`,
      (iso, date) =>
        `[${date.toUTCString().slice(0, 3)} ${date.toUTCString().slice(8, 11)} ${iso.slice(8, 10)} ${iso.slice(11, 23)} 2024] x`,
      (_, date) =>
        `[${Math.floor(date.getTime() / 1000)}.${String(date.getTime() % 1000).padStart(3, '0')}] x`,
    )
    fc.assert(
      fc.property(fc.array(fc.tuple(instant, form), { maxLength: 5 }), (lines) => {
        for (const [date, write] of lines) {
          const line = write(date.toISOString(), date)
          const bytes = utf8(`${line}\n`)
          time.read(bytes, 0, bytes.length - 1)
          const isWhole = line.includes('.') ? 0 : 1000
          const expected = isWhole === 0 ? date.getTime() : Math.floor(date.getTime() / 1000) * 1000
          expect(time.instant, line).toBe(expected)
        }
      }),
    )
  })
})
