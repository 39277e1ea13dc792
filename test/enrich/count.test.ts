import fc from 'fast-check'
import { beforeAll, describe, expect, it } from 'vitest'
import { type CountRunOptions, count } from '../../src/enrich.ts'
import { Resolver as FileResolver } from '../../src/index.ts'
import type { Resolver } from '../../src/resolver.ts'
import { MmdbWriter } from '../../src/writer.ts'
import { located, objectsIn, openWorld, PLACED, UNPLACED, utf8 } from './world.ts'

let resolver: Resolver
beforeAll(async () => {
  resolver = await openWorld()
})

async function* chunksOf(text: string, size = 1000): AsyncGenerator<Uint8Array> {
  const bytes = utf8(text)
  for (let at = 0; at < bytes.length; at += size) yield bytes.slice(at, at + size)
}

type Options = Omit<CountRunOptions, 'resolver'>
const counted = (text: string, options: Options) =>
  count(chunksOf(text), { resolver, force: true, ...options })
const rowsOf = async (text: string, options: Options) => (await counted(text, options)).rows

const line = (ip: string, time: string, request: string, status = 200): string =>
  `${ip} - - [${time}] "${request}" ${status} 512 "-" "curl"\n`

const LOG = [
  line('81.2.69.142', '01/Jul/2026:12:00:00 +0000', 'GET / HTTP/1.1'),
  line('81.2.69.1', '01/Jul/2026:12:59:59 +0000', 'GET /a HTTP/1.1'),
  line('81.2.69.142', '02/Jul/2026:00:30:00 +0200', 'POST /a HTTP/1.1', 404),
  line('89.160.20.112', '01/Jul/2026:13:00:00 +0000', 'GET / HTTP/1.1'),
  line('10.0.0.1', '01/Jul/2026:13:00:00 +0000', 'GET / HTTP/1.1'),
  line('2001:4860::1', '30/Jun/2026:23:59:59 +0000', '\\x16\\x03', 400),
].join('')

