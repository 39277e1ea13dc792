import { existsSync, linkSync, readFileSync } from 'node:fs'
import { asyncBufferFromFile, parquetMetadataAsync, parquetReadObjects } from 'hyparquet'
import { describe, expect, it } from 'vitest'
import { NetworkRows } from '../../../src/cli/export/network-rows.ts'
import { columnsTemplate } from '../../../src/enrich/writing/column-templates.ts'
import { Resolver } from '../../../src/index.ts'
import { BORROW } from '../../../src/location/database-set.ts'
import { localeOf } from '../../../src/location/locale.ts'
import { networkChoice } from '../../../src/location/located-networks.ts'
import { ASN_DATABASE } from '../../http/service.ts'
import { databaseOf } from '../../own-databases.ts'
import { failure, geofix, valuesIn, workspace } from '../enrich/command-line.ts'

const { DB: database, at, file } = workspace()
const DB = ['--db', database]
const ASN_DB = file('asn.mmdb', ASN_DATABASE)

const run = async (...args: string[]): Promise<string[]> => {
  const { status, out, err } = await geofix(['export', ...DB, ...args])
  expect([status, err]).toEqual([0, expect.stringMatching(/^geofix: standard output: \d rows?, /)])
  return out.split(/\r?\n/).slice(0, -1)
}

