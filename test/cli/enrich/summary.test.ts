// The forms and the privacy of `geofix enrich --summary`.
import { existsSync, readFileSync } from 'node:fs'
import { describe, expect, it, vi } from 'vitest'
import { databaseOf } from '../../own-databases.ts'
import { geofix, workspace } from './command-line.ts'

const { folder, DB: database, at, file } = workspace()
const DB = ['--db', database]

const line = (ip: string, hour: number, target: string, status = 200): string =>
  `${ip} - - [01/Jul/2026:0${hour}:30:00 +0000] "GET ${target} HTTP/1.1" ${status} 512 "-" "curl"\n`

const LOG = file(
  'access.log',
  [
    line('81.2.69.142', 1, '/a?q=1'),
    line('81.2.69.142', 1, '/a?q=2'),
    line('81.2.69.7', 2, '/whois/203.0.113.9', 404),
    line('1.0.0.9', 2, '/=1+1', 404),
    line('10.0.0.1', 3, '/a'),
    'nonsense from 198.51.100.7\n',
    'nonsense from 198.51.100.7\n',
    'other nonsense\n',
  ].join(''),
)
const ADDRESSES = /81\.2\.69\.|\b1\.0\.0\.|203\.0\.113|198\.51\.100|\b10\.0\.0\.1\b/

/** Runs the command, and reads all summaries that it writes. */
async function summaries(name: string, ...args: string[]): Promise<Record<string, string>> {
  const forms = ['html', 'json', 'geojson'].map((form) => [form, at(`${name}.${form}`)] as const)
  const outputs = forms.flatMap(([form, path]) => ['--summary', `${form}=${path}`])
  const run = await geofix(['enrich', LOG, '-o', at(`${name}.out`), '--quiet', ...DB, ...outputs, ...args])
  expect(run).toEqual({ status: 0, out: '', err: '' })
  return Object.fromEntries(forms.map(([form, path]) => [form, readFileSync(path, 'utf8')]))
}

/** Runs the command. @returns its summary as JSON */
async function summaryOf(...args: string[]) {
  const run = await geofix([
    'enrich',
    '--only-failed',
    '--quiet',
    '--summary',
    `json=${at('one.json')}`,
    ...args,
  ])
  expect(run.status).toBe(0)
  return JSON.parse(readFileSync(at('one.json'), 'utf8'))
}

