// Parquet as DuckDB reads it, which shares no code with this package or its dependencies.
import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { Resolver } from '../../src/index.ts'
import { hasShared, SHARED } from '../shared.ts'
import { describeBesideDuckDB } from './duckdb.ts'

const log = `${SHARED}logs/apache-combined-10000.log.gz`

describeBesideDuckDB('DuckDB', ({ folder, geofix, query }) => {
  const enrich = (...args: string[]) => geofix('enrich', ...args)

  it.skipIf(!existsSync(log))(
    `reads the rows of a real log as it reads its NDJSON${hasShared ? '' : ': ../shared is missing'}`,
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
  )

  it('finds the same values in all columns of its own files, and new ones', async () => {
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
        else expect([code, city, offset]).toEqual([record.country.code, record.city, record.timezone.offset])
      }
      resolver.close()
      expect(located.length).toBeGreaterThan(200)
    }
  })

  it('reads what is rescued', async () => {
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
  })
})
