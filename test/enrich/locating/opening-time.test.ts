import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { NO_TIME } from '../../../src/enrich/locating/event-time.ts'
import { OpeningTime, type TimeKind } from '../../../src/enrich/locating/opening-time.ts'
import { utf8 } from '../world.ts'

/** The log was last written on 2 March 2024. */
const LATEST = Date.UTC(2024, 2, 2, 12)

function read(text: string, latest = LATEST): [TimeKind, string | null] {
  const time = new OpeningTime(latest)
  // What is before and after the line must not matter.
  const bytes = utf8(`<1>${text}\n2024`)
  const kind = time.read(bytes, 3, bytes.length - 5)
  return [kind, Number.isNaN(time.instant) ? null : new Date(time.instant).toISOString()]
}

describe('the time that opens a line', () => {
  it.each<[line: string, kind: TimeKind, instant: string, where: string]>([
    ['2023-10-11T14:32:52.123Z x', 'instant', '2023-10-11T14:32:52.123Z', 'RFC 3339'],
    ['2023-10-11T14:32:52.123456+02:00 web', 'instant', '2023-10-11T12:32:52.123Z', 'rsyslog'],
    ['<165>1 2003-10-11T22:14:15.003Z a', 'instant', '2003-10-11T22:14:15.003Z', 'RFC 5424'],
    ['<34>Oct 11 22:14:15 mymachine su', 'yearless', '2023-10-11T22:14:15.000Z', 'RFC 3164'],
    ['Oct 11 22:14:15 web sshd[1]: x', 'yearless', '2023-10-11T22:14:15.000Z', 'syslog'],
    ['Oct  1 22:14:15 web sshd[1]: x', 'yearless', '2023-10-01T22:14:15.000Z', 'syslog, a padded day'],
    ['Oct 1 22:14:15 web sshd[1]: x', 'yearless', '2023-10-01T22:14:15.000Z', 'syslog, a short day'],
    ['Mar  2 09:00:00 web x: y', 'yearless', '2024-03-02T09:00:00.000Z', 'the last day'],
    ['Mar  3 01:00:00 web x: y', 'yearless', '2024-03-03T01:00:00.000Z', 'a day after it, for time zones'],
    ['Mar  4 01:00:00 web x: y', 'yearless', '2023-03-04T01:00:00.000Z', 'a year before'],
    ['Feb 29 01:00:00 web x: y', 'yearless', '2024-02-29T01:00:00.000Z', 'a leap day'],
    ['Oct 11 2023 22:14:15 fw : %ASA', 'local', '2023-10-11T22:14:15.000Z', 'Cisco'],
    ['Oct 11 22:14:15.123 web x: y', 'yearless', '2023-10-11T22:14:15.123Z', 'a fraction'],
    ['[Wed Oct 11 14:32:52.123456 2023] [core:error]', 'local', '2023-10-11T14:32:52.123Z', 'Apache'],
    ['[Sun Mar 13 22:49:12 2016] POST', 'local', '2016-03-13T22:49:12.000Z', 'Apache 2.2'],
    ['Wed Oct 11 14:32:52 2023 TLS: x', 'local', '2023-10-11T14:32:52.000Z', 'OpenVPN'],
    ['2023/10/11 14:32:52 [error] 7#7: *1 x', 'local', '2023-10-11T14:32:52.000Z', 'nginx'],
    ['2023-10-11 14:32:52,123 INFO x', 'local', '2023-10-11T14:32:52.123Z', 'Python, log4j'],
    ['2017-05-16 00:00:00.008 25746 INFO', 'local', '2017-05-16T00:00:00.008Z', 'OpenStack'],
    ['2023-10-11 14:32:52 Zookeeper', 'local', '2023-10-11T14:32:52.000Z', 'no Z of UTC'],
    ['2023-10-11 14:32:52.123 UTC [7] LOG', 'instant', '2023-10-11T14:32:52.123Z', 'PostgreSQL'],
    ['2023/10/11 14:32:52 GMT x', 'instant', '2023-10-11T14:32:52.000Z', 'GMT'],
    ['2023-10-11 14:32:52 CEST x', 'local', '2023-10-11T14:32:52.000Z', 'a zone whose offset is unclear'],
    ['[10/Oct/2000:13:55:36 -0700] x', 'instant', '2000-10-10T20:55:36.000Z', 'an access log'],
    ['[1697034772.123] x', 'instant', '2023-10-11T14:32:52.123Z', 'seconds'],
    ['1697034772.123   25 10.0.0.1 TCP', 'instant', '2023-10-11T14:32:52.123Z', 'Squid'],
    ['time=2023-10-11T14:32:52.123Z level=info', 'instant', '2023-10-11T14:32:52.123Z', 'logfmt'],
    ['ts=1697034772.123 caller=x', 'instant', '2023-10-11T14:32:52.123Z', 'logfmt of go-kit'],
    ['t="2023-10-11 14:32:52" lvl=eror', 'local', '2023-10-11T14:32:52.000Z', 'logfmt, quoted'],
    ['11-Oct-2023 14:32:52.123 client @0x7f', 'local', '2023-10-11T14:32:52.123Z', 'BIND'],
    ['[11-Oct-2023 14:32:52 UTC] PHP Warning', 'instant', '2023-10-11T14:32:52.000Z', 'PHP'],
    ['[11/Oct/2023 14:32:52] "GET / HTTP/1.1"', 'local', '2023-10-11T14:32:52.000Z', 'Django'],
    ['ts=2026-07-06T01:05:46Z level=info', 'instant', '2026-07-06T01:05:46.000Z', 'logfmt of Loki'],
    [
      'logger=context userId=0 uname= t=2026-07-06T01:05:46.123+0000 level=info msg="a b"',
      'instant',
      '2026-07-06T01:05:46.123Z',
      'Grafana',
    ],
    ['level=info msg="a b" ts=2026-07-06T01:05:46Z x=', 'instant', '2026-07-06T01:05:46.000Z', 'logfmt'],
    [
      'date=2026-07-06 time=01:05:46 devname="a" eventtime=1783299946123456789 tz="+0200" srcip=1.1.1.1',
      'instant',
      '2026-07-06T01:05:46.123Z',
      'FortiGate',
    ],
    ['<189>date=2026-07-06 time=03:05:46 tz="+0200" x', 'instant', '2026-07-06T01:05:46.000Z', 'its zone'],
    ['date=2026-07-06 time=03:05:46 devname="a" x', 'local', '2026-07-06T03:05:46.000Z', 'no zone'],
    ['2015-10-07  8:25:38 1398 [Warning] Access', 'local', '2015-10-07T08:25:38.000Z', 'MySQL 5.7'],
    ['07/11/2022-10:29:01.860293  [**] [1:2', 'local', '2022-07-11T10:29:01.860Z', 'Suricata'],
    ['10/11-10:29:01.860293  [**] [1:2', 'yearless', '2023-10-11T10:29:01.860Z', 'Snort'],
    ['81.2.69.142:53332 [25/Feb/2019:16:19:48.143] http~', 'local', '2019-02-25T16:19:48.143Z', 'HAProxy'],
    ['web-1  | 2026-07-06 01:05:46 x', 'local', '2026-07-06T01:05:46.000Z', 'Docker Compose'],
    ['INFO[2026-07-06T01:05:46Z] x', 'instant', '2026-07-06T01:05:46.000Z', 'logrus'],
    ['81.2.69.142 - - [10/Oct/2000:13:55:36 -0700]', 'instant', '2000-10-10T20:55:36.000Z', 'access log'],
    ['2016-12-31T23:59:60Z x', 'instant', '2017-01-01T00:00:00.000Z', 'a leap second'],
  ])('%j is %s, %s: %s', (line, kind, instant) => expect(read(line)).toEqual([kind, instant]))

  it.each([
    ['Feb 30 01:00:00 web x', 'no such day'],
    ['2023-02-29 01:00:00 x', 'no such day'],
    ['Oct 11 24:00:00 web x', 'no such hour'],
    ['Oct 11 22:14:61 web x', 'no such second'],
    ['Okt 11 22:14:15 web x', 'another language'],
    ['Wed Oct 11 14:32:52 web x: a weekday without a year', 'no year'],
    ['[12345.678901] usb 1-1: new', 'seconds since the start'],
    ['[1697034772] x', 'seconds without a fraction could be a number'],
    ['16970347721.5 x', 'too many digits'],
    ['a user wrote [10/Oct/2000:13:55:36 -0700] there', 'not at the start'],
    ['INFO[0042] x 2026-07-06T01:05:46Z', 'seconds since the start'],
    ['07/31-10:29:61.8 x', 'no such second'],
    ['13/11/2022-10:29:01.8 x', 'no such month'],
    ['msg="t=2026-07-06T01:05:46Z" x', 'in a text'],
    ['192.0.2.1:80 x 2023', 'an address'],
    ['2023-10-11 x', 'a day alone'],
    ['Oct 11 22:14', 'no seconds'],
    ['0000-01-01 00:00:00 x', 'no such year'],
    ['11-Oct/2023 14:32:52 x', 'two separators'],
    ['31-Feb-2023 14:32:52 x', 'no such day'],
    ['11-Oct-2023 14:32 client', 'no seconds'],
    ['time=14:32:52 level=info x', 'a time without a day'],
    ['total=2023-10-11T14:32:52Z x', 'another key'],
    ['', 'nothing'],
    ['[', 'a bracket'],
    ['<34>', 'a priority alone'],
    ['<3456>Oct 11 22:14:15 a', 'no priority'],
  ])('is none in %j: %s', (line) => expect(read(line)).toEqual(['none', null]))

  it('has no instant without a year, if it is not known when the log was written', () => {
    expect(read('Oct 11 22:14:15 web x', NO_TIME)).toEqual(['yearless', null])
    expect(read('Feb 31 22:14:15 web x', NO_TIME)).toEqual(['none', null])
    expect(read('Oct 11 2023 22:14:15 web x', NO_TIME)[0]).toBe('local')
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