describe('the summaries of geofix enrich', () => {
  it('have the same figures in each form', async () => {
    const all = await summaries('all', '--title', 'July')
    const { lines, addresses, tables, bytes_sent } = JSON.parse(all.json ?? '')
    expect(lines).toEqual({
      all: 8,
      blank: 0,
      located: 4,
      not_located: { private: 1 },
      excluded: 0,
      unreadable: 3,
    })
    expect(addresses).toEqual({ distinct: 4, is_exact: true })
    expect(bytes_sent).toBe(5 * 512)
    expect(tables.countries).toEqual([
      { code: 'GB', name: 'United Kingdom', lines: 3, addresses: 2, bytes: 1536 },
      { code: 'AU', name: 'Australia', lines: 1, addresses: 1, bytes: 512 },
    ])
    expect(tables.pages[0]).toEqual({ path: '/a', lines: 3, bytes: 1536 })
    expect(tables['not-found']).toEqual([
      { path: '/=1+1', lines: 1 },
      { path: '/whois/203.0.113.9', lines: 1 },
    ])
    const { features } = JSON.parse(all.geojson ?? '')
    expect(features[0]).toEqual({
      type: 'Feature',
      geometry: { type: 'Point', coordinates: [-0.5, 51.5] },
      properties: { country: 'GB', region: 'England', name: 'London', lines: 3, addresses: 2 },
    })
    expect(all.html).toContain('<title>\u2068July\u2069 – Geofix report</title>')
    expect(all.html).toContain('2 lines, the first is 6')
    expect(all.html).toContain('nonsense from 198.51.100.7')
    expect(all.html).not.toContain(folder)
  })

  it.each([
    ['--no-addresses', []],
    ['--mask', ['24,48']],
    ['--drop-address', []],
    ['--pseudonym', [at('key'), '--new-key']],
  ])('name no address with %s', async (flag, values) => {
    const all = await summaries(`private${flag}`, flag, ...values)
    for (const [form, text] of Object.entries(all))
      expect([form, text.match(ADDRESSES)]).toEqual([form, null])
    const { addresses, tables } = JSON.parse(all.json ?? '')
    expect(addresses.distinct).toBe(4)
    expect([tables.addresses, tables.networks, tables.owners]).toEqual([[], [], []])
    expect(tables['not-found'].map(({ path }: { path: string }) => path)).toContain('/whois/-')
    expect(all.html).toContain('3 lines, the first is 6')
  })

  it('are the same with threads', async () => {
    const lines = Array.from({ length: 40_000 }, (_, index) =>
      line(`${['81.2.69', '1.0.0', '10.0.0'][index % 3]}.${index % 250}`, index % 10, `/${index % 99}`),
    )
    const args = [file('many.log', lines.join('')), ...DB, '--threads']
    const first = await summaryOf(...args, '1')
    expect({ ...(await summaryOf(...args, '2')), generated: null }).toEqual({ ...first, generated: null })
  }, 60_000)

  it('name the hosts of referrers as the log has them', async () => {
    const referrers = [
      ['http://Example.COM:8080/a?b', 'example.com:8080'],
      ['https://user@a.example#c', 'a.example'],
      // A name that the server has escaped byte by byte.
      [String.raw`http://\xe4\xe5.\xf0\xf4/`, String.raw`\xe4\xe5.\xf0\xf4`],
      ['http://[2001:db8::1]:80/', '[2001:db8::1]:80'],
      ['-', null],
      ['a.example/', null],
      ['https://', null],
    ] as const
    const lines = referrers.map(([referrer]) => line('81.2.69.1', 1, '/').replace('"-"', `"${referrer}"`))
    const { tables } = await summaryOf(file('referrers.log', lines.join('')), ...DB)
    expect(tables.referrers.map(({ host }: { host: string }) => host).sort()).toEqual(
      referrers.flatMap(([, host]) => host ?? []).sort(),
    )
  })

  it('name all countries of a network, in whatever order its addresses come', async () => {
    const networks = {
      '1.2.3.0/25': { country: { iso_code: 'DE' } },
      '1.2.3.128/25': { country: { iso_code: 'FR' } },
    }
    const two = file('two-countries.mmdb', databaseOf(networks))
    const lines = ['1.2.3.4', '1.2.3.200', '1.2.3.201'].map((ip) => line(ip, 1, '/'))
    for (const order of [lines, lines.toReversed()]) {
      const { tables } = await summaryOf(file('network.log', order.join('')), '--db', two)
      expect(tables.networks).toEqual([{ network: '1.2.3.0/24', country: 'FR, DE', lines: 3, addresses: 3 }])
    }
  })

  it.each([
    ['2026/07/01 09:15:00 [error] 1#1: *1 failed, client: 81.2.69.142, server: a', '', []],
    ['81.2.69.142 - - [01/Jul/2026:09:15:00 +0000] "GET / HTTP/1.1" 200 1 "-" "-"', 'Z', [10]],
  ])('have the times of %s, in whatever time zone Geofix runs', async (text, offset, hours) => {
    const log = file('times.log', `${text}\n`)
    for (const zone of ['UTC', 'America/New_York', 'Asia/Kolkata', 'Pacific/Auckland']) {
      vi.stubEnv('TZ', zone)
      // ICU calls Kolkata Calcutta.
      expect(Intl.DateTimeFormat().resolvedOptions().timeZone).toMatch(zone.replace('Kolkata', ''))
      const { first, tables, local_hours } = await summaryOf(log, ...DB)
      expect(first).toBe(`2026-07-01T09:15:00.000${offset}`)
      expect(tables.timeline[0].start).toBe(`2026-07-01T09:00:00.000${offset}`)
      expect(tables.days[0].start).toBe(`2026-07-01T00:00:00.000${offset}`)
      expect(local_hours.flatMap((count: number, hour: number) => (count > 0 ? [hour] : []))).toEqual(hours)
    }
  })

  it.each([
    [1, 'Z', '2026-07-01T12:00:00.000', 4],
    [2, 'Z', '2026-07-01T12:00:00.000', 3],
    [3, '', '2026-07-09T14:00:00.000', 3],
  ])('omit the times of the rarer kind: %i of 5 have no offset', async (locals, end, time, shown) => {
    const times = ['2026-07-09 14:00:00', '2026-07-01T14:00:00+02:00']
    const lines = [0, 1, 2, 3, 4].map((index) => `${times[index < locals ? 0 : 1]} app: from 81.2.69.142`)
    const log = file('mixed.log', `${[...lines, ...lines.toReversed()].join('\n')}\n`)
    const { first, last, without_offset, omitted_times, tables } = await summaryOf(log, ...DB)
    expect([first, last]).toEqual([time + end, time + end])
    expect([without_offset, omitted_times]).toEqual([2 * locals, 10 - 2 * shown])
    expect(tables.timeline).toEqual([{ start: time + end, 'United Kingdom': 2 * shown, others: 0 }])
    expect(tables.days).toEqual([{ start: `${time.slice(0, 10)}T00:00:00.000${end}`, addresses: 1 }])
  })

  it('leave nothing when the run fails', async () => {
    const path = at('failed.json')
    const run = await geofix(['enrich', LOG, ...DB, '--on-bad-line', 'fail', '--summary', `json=${path}`])
    expect(run.status).toBe(1)
    expect(existsSync(path)).toBe(false)
  })

  it('count the requests in objects and tables, also if the second input has none', async () => {
    const request = { remote_ip: '81.2.69.142', method: 'GET', uri: '/a?b' }
    const lines = `${JSON.stringify({ ts: 1782907200, request, status: 404, size: 5 })}\n`.repeat(3)
    const second = file('second.ndjson', '{"request":{"remote_ip":"1.0.0.9"},"status":"started"}\n')
    const { tables, bytes_sent, addresses } = await summaryOf(file('first.ndjson', lines), second, ...DB)
    expect(bytes_sent).toBe(15)
    expect(addresses.distinct).toBe(2)
    expect(tables.statuses).toEqual([{ status: '404', lines: 3 }])
    expect(tables.methods).toEqual([{ method: 'GET', lines: 3 }])
    expect(tables['not-found']).toEqual([{ path: '/a', lines: 3 }])
  })
})
