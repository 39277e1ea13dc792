// geofix enrich --asn-db with tables: CSV, TSV and Parquet have the same systems as NDJSON.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parse } from 'csv-parse/sync'
import { asyncBufferFromFile, parquetReadObjects } from 'hyparquet'
import { parquetWriteBuffer } from 'hyparquet-writer'
import { describe, expect, it } from 'vitest'
import { ASN_DATABASE } from '../../http/service.ts'
import { temporaryFolder } from '../../temporary.ts'
import { geofix, writeDatabase } from './command-line.ts'

const folder = temporaryFolder()
const path = (name: string): string => join(folder, name)
const DB = writeDatabase(folder)
const ASN_DB = path('asn.mmdb')
writeFileSync(ASN_DB, ASN_DATABASE)
const enrich = (...args: string[]) =>
  geofix(['enrich', '--db', DB, '--asn-db', ASN_DB, '--quiet', '--stats', 'none', ...args])

const IPS = ['81.2.69.142', '2001:4860::8888', '133.11.93.3', '9.9.9.9', '10.0.0.1', 'nonsense']
const SYSTEMS: Readonly<Record<string, { number: number; organization: string | null }>> = {
  '81.2.69.142': { number: 20712, organization: 'Andrews & "Arnold" Ltd ü' },
  '2001:4860::8888': { number: 15169, organization: null },
}
const LOG = path('access.log')
writeFileSync(
  LOG,
  IPS.map((ip) => `${ip} - - [01/Jul/2026:12:00:00 +0000] "GET / HTTP/1.1" 200 5 "-" "-"\n`).join(''),
)

async function parquetRows(file: string): Promise<Record<string, unknown>[]> {
  return parquetReadObjects({ file: await asyncBufferFromFile(file) })
}

/** The systems in the members `asn` of NDJSON, which are those that have a location. */
async function systemsOfObjects() {
  const { status, out } = await enrich(LOG)
  expect(status).toBe(0)
  return out
    .trim()
    .split('\n')
    .map((line): { ip: string; location: unknown; asn: unknown } => JSON.parse(line))
}

describe('geofix enrich --asn-db', () => {
  it('adds the autonomous systems of the database to objects', async () => {
    for (const { ip, location, asn } of await systemsOfObjects())
      expect({ ip, asn }).toEqual({ ip, asn: location === null ? null : (SYSTEMS[ip] ?? null) })
  })

  it.each([
    ['csv', ','],
    ['tsv', '\t'],
  ])('adds the same to the columns of --to %s', async (form, delimiter) => {
    const { status, out } = await enrich(LOG, '--to', form)
    expect(status).toBe(0)
    const rows: Record<string, string>[] = parse(out, { columns: true, delimiter })
    const objects = await systemsOfObjects()
    expect(rows.map(({ ip, asn_number, asn_organization }) => [ip, asn_number, asn_organization])).toEqual(
      objects.map(({ ip, location }) => {
        const system = location === null ? undefined : SYSTEMS[ip]
        return [ip, String(system?.number ?? ''), system?.organization ?? '']
      }),
    )
  })

  it('adds the same to Parquet, made from lines and from Parquet', async () => {
    const objects = await systemsOfObjects()
    const table = path('rows.parquet')
    const columnData = [{ name: 'ip', data: IPS, type: 'STRING' }] as const
    writeFileSync(table, new Uint8Array(parquetWriteBuffer({ columnData: [...columnData] })))
    for (const input of [LOG, table]) {
      const output = path('out.parquet')
      expect(await enrich(input, '-o', output)).toEqual({ status: 0, out: '', err: '' })
      const rows = await parquetRows(output)
      const found = rows.map(({ ip, asn, asn_number, asn_organization }) => ({
        ip,
        system: asn ?? (asn_number == null ? null : { number: asn_number, organization: asn_organization }),
      }))
      const plain = found.map(({ ip, system }) => [
        ip,
        JSON.parse(JSON.stringify(system, (_, value) => (typeof value === 'bigint' ? Number(value) : value))),
      ])
      expect(plain).toEqual(objects.map(({ ip, asn }) => [ip, asn]))
    }
  })
})