describe('count', () => {
  it('counts each address of lists as itself, beside addresses that are texts', async () => {
    const hops = [
      '2001:4860::1',
      '81.2.69.142',
      '2001:4860::2',
      '81.2.69.142',
      '::ffff:81.2.69.142, 10.1.1.1',
    ]
    const log = [...hops, '89.160.20.112, 10.1.1.1', '2001:4860::1'].map(
      (xff) => `${JSON.stringify({ xff })}\n`,
    )
    const options = { format: 'ndjson', field: 'xff', trustedProxies: ['10.0.0.0/8'], by: 'ip' } as const
    expect(await rowsOf(log.join('').repeat(3), options)).toEqual([
      { ip: '81.2.69.142', count: 9 },
      { ip: '2001:4860::1', count: 6 },
      { ip: '2001:4860::2', count: 3 },
      { ip: '89.160.20.112', count: 3 },
    ])
  })

  it('tells regions with one name in a language apart, by their codes or their other names', async () => {
    const writer = new MmdbWriter({ databaseType: 'Regions-City', languages: ['en', 'ru'] })
    for (const [network, code, en] of [
      ['81.2.0.0/24', 'WA', 'Washington'],
      ['81.2.1.0/24', 'DC', 'District of Columbia'],
      ['81.2.2.0/24', undefined, 'Washington'],
      ['81.2.3.0/24', undefined, 'District of Columbia'],
    ] as const)
      writer.insert(network, {
        country: { iso_code: 'US', names: { en: 'United States' } },
        subdivisions: [{ ...(code !== undefined && { iso_code: code }), names: { en, ru: 'Вашингтон' } }],
        city: { names: { en: 'Washington' } },
      })
    const regions = await FileResolver.open(writer.toBytes())
    const list = [0, 1, 2, 3, 3].map((net) => `81.2.${net}.142\n`).join('')
    for (const by of ['region', 'city']) {
      const { rows } = await count(chunksOf(list, 9), { resolver: regions, by, locale: 'ru' })
      expect(
        rows.map(({ region_code, region_name, count: lines }) => [region_code, region_name, lines]),
      ).toEqual([
        [null, 'Вашингтон', 2],
        ['US-DC', 'Вашингтон', 1],
        ['US-WA', 'Вашингтон', 1],
        [null, 'Вашингтон', 1],
      ])
    }
  })

  it('has the row of lines without a value last, also of several keys and of times', async () => {
    const log = `${LOG}${line('10.0.0.1', '01/Jul/2026:13:00:00 +0000', 'GET / HTTP/1.1').repeat(9)}`
    for (const by of ['country', 'city', 'country,hour']) {
      const rows = await rowsOf(log, { by })
      const unknown = rows.findIndex(({ country }) => country === null)
      expect(unknown).toBe(rows.length - 1)
      expect(rows.at(-1)?.count).toBe(10)
      expect((await rowsOf(log, { by, top: 1 }))[0]?.country).toBe('GB')
    }
    // Of the reason, a missing value says that lines have a location.
    expect((await rowsOf(LOG, { by: 'reason' }))[0]).toEqual({ reason: null, count: 5 })
  })

  it('counts the parts of requests of load balancers, whose target is a server', async () => {
    const request = (client: string, text: string): string =>
      `2026-07-01T12:00:00.123456Z web ${client}:5123 10.0.0.1:80 0.1 0.1 0.1 200 200 0 57 "${text}" "curl/8" - -\n`
    const classic =
      request('81.2.69.142', 'GET http://a.example:80/x HTTP/1.1') +
      request('81.2.69.1', '- http://a.example:80- ')
    expect(await rowsOf(classic, { by: ['method', 'target'] })).toEqual([
      { method: 'GET', target: 'http://a.example:80/x', count: 1 },
      { method: null, target: null, count: 1 },
    ])
    const application = `h2 ${classic.split(' - -')[0]} - - arn:aws:1\n`.replaceAll(' web ', ' app/web/1 ')
    expect(await rowsOf(application, { by: ['request_target', 'target'] })).toEqual([
      { request_target: 'http://a.example:80/x', target: '10.0.0.1:80', count: 1 },
    ])
  })

  it('counts the records once that the run has checked for addresses', async () => {
    const { rows, counts } = await count(chunksOf(LOG), { resolver, by: 'status' })
    expect(rows.map((row) => row.count)).toEqual([4, 1, 1])
    expect(counts).toMatchObject({ lines: 6, resolved: 5, failed: { private: 1 } })
  })

  it.each<[title: string, options: Options, ...rows: readonly string[]]>([
    ['names in a language', { by: 'country', locale: 'de', top: 1 }, 'GB,Vereinigtes Königreich,3'],
    [
      'a city has its country and region',
      { by: 'city' },
      ...['GB,GB-ENG,England,London,3', 'SE,-,-,Linköping, "Östra"\tStaden,1', 'US,-,-,-,1', '-,-,-,-,1'],
    ],
    ['a region has its country', { by: 'region', top: 1 }, 'GB,GB-ENG,England,3'],
    ['columns come once', { by: 'country,city', top: 1 }, 'GB,United Kingdom,GB-ENG,England,London,3'],
    ['hours in UTC, in their order', { by: 'hour' }, '12,2', '13,2', '22,1', '23,1'],
    ['hours in a time zone', { by: 'hour', timeZone: 'Europe/Berlin' }, '0,1', '1,1', '14,2', '15,2'],
    ['days', { by: 'day' }, '2026-06-30,1', '2026-07-01,5'],
    ['days in a time zone', { by: 'day', timeZone: 'Europe/Berlin' }, '2026-07-01,5', '2026-07-02,1'],
    ['weekdays from Monday', { by: 'weekday' }, 'Tuesday,1', 'Wednesday,5'],
    ['months', { by: 'month' }, '2026-06,1', '2026-07,5'],
    ['hours at the place', { by: 'local_hour' }, '13,2', '15,1', '23,1', '-,2'],
    ['the busiest times, in their order', { by: 'hour', top: 2 }, '12,2', '13,2'],
    [
      'one country together',
      { by: 'hour,country', top: 1 },
      '12,GB,United Kingdom,2',
      '22,GB,United Kingdom,1',
    ],
    ['reasons', { by: 'reason' }, '-,5', 'private,1'],
    ['fields of the log', { by: 'status,method' }, '200,GET,4', '400,-,1', '404,POST,1'],
    [
      'networks',
      { by: 'network' },
      '81.2.69.0/24,3',
      '10.0.0.0/24,1',
      '2001:4860::/48,1',
      '89.160.20.0/24,1',
    ],
    ['networks of other sizes', { by: 'network/8/20', top: 2 }, '81.0.0.0/8,3', '10.0.0.0/8,1'],
    ['networks of IPv6', { by: 'network/20', onlyCountries: ['US'] }, '2001:4860::/48,1'],
    ['addresses', { by: 'ip', top: 2 }, '81.2.69.142,2', '10.0.0.1,1'],
    ['distinct addresses', { by: 'country', unique: true, top: 1 }, 'GB,United Kingdom,3,2'],
    ['only some countries', { by: 'reason', onlyCountries: ['gb', 'SE'] }, '-,4'],
    ['not some countries', { by: 'reason', notCountries: ['GB', 'SE'] }, 'private,1', '-,1'],
    ['a field with the name of a key', { by: '/ip', top: 1 }, '81.2.69.142,2'],
  ])('%s', async (_, options, ...rows) => {
    const found = await rowsOf(LOG, options)
    expect(
      found.map((row) =>
        Object.values(row)
          .map((value) => value ?? '-')
          .join(','),
      ),
    ).toEqual(rows)
  })

  it('counts members of JSON, strings without their escapes', async () => {
    const lines = [
      '{"ip":"81.2.69.1","user":{"plan":"a\\u0062"}}',
      '{"ip":"81.2.69.1","user":{"plan":"ab"}}',
      '{"ip":"-","user":{"plan":1.50}}',
      '{"ip":"10.0.0.1","user":{"plan":null}}',
    ]
    for (const by of ['/user/plan', 'user.plan']) {
      expect(await rowsOf(lines.join('\n'), { by: [by] })).toEqual([
        { [by]: 'ab', count: 2 },
        { [by]: '1.50', count: 1 },
        { [by]: null, count: 1 },
      ])
    }
  })

  it('counts columns of tables, quoted or not', async () => {
    const table = 'ip,a b,count\n81.2.69.1,"x ""y""",1\n81.2.69.1,x,2\n81.2.69.1,"x",2\n81.2.69.1,,2\n'
    expect(await rowsOf(table, { by: ['a b', '/count'] })).toEqual([
      { 'a b': 'x', '/count': '2', count: 2 },
      { 'a b': 'x "y"', '/count': '1', count: 1 },
      { 'a b': null, '/count': '2', count: 1 },
    ])
    const names = 'ip,constructor,country_name\n81.2.69.1,Ferrari,Mars\n81.2.69.1,McLaren,Mars\n'
    expect(await rowsOf(names, { by: 'constructor,country_name' })).toEqual([
      { constructor: 'Ferrari', country_name: 'Mars', count: 1 },
      { constructor: 'McLaren', country_name: 'Mars', count: 1 },
    ])
  })

  it('counts the lines of W3C logs whose header changes, and what Docker encloses', async () => {
    const w3c =
      '#Fields: date time c-ip sc-status\n2026-07-01 12:00:00 81.2.69.1 200\n#Fields: sc-status c-ip date time\n404 81.2.69.1 2026-07-01 13:00:00\n- 81.2.69.1 2026-07-01 13:00:00\n'
    expect(await rowsOf(w3c, { by: 'sc-status,hour' })).toEqual([
      { 'sc-status': '200', hour: 12, count: 1 },
      { 'sc-status': '404', hour: 13, count: 1 },
      { 'sc-status': null, hour: 13, count: 1 },
    ])
    const docker = LOG.trimEnd()
      .split('\n')
      .map(
        (text) => `${JSON.stringify({ log: `${text}\n`, stream: 'stdout', time: '2026-07-01T10:00:00Z' })}\n`,
      )
    expect(await rowsOf(docker.join(''), { by: 'status' })).toEqual([
      { status: '200', count: 4 },
      { status: '400', count: 1 },
      { status: '404', count: 1 },
    ])
  })

  it('counts the parts of a request of a log format', async () => {
    const lines =
      '81.2.69.1 [01/Jul/2026:12:00:00 +0000] "GET /a b HTTP/1.1" 200\n81.2.69.1 [01/Jul/2026:12:00:00 +0000] "-" 400\n'
    const options = {
      logFormat: '$remote_addr [$time_local] "$request" $status',
      by: 'method,target,protocol',
    }
    expect((await rowsOf(lines, options)).map((row) => Object.values(row))).toEqual([
      ['GET', '/a b', 'HTTP/1.1', 1],
      [null, null, null, 1],
    ])
  })

  it('says which fields there are if a key is unknown', async () => {
    await expect(counted(LOG, { by: 'statsu' })).rejects.toMatchObject({
      code: 'ENRICH_FIELD_UNKNOWN',
      message: expect.stringMatching(
        /^there is no key "statsu": did you mean status\? The keys are country, .*"status"/,
      ),
    })
    await expect(counted('81.2.69.1\n', { by: 'status' })).rejects.toThrow(/its lines have no fields/)
  })

  it('notes what is not as it seems', async () => {
    const { notes, other, rows } = await counted(LOG, { by: 'ip', maxGroups: 2 })
    expect(rows).toEqual([
      { ip: '81.2.69.142', count: 2 },
      { ip: '81.2.69.1', count: 1 },
    ])
    expect(other).toBe(3)
    expect(notes.at(-1)).toMatch(/^3 lines are of other groups than the first 2/)
    const json = await counted('{"ip":"81.2.69.1"}\n', { by: '/nothing' })
    expect(json.notes.at(-1)).toBe('no line has a value in the field /nothing')
    const owner = await counted('{"ip":"81.2.69.1"}\n', { by: 'owner' })
    expect(owner.notes.at(-1)).toBe('no line has a value in the field owner: did you mean the key asn?')
    const nested = '{"request":{"client_ip":"81.2.69.1","method":"GET"}}\n'
    const outer = await counted(nested, { by: 'method' })
    expect(outer.notes.at(-1)).toBe(
      'no line has a value in the field method; within another member of JSON it is written as parent.method',
    )
    const inner = await counted(nested, { by: 'request.method' })
    expect(inner.rows).toEqual([{ 'request.method': 'GET', count: 1 }])
    expect(inner.notes.join()).not.toMatch(/no line has a value/)
    const line = 'Jul  1 12:00:00 host sshd[1]: Failed password for root from 81.2.69.1 port 1 ssh2\n'
    const at = new Date('2026-07-02')
    const syslog = await counted(line, { by: 'hour,local_hour', at })
    expect(syslog.rows).toEqual([{ hour: 12, local_hour: null, count: 1 }])
    expect(syslog.notes.at(-1)).toMatch(/^the times of 1 lines have no offset from UTC/)
    const local = await counted(line, { by: 'local_hour', at })
    expect(local.notes.join()).not.toMatch(/as the log has them/)
  })

  it.each<[options: Options, message: RegExp]>([
    [{ by: [] }, /"by" must be some of country/],
    [{ by: 'country,' }, /"by" must be some of country/],
    [{ by: 'country,country' }, /names a key twice/],
    [{ by: 'count' }, /: leave it out, or name a field of the log as "\/count"/],
    [{ by: 'region_name,city' }, /: leave it out, or name a field of the log as "\/region_name"/],
    [{ by: 'network/0' }, /1 to 32 bits/],
    [{ by: 'network/129' }, /1 to 32 bits/],
    [{ by: 'network/48/24' }, /1 to 32 bits/],
    [{ by: 'hour', timeZone: 'Berlin' }, /IANA time zone/],
    [{ by: 'hour', maxGroups: 0 }, /"maxGroups" must be a whole number/],
    [{ by: 'hour', top: 0 }, /"top" must be a whole number/],
    [{ by: 'hour', onlyCountries: ['UK'] }, /"UK" is not the ISO 3166-1 code: write GB/],
    [{ by: 'hour', onlyCountries: ['XX'] }, /"XX" is not an ISO 3166-1 alpha-2 code/],
    [{ by: 'hour', onlyCountries: ['DE'], notCountries: ['FR'] }, /exclude each other/],
  ])('refuses %o', async (options, message) => {
    await expect(counted(LOG, options)).rejects.toThrow(message)
  })

  it('refuses an option that it does not have', async () => {
    // @ts-expect-error: a misspelled option
    await expect(counted(LOG, { by: 'hour', timezone: 'Europe/Berlin' })).rejects.toThrow(
      /did you mean "timeZone"/,
    )
  })

  it('counts what enrich writes', async () => {
    const address = fc.constantFrom(...PLACED, ...Object.keys(UNPLACED).filter((text) => /^\S+$/.test(text)))
    const time = fc.date({ min: new Date('2026-03-20'), max: new Date('2026-04-05'), noInvalidDate: true })
    const entry = fc.tuple(
      address,
      time,
      fc.constantFrom('GET / HTTP/1.1', 'PUT /x HTTP/2', '-', 'junk'),
      fc.constantFrom(200, 404),
    )
    const stampOf = (date: Date): string => {
      const [, day, month, year, clock] = /, (\d\d) (\w+) (\d+) (\S+)/.exec(date.toUTCString()) ?? []
      return `${day}/${month}/${year}:${clock} +0000`
    }
    await fc.assert(
      fc.asyncProperty(fc.array(entry, { minLength: 1, maxLength: 60 }), async (entries) => {
        const text = entries
          .map(([ip, at, request, status]) => line(ip, stampOf(at), request, status))
          .join('')
        const expected = new Map<string, number>()
        const addresses = new Map<string, Set<unknown>>()
        for (const object of objectsIn(located(text, { force: true, to: 'ndjson' }).output)) {
          // biome-ignore lint/suspicious/noExplicitAny: the records of JSON.parse
          const { location, time, method, status } = object as any
          const zone = location?.timezone.offset
          const local =
            zone == null
              ? null
              : new Date(Date.parse(time) + Date.parse(`1970-01-01T00:00:00${zone}`) * -1).getUTCHours()
          const key = JSON.stringify([
            location?.country.code ?? null,
            location?.city ?? null,
            location?.timezone.id ?? null,
            time.slice(0, 10),
            new Date(time).getUTCHours(),
            local,
            method,
            String(status),
          ])
          expected.set(key, (expected.get(key) ?? 0) + 1)
          if (location !== null) addresses.set(key, (addresses.get(key) ?? new Set()).add(location.ip))
        }
        const rows = await rowsOf(text, {
          by: ['country', 'city', 'timezone', 'day', 'hour', 'local_hour', 'method', 'status'],
          unique: true,
        })
        const found = new Map<string, number>()
        for (const row of rows) {
          const { country, city, timezone, day, hour, local_hour, method, status, count: lines, unique } = row
          const key = JSON.stringify([country, city, timezone, day, hour, local_hour, method, status])
          found.set(key, (found.get(key) ?? 0) + lines)
          if (country !== null) expect([key, unique]).toEqual([key, addresses.get(key)?.size])
        }
        expect(found).toEqual(expected)
      }),
      { numRuns: 30 },
    )
  })
})
