// The figures of a report of a log, computed again from the lines with other code: regular expressions and `Resolver`. The log
// is a real one if it is there, otherwise one that is made here.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, describe, expect, it } from 'vitest'
import { accessLines } from '../../../scripts/bench/enrich/access-lines.ts'
import type { Summary } from '../../../src/cli/report/summary.ts'
import { isLookupFailure, Resolver } from '../../../src/index.ts'
import { makeFile, temporaryFolder } from '../../temporary.ts'
import { geofix } from '../enrich/command-line.ts'

const LINE =
  /^(?<ip>\S+) \S+ \S+ \[(?<day>\d\d)\/(?<month>\w{3})\/(?<year>\d{4}):(?<clock>[\d:]+) \+0000\] "(?:(?<method>\S+) (?<path>[^ ?]*)(?:\?\S*)? HTTP\/1\.\d|[^"]*)" (?<status>\d{3}) (?<bytes>\d+|-) "(?<referrer>[^"]*)" /

interface Event {
  readonly ip: string
  readonly time: number
  readonly method: string | null
  readonly path: string | null
  readonly status: string
  readonly bytes: number
  /** The host of the page that led here. */
  readonly referrer: string | null
  readonly country: { readonly code: string; readonly name: string }
  /** Code and name of the region, and the name of the city; `null` if unknown. */
  readonly region: string | null
  readonly regionName: string | null
  readonly city: string | null
  readonly hour: number
  /** The day of the local week: 0 is Monday. */
  readonly weekday: number
  readonly owner: string | null
}

/** Lines and distinct addresses of each value, the largest first. */
function tally<Key extends string | null>(events: readonly Event[], keyOf: (event: Event) => Key) {
  const sums = new Map<string, { lines: number; ips: Set<string> }>()
  for (const event of events) {
    const key = keyOf(event)
    if (key === null) continue
    const sum = sums.get(key) ?? { lines: 0, ips: new Set() }
    sum.lines++
    sum.ips.add(event.ip)
    sums.set(key, sum)
  }
  return new Map([...sums].map(([key, { lines, ips }]) => [key, { lines, addresses: ips.size }]))
}

/** What pages of the log load. */
const ASSET = /\.(css|js|map|json|png|jpe?g|gif|svg|ico|webp|mp[34]|ttf|woff2?)$/i

function networkOf(ip: string): string {
  return `${ip.split('.').slice(0, 3).join('.')}.0/24`
}

const texts = (rows: readonly Readonly<Record<string, unknown>>[], ...names: string[]): string[] =>
  rows.map((row) => names.map((name) => String(row[name])).join('|')).sort()

describe('the figures of a report of a log', () => {
  const folder = temporaryFolder()
  let summary: Summary
  let events: readonly Event[]

  beforeAll(async () => {
    const resolver = await Resolver.open(undefined, { asn: true })
    const { lines: all, areReal } = accessLines()
    // The log that is made has odd lines, and addresses that are in no country.
    const used = all.filter((line) => {
      const found = resolver.find(line.slice(0, line.indexOf(' ')))
      const isOdd = !/^[^"]+"[A-Z]+ \S+ HTTP[^"]+" [^"]+"[^"]*" "[^"]*"$/.test(line)
      return areReal || !(isOdd || isLookupFailure(found) || found.country.code === null)
    })
    const text = Buffer.from(`${used.join('\n')}\n`, 'latin1').toString()
    const log = makeFile(join(folder, 'access.log'), text)
    const json = join(folder, 'report.json')
    const args = ['enrich', log, '--only-failed', '--quiet', '--summary', `json=${json}`]
    expect(await geofix(args)).toEqual({ status: 0, out: '', err: '' })
    summary = JSON.parse(readFileSync(json, 'utf8'))
    const lines = text.split('\n').slice(0, -1)
    const matches = lines.map((line) => LINE.exec(line)?.groups ?? expect.fail(line))
    const records = resolver.lookupMany(matches.map(({ ip = '' }) => ip))
    events = matches.map(
      ({ ip = '', day, month, year, clock, method, path, status = '', bytes, referrer = '' }, index) => {
        const record = records[index]
        if (record === undefined || 'error' in record || record.country === null) return expect.fail(ip)
        const time = Date.parse(`${day} ${month} ${year} ${clock} UTC`)
        const zone = record.timezone?.id
        const timeZone = zone ?? 'UTC'
        const local = new Intl.DateTimeFormat('en', { hour: 'numeric', hourCycle: 'h23', timeZone })
        const localDay = new Intl.DateTimeFormat('en', { weekday: 'short', timeZone })
        const asn = resolver.asn(ip)
        return {
          ip,
          time,
          method: method ?? null,
          path: path ?? null,
          status,
          bytes: bytes === '-' ? 0 : Number(bytes),
          country: { code: String(record.country.code), name: String(record.country.name) },
          region: record.region?.code ?? null,
          regionName: record.region?.name ?? null,
          city: record.city,
          referrer: referrer.includes('://') ? (referrer.split(/[/?#]/)[2]?.toLowerCase() ?? null) : null,
          hour: zone === undefined ? -1 : Number(local.format(time)),
          weekday: ['Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat', 'Sun'].indexOf(localDay.format(time)),
          owner: asn === null ? null : `AS${asn.number}|${asn.organization}`,
        }
      },
    )
  }, 60_000)

  it('are those of all lines', () => {
    const times = events.map(({ time }) => time).sort((a, b) => a - b)
    expect(summary.lines).toEqual({
      all: events.length,
      blank: 0,
      located: events.length,
      not_located: {},
      excluded: 0,
      unreadable: 0,
    })
    expect(summary.addresses).toEqual({ distinct: new Set(events.map(({ ip }) => ip)).size, is_exact: true })
    expect([summary.first, summary.last]).toEqual(
      [times[0], times.at(-1)].map((time) => new Date(time ?? 0).toISOString()),
    )
    expect(summary.bytes_sent).toBe(events.reduce((sum, { bytes }) => sum + bytes, 0))
    const hours = Array.from(
      { length: 24 },
      (_, hour) => events.filter((event) => event.hour === hour).length,
    )
    expect(summary.local_hours).toEqual(hours)
    const week = Array.from(
      { length: 168 },
      (_, index) => events.filter(({ weekday, hour }) => hour !== -1 && weekday * 24 + hour === index).length,
    )
    expect(summary.local_week_hours).toEqual(week)
  })

  it('are the bytes of each country and page, the addresses of each day, and the errors of each hour', () => {
    const bytesOf = (all: readonly Event[]): number => all.reduce((sum, { bytes }) => sum + bytes, 0)
    const { countries, pages, assets, days, errors } = summary.tables
    for (const row of countries)
      expect(row.bytes).toBe(bytesOf(events.filter(({ country }) => country.code === row.code)))
    for (const row of [...pages, ...assets])
      expect(row.bytes).toBe(bytesOf(events.filter(({ path }) => path === row.path)))
    const at = (time: number, length: number): string => new Date(time).toISOString().slice(0, length)
    const dates = [...new Set(events.map(({ time }) => at(time, 10)))].sort()
    expect(days).toEqual(
      dates.map((date) => ({
        start: `${date}T00:00:00.000Z`,
        addresses: new Set(events.filter(({ time }) => at(time, 10) === date).map(({ ip }) => ip)).size,
      })),
    )
    for (const { start, ...kinds } of errors) {
      const inHour = events.filter(({ time }) => at(time, 13) === String(start).slice(0, 13))
      const of = (kind: string): number => inHour.filter(({ status }) => status.startsWith(kind)).length
      expect(kinds).toEqual({ '4xx': of('4'), '5xx': of('5') })
    }
    expect(errors.length).toBe(summary.tables.timeline.length)
  })

  const place = (...parts: (string | null)[]): string => parts.map(String).join('|')

  it.each<[table: keyof Summary['tables'], names: string[], keyOf: (event: Event) => string | null]>([
    ['countries', ['code', 'name'], ({ country: { code, name } }) => place(code, name)],
    [
      'regions',
      ['country', 'code', 'name'],
      ({ country, region, regionName }) =>
        regionName === null ? null : place(country.code, region, regionName),
    ],
    [
      'cities',
      ['country', 'region', 'name'],
      ({ country, regionName, city }) => (city === null ? null : place(country.code, regionName, city)),
    ],
  ])('are those of each place, with distinct addresses: %s', (table, names, keyOf) => {
    const expected = Array.from(
      tally(events, keyOf),
      ([key, { lines, addresses }]) => `${key}|${lines}|${addresses}`,
    )
    expect(texts(summary.tables[table], ...names, 'lines', 'addresses')).toEqual(expected.sort())
    expect(expected.length).toBeGreaterThan(80)
  })

  it.each<[table: keyof Summary['tables'], names: string[], keyOf: (event: Event) => string | null]>([
    ['addresses', ['ip'], ({ ip }) => ip],
    ['networks', ['network'], ({ ip }) => networkOf(ip)],
    ['owners', ['asn', 'organization'], ({ owner }) => owner],
    ['statuses', ['status'], ({ status }) => status],
    ['methods', ['method'], ({ method }) => method],
    ['pages', ['path'], ({ path }) => (path === null || ASSET.test(path) ? null : path)],
    ['referrers', ['host'], ({ referrer }) => referrer],
    ['not-found', ['path'], ({ path, status }) => (status === '404' ? path : null)],
  ])('are those of the largest, in order: %s', (table, names, keyOf) => {
    const expected = tally(events, keyOf)
    const rows = summary.tables[table]
    expect(rows.length).toBe(Math.min(250, expected.size))
    const counts = rows.map(({ lines }) => Number(lines))
    const largest = [...expected.values()].map(({ lines }) => lines).sort((a, b) => b - a)
    expect(counts).toEqual(largest.slice(0, rows.length))
    for (const row of rows) {
      const { lines, addresses } = expected.get(names.map((name) => String(row[name])).join('|')) ?? {}
      expect(row).toMatchObject({ lines, ...('addresses' in row && { addresses }) })
    }
  })

  it('are those of each hour, by the five largest countries', () => {
    const [first, last] = [Date.parse(summary.first ?? ''), Date.parse(summary.last ?? '')]
    const largest = [...tally(events, ({ country }) => country.name)]
      .sort(([, a], [, b]) => b.lines - a.lines)
      .slice(0, 5)
      .map(([name]) => name)
    const expected: Record<string, unknown>[] = []
    for (let start = first - (first % 3_600_000); start <= last; start += 3_600_000) {
      const inHour = events.filter(({ time }) => time >= start && time < start + 3_600_000)
      const counts = largest.map((name) => inHour.filter(({ country }) => country.name === name).length)
      const others = inHour.length - counts.reduce((sum, count) => sum + count, 0)
      const named = Object.fromEntries(largest.map((name, index) => [name, counts[index]]))
      expected.push({ start: new Date(start).toISOString(), ...named, others })
    }
    expect(summary.tables.timeline).toEqual(expected)
  })
})