describe('geofix export', () => {
  it('writes a row for each network, IPv4 first, with the columns of a location', async () => {
    expect(await run()).toEqual([
      'network,country_code,country_name,region_code,region_name,city,postal_code,latitude,longitude,timezone_id',
      '1.0.0.0/8,AU,Australia,,,Sydney,,-33.5,151.25,Australia/Sydney',
      '81.2.69.0/24,GB,United Kingdom,GB-ENG,England,London,,51.5,-0.5,Europe/London',
      '2001:4860::/32,US,United States,,,,,,,',
    ])
  })

  it.each([
    ['cidr', ['network'], ['1.0.0.0/8', '81.2.69.0/24', '2001:4860::/32']],
    [
      'range',
      ['start_ip', 'end_ip'],
      [
        '1.0.0.0,1.255.255.255',
        '81.2.69.0,81.2.69.255',
        '2001:4860::,2001:4860:ffff:ffff:ffff:ffff:ffff:ffff',
      ],
    ],
    [
      'integers',
      ['start_integer', 'end_integer'],
      [
        '16777216,33554431',
        '1359103232,1359103487',
        '42541956101370907050197289607612071936,42541956180599069564461627201156022271',
      ],
    ],
  ])('says addresses as %s, in CSV, NDJSON and Parquet', async (as, columns, addresses) => {
    const rows = addresses.map((each, index) => `${each},${['AU', 'GB', 'US'][index]}`)
    const options = ['--as', as, '--fields', 'country_code']
    expect(await run(...options)).toEqual([`${columns.join(',')},country_code`, ...rows])
    const objects = rows.map((row) => {
      const cells = row.split(',')
      return Object.fromEntries([...columns, 'country_code'].map((name, index) => [name, cells[index]]))
    })
    expect(valuesIn((await run(...options, '--to', 'ndjson')).join('\n'))).toEqual(objects)
    await geofix(['export', ...DB, ...options, '-o', at(`${as}.parquet`)])
    const parquet = await asyncBufferFromFile(at(`${as}.parquet`))
    const { row_groups } = await parquetMetadataAsync(parquet)
    const { min_value, max_value } = row_groups[0]?.columns.at(-1)?.meta_data?.statistics ?? {}
    expect([min_value, max_value]).toEqual(['AU', 'US'])
    const found = await parquetReadObjects({ file: parquet, utf8: false })
    expect(found.map(({ country_code }) => Buffer.from(country_code).toString())).toEqual(['AU', 'GB', 'US'])
    const textOf = (bytes: Uint8Array): string =>
      as === 'integers' ? integerOf(bytes) : Buffer.from(bytes).toString()
    expect(found.map((row) => columns.map((name) => textOf(row[name])).join(','))).toEqual(addresses)
  })

  it.each([
    [[], ['00000000000000000000ffff01000000', '20014860000000000000000000000000']],
    [['--ipv6-only'], ['20014860000000000000000000000000', '20014860000000000000000000000000']],
  ])('says the least and the largest address: %j', async (options, expected) => {
    const path = at('statistics.parquet')
    await geofix(['export', ...DB, ...options, '--as', 'integers', '-o', path])
    const { row_groups } = await parquetMetadataAsync(await asyncBufferFromFile(path))
    const hexOf = (value: unknown) => value instanceof Uint8Array && Buffer.from(value).toString('hex')
    const { min_value, max_value } = row_groups[0]?.columns[0]?.meta_data?.statistics ?? {}
    expect([min_value, max_value].map(hexOf)).toEqual(expected)
  })

  it('writes IPv4 integers as numbers where there is nothing else', async () => {
    const options = ['--as', 'integers', '--fields', 'city', '--ipv4-only']
    expect(valuesIn((await run(...options, '--to', 'ndjson')).join('\n'))).toEqual([
      { start_integer: 16777216, end_integer: 33554431, city: 'Sydney' },
      { start_integer: 1359103232, end_integer: 1359103487, city: 'London' },
    ])
    await geofix(['export', ...DB, ...options, '-o', at('ipv4.parquet')])
    expect(await parquetReadObjects({ file: await asyncBufferFromFile(at('ipv4.parquet')) })).toEqual([
      { start_integer: 16777216n, end_integer: 33554431n, city: 'Sydney' },
      { start_integer: 1359103232n, end_integer: 1359103487n, city: 'London' },
    ])
  })

  it('makes one row of neighbours with the same values, but not of networks or families', async () => {
    const recordOf = (iso_code: string, en: string) => ({ country: { iso_code }, city: { names: { en } } })
    const networks = {
      '1.0.0.0/24': recordOf('AU', 'BB'),
      '1.0.1.0/24': recordOf('AU', 'B'),
      '1.0.2.0/24': recordOf('NZ', 'C'),
      '1.0.4.0/24': recordOf('AU', 'D'),
    }
    const neighbours = file('neighbours.mmdb', databaseOf(networks))
    const rows = async (...args: string[]): Promise<string> =>
      (await geofix(['export', '--db', neighbours, '--fields', 'country_code', ...args])).out
    expect(await rows('--as', 'range')).toBe(
      'start_ip,end_ip,country_code\r\n1.0.0.0,1.0.1.255,AU\r\n1.0.2.0,1.0.2.255,NZ\r\n1.0.4.0,1.0.4.255,AU\r\n',
    )
    expect((await rows()).split('\r\n')).toHaveLength(6)
    // A name that begins another is another.
    const { out } = await geofix(['export', '--db', neighbours, '--fields', 'city', '--as', 'range'])
    expect(out.split('\r\n')).toHaveLength(6)
  })

  it('takes what is asked for, and names the countries without a network', async () => {
    const { out, err } = await geofix(['export', ...DB, '--fields', 'city', '--only-country', 'AU,NZ,US'])
    expect([out, err]).toEqual([
      'network,city\r\n1.0.0.0/8,Sydney\r\n',
      'geofix: standard output: 1 row, 32 bytes; no network is in NZ\n',
    ])
    expect((await run('--fields', 'country_name', '--within', '81.2.69.128/25', '--locale', 'de'))[1]).toBe(
      '81.2.69.128/25,Vereinigtes Königreich',
    )
    expect((await run('--fields', 'timezone_offset', '--at', '2026-07-01', '--ipv4-only'))[2]).toBe(
      '81.2.69.0/24,+01:00',
    )
    expect(await run('--ipv6-only', '--fields', 'country_code')).toHaveLength(2)
  })

  it('adds autonomous systems, also where there is no location, and writes their networks alone', async () => {
    const asn = ['--asn-db', ASN_DB]
    const rows = await run(...asn, '--fields', 'city,asn_number', '--ipv4-only')
    expect(rows).toContain('81.2.69.0/24,London,20712')
    expect(rows).toContain('81.2.68.0/24,,20712')
    expect(await run(...asn, '--fields', 'asn_number', '--within', '81.2.64.0/18')).toEqual([
      'network,asn_number',
      '81.2.64.0/19,20712',
    ])
    const inCountry = [...asn, '--fields', 'asn_number', '--only-country', 'GB']
    expect(await run(...inCountry)).toEqual(['network,asn_number', '81.2.69.0/24,20712'])
  })

  it.each([
    [
      ['--fields', 'city', '--ipv6-only'],
      1,
      'no network is left: none has a value of --fields city with --ipv6-only',
    ],
    [['--within', '10.0.0.0/8'], 1, 'no network is left'],
    [['--only-country', 'FR'], 1, 'no network is left'],
    [['--ipv4-only', '--ipv6-only'], 2, '--ipv4-only and --ipv6-only leave no network'],
    [['--fields', 'asn_number'], 2, '--fields has asn_number, which needs --asn'],
    [['--fields', 'timezone_offset'], 2, 'add --at, or use timezone_id'],
    [['--within', 'x'], 2, 'neither an address nor a network'],
    [['--only-country', 'ZZ'], 2, 'is not an ISO 3166-1 alpha-2 code'],
    [
      ['--db', ASN_DB, '--asn-db', ASN_DB, '--fields', 'asn_number', '--only-country', 'FR'],
      1,
      'it has no locations',
    ],
    [['-o', 'x.xlsx'], 2, 'no form has the ending .xlsx'],
    [['--db', '/nowhere.mmdb'], 4, 'nowhere.mmdb'],
  ])('refuses %j', async (args, status, message) => {
    const given = args[0] === '-o' ? args : [...args, '-o', at('none.csv')]
    expect(await geofix(['export', ...DB, ...given])).toEqual(failure(status, message))
    expect(existsSync(at('none.csv'))).toBe(false)
  })

  it('replaces no database that it reads, by whatever name', async () => {
    for (const [name, args, path] of [
      ['location.csv', DB, database],
      ['system.csv', [...DB, '--asn-db', ASN_DB], ASN_DB],
    ] as const) {
      linkSync(path, at(name))
      const before = readFileSync(path)
      for (const output of [
        ['export', '-o', at(name)],
        ['enrich', '-o', at(name)],
        ['enrich', '--summary', `html=${at(name)}`],
      ]) {
        const ran = await geofix([...output, ...args], { input: '1.0.0.1\n' })
        expect(ran).toEqual(failure(3, `${name} is a file that this run reads`))
        expect(readFileSync(path)).toEqual(before)
      }
    }
  })

  it.each([
    // The first networks of the database end at 2.0.0.0 and at 2001:4861::.
    [{}, 2 / 256 / 2],
    [{ ipVersion: 4 }, 2 / 256],
    [{ within: '0.0.0.0/7' }, 1],
    [{ ipVersion: 6 }, (0x2001_4861 - 0x2000_0000) / 0x0d00_0000],
    [{ within: '2001:4860::/64' }, null],
    [{ within: '10.0.0.0/8' }, 1],
  ] as const)('tells the share of the addresses that it has read, for progress: %j', (choice, share) => {
    using resolver = Resolver.openSync(database)
    const rows = new NetworkRows(resolver[BORROW](), {
      choice: networkChoice(choice),
      hasLocations: true,
      hasSystems: false,
      template: columnsTemplate(['country_code'], ',', true),
      nothing: '',
      locale: localeOf(undefined, undefined),
      at: Number.NaN,
      areNetworks: true,
    })
    const first = { setText() {}, forgetNumbers() {}, isFull: false, add: () => (first.isFull = true) }
    rows.fill(first)
    if (share === null) expect(rows.share).toBeNull()
    else expect(rows.share).toBeCloseTo(share)
    first.isFull = false
    while (rows.fill(first)) first.isFull = false
    expect(rows.share).toBe(share === null ? null : 1)
  })

  it('replaces a file at the end only', async () => {
    const old = file('old.csv', 'old')
    await geofix(['export', ...DB, '--within', '10.0.0.0/8', '-o', old])
    expect(readFileSync(old, 'utf8')).toBe('old')
    await geofix(['export', ...DB, '-o', old])
    expect(readFileSync(old, 'utf8')).toMatch(/^network,/)
  })
})

/** As Parquet has integers of both families: 16 bytes, IPv4 as `::ffff:0:0/96`. */
function integerOf(bytes: Uint8Array): string {
  const hex = Buffer.from(bytes).toString('hex')
  return String(BigInt(`0x${hex.startsWith(`${'0'.repeat(20)}ffff`) ? hex.slice(24) : hex}`))
}
