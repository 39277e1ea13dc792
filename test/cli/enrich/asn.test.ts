// geofix enrich --asn-db with --to csv and Parquet: the systems that NDJSON has, of the rows with a location.
import { readFileSync, writeFileSync } from 'node:fs'
import { parse } from 'csv-parse/sync'
import { parquetReadObjects } from 'hyparquet'
import { parquetWriteBuffer } from 'hyparquet-writer'
import { describe, expect, it } from 'vitest'
import { ASN_DATABASE } from '../../http/service.ts'
import { printed, workspace } from './command-line.ts'

const { at: path, file, enrich: withDatabase } = workspace('--quiet')
const ASN_DB = file('asn.mmdb', ASN_DATABASE)
const enrich = (...args: string[]) => withDatabase(['--asn-db', ASN_DB, ...args])

const IPS = ['81.2.69.142', '2001:4860::8888', '133.11.93.3', '9.9.9.9', '10.0.0.1', 'nonsense']
/** Number and organisation of each. */
const SYSTEMS: readonly (readonly (bigint | string | null)[])[] = [
  [20712n, 'Andrews & "Arnold" Ltd ü'],
  [15169n, null],
  ...Array(4).fill([null, null]),
]
const LOG = file(
  'access.log',
  IPS.map((ip) => `${ip} - - [01/Jul/2026:12:00:00 +0000] "GET / HTTP/1.1" 200 5 "-" "-"\n`).join(''),
)

describe('geofix enrich --asn-db', () => {
  it('adds the autonomous systems to the columns of --to csv', async () => {
    const out = await printed(enrich(LOG, '--to', 'csv'))
    const rows: Record<string, string>[] = parse(out, { columns: true })
    expect(rows.map(({ ip, asn_number, asn_organization }) => [ip, asn_number, asn_organization])).toEqual(
      IPS.map((ip, index) => [ip, ...(SYSTEMS[index] ?? []).map((value) => String(value ?? ''))]),
    )
  })

  it('adds the same to Parquet, made from lines and from Parquet', async () => {
    const table = path('rows.parquet')
    const columnData = [{ name: 'ip', data: IPS, type: 'STRING' }] as const
    writeFileSync(table, new Uint8Array(parquetWriteBuffer({ columnData: [...columnData] })))
    for (const input of [LOG, table]) {
      expect(await enrich(input, '-o', path('out.parquet'))).toEqual({ status: 0, out: '', err: '' })
      const rows = await parquetReadObjects({
        file: new Uint8Array(readFileSync(path('out.parquet'))).buffer,
      })
      const systems = rows.map(({ asn, asn_number, asn_organization }) => [
        asn?.number ?? asn_number ?? null,
        asn?.organization ?? asn_organization ?? null,
      ])
      expect(systems).toEqual(SYSTEMS)
    }
  })
})
