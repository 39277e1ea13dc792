// Parquet as DuckDB reads it, which shares no code with this package or its dependencies.
import { existsSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { beforeAll, describe, expect, it } from 'vitest'
import { Resolver } from '../../src/index.ts'
import { ROOT } from '../package/project.ts'
import { hasShared, SHARED } from '../shared.ts'
import { temporaryFolder } from '../temporary.ts'
import { installTools, MATRIX, run } from './tools.ts'

/** The part of DuckDB's client that is used here. */
interface Duck {
  readonly DuckDBInstance: { create(): Promise<{ connect(): Promise<Connection> }> }
}
interface Connection {
  runAndReadAll(sql: string): Promise<{ getRowsJson(): unknown[][] }>
}

const isInstalled = installTools()
const folder = temporaryFolder()
const log = `${SHARED}logs/apache-combined-10000.log.gz`
const missing = isInstalled ? undefined : 'the matrix'
if (missing !== undefined) console.warn(`skipped: ${missing} is not installed`)
const suffix = missing === undefined ? '' : `: ${missing} is not installed`

let connection: Connection
const query = async (sql: string): Promise<unknown[][]> => (await connection.runAndReadAll(sql)).getRowsJson()
const enrich = (...args: string[]) =>
  run(folder, process.execPath, join(ROOT, 'dist/cli.js'), 'enrich', '--quiet', ...args)

beforeAll(async () => {
  if (missing !== undefined) return
  const duck: Duck = createRequire(join(MATRIX, 'package.json'))('@duckdb/node-api')
  connection = await (await duck.DuckDBInstance.create()).connect()
}, 300_000)

describe('DuckDB', () => {
  it.skipIf(missing !== undefined || !existsSync(log))(
    `reads the rows of a real log as it reads its NDJSON${hasShared ? suffix : ': ../shared is missing'}`,
    async () => {
      enrich(log, '-o', 'log.parquet')
      enrich(log, '-o', 'log.ndjson')
      const [lines, rows] = ['log.ndjson', 'log.parquet'].map((name) => join(folder, name))
      const columns = `ip, method, target, status, bytes, referrer, user_agent, location.city, location.country.code,
      location.region.name, location.coordinates.latitude, location.timezone.offset`
      const [[count]] = (await query(`select count(*) from '${rows}'`)) as [[string]]
      expect(Number(count)).toBe(10_000)
      for (const [a, b] of [
        [lines, rows],
        [rows, lines],
      ]) {
        const difference = await query(`select count(*) from
        (select ${columns} from '${a}' except all select ${columns} from '${b}')`)
        expect(difference).toEqual([['0']])
      }
    },
    300_000,
  )

  it.skipIf(missing !== undefined)(
    `finds the same values in all columns of its own files, and new ones${suffix}`,
    async () => {
      const [before, after] = ['before.parquet', 'after.parquet'].map((name) => join(folder, name))
      for (const compression of ['snappy', 'zstd', 'gzip', 'brotli', 'lz4_raw', 'uncompressed']) {
        await query(`copy (select i as id, case when i % 9 = 0 then null else '81.2.' || (i % 200) || '.' || (i % 256) end as ip,
        timestamptz '2026-03-29 00:00:00+00' + interval (i) minute as ts, (i / 100)::decimal(20, 2) as price,
        [i, null, i + 1] as list, {'a': i, 'b': {'c': 'x' || i}} as struct, map {'k': i} as map, i::hugeint as huge,
        date '2020-01-01' + (i % 3000)::int as day, i::varchar::blob as bytes, uuid() as id2, i % 2 = 0 as flag,
        interval (i) day as span, time '10:00:00' as clock
        from range(30000) t(i)) to '${before}' (format parquet, compression ${compression}, row_group_size 8192)`)
        enrich(before ?? '', '-o', after ?? '')
        const names = await query(`select name from parquet_schema('${before}') limit 1 offset 1`)
        expect(names).toEqual([['id']])
        const old = 'id, ip, ts, price, list, struct, map, huge, day, bytes, id2, flag, span, clock'
        expect(
          await query(
            `select count(*) from (select ${old} from '${before}' except all select ${old} from '${after}')`,
          ),
        ).toEqual([['0']])
        const types = (path?: string) =>
          query(`select typeof(columns(*)) from (select ${old} from '${path}' limit 1)`)
        expect(await types(after)).toEqual(await types(before))
        const located =
          await query(`select ip, location.country.code, location.city, location.timezone.offset, epoch_ms(ts)
        from '${after}' where id % 97 = 1 and ip is not null order by id`)
        const resolver = await Resolver.open()
        for (const [ip, code, city, offset, at] of located) {
          const [record] = resolver.lookupMany([String(ip)], { at: Number(at) })
          if (record === undefined || 'error' in record) expect([code, city]).toEqual([null, null])
          else
            expect([code, city, offset]).toEqual([record.country.code, record.city, record.timezone.offset])
        }
        resolver.close()
        expect(located.length).toBeGreaterThan(200)
      }
    },
    600_000,
  )

  it.skipIf(missing !== undefined)(
    `reads what is rescued${suffix}`,
    async () => {
      const file = join(folder, 'odd.ndjson')
      writeFileSync(
        file,
        '{"ip":"81.2.69.142","n":12345678901234567890,"o":{"a":1}}\n{"ip":"8.8.8.8","n":"x"}\nbad\n',
      )
      enrich(file, '-o', join(folder, 'odd.parquet'))
      expect(await query(`select ip, n, o->>'a', raw from '${join(folder, 'odd.parquet')}'`)).toEqual([
        ['81.2.69.142', '12345678901234567890', '1', null],
        ['8.8.8.8', '"x"', null, null],
        [null, null, null, 'bad'],
      ])
    },
    300_000,
  )
})
