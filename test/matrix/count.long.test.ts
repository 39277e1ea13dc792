// The counts of `geofix count` beside those of DuckDB, over what `geofix enrich` writes. They share no code.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { ROOT } from '../package/project.ts'
import { hasShared, SHARED } from '../shared.ts'
import { describeBesideDuckDB } from './duckdb.ts'

const why = hasShared ? '' : ': ../shared is missing'
const LOG = `${SHARED}logs/apache-combined-10000.log.gz`

/** Rows as texts, in an order of their own: the order of rows with the same count is not defined in SQL. */
const sorted = (rows: readonly (readonly unknown[])[]): string[] =>
  rows.map((row) => JSON.stringify(row.map((value) => (value === null ? null : String(value))))).sort()

const COUNTRY = 'location.country.code country, location.country.name country_name'

/** A log, options of both commands, the keys, and the same keys for DuckDB. */
const CASES: readonly (readonly [log: string, options: readonly string[], by: string, sql: string])[] = [
  ['apache-combined-10000.log.gz', [], 'country,status', `${COUNTRY}, status`],
  [
    'apache-combined-10000.log.gz',
    [],
    'city,timezone',
    'location.country.code country, location.region.code region_code, location.region.name region_name, location.city city, location.timezone.id timezone',
  ],
  [
    'apache-combined-10000.log.gz',
    [],
    'day,weekday,hour,method,target',
    'strftime(cast(time as timestamp), \'%Y-%m-%d\') "day", dayname(cast(time as timestamp)) weekday, hour(cast(time as timestamp)) "hour", method, target',
  ],
  [
    'apache-combined-10000.log.gz',
    [],
    'local_hour',
    'hour(cast(time as timestamp) + to_minutes(cast(location.timezone.offset[1:3] as int) * 60 + cast(location.timezone.offset[1:1] || location.timezone.offset[5:6] as int))) local_hour',
  ],
  [
    'apache-combined-10000.log.gz',
    [],
    'network',
    "array_to_string(string_split(ip, '.')[1:3], '.') || '.0/24' network",
  ],
  [
    'zeek-conn.tsv',
    ['--field', 'id.resp_h'],
    'country,ip,proto,service,hour',
    `${COUNTRY}, "id.resp_h" ip, proto, service, cast(floor(cast(ts as double) / 3600) as bigint) % 24 "hour"`,
  ],
  ['haproxy.log', [], 'country,ip', `${COUNTRY}, ip`],
]

describeBesideDuckDB('geofix count', ({ folder, geofix, query, columnsOf }) => {
  /** The rows of what `geofix count` prints. */
  const counted = (...args: string[]): unknown[][] => {
    geofix('count', ...args, '-o', 'counts.ndjson')
    const lines = readFileSync(join(folder, 'counts.ndjson'), 'utf8').trimEnd().split('\n')
    return lines.map((line) => Object.values(JSON.parse(line)))
  }

  it.skipIf(!hasShared).each(CASES)(
    `counts %s %s by %s as DuckDB counts the located lines${why}`,
    async (log, options, by, sql) => {
      geofix('enrich', `${SHARED}logs/${log}`, '-o', 'located.parquet', ...options)
      const counts = counted(`${SHARED}logs/${log}`, ...options, '--by', by, '--unique')
      const ip = log === 'zeek-conn.tsv' ? '"id.resp_h"' : 'ip'
      const rows = await query(
        `select ${sql}, count(*), count(distinct ${ip}) from '${folder}/located.parquet' group by all`,
      )
      expect(rows.length).toBeGreaterThan(5)
      expect(sorted(counts)).toEqual(sorted(rows))
    },
  )

  it.skipIf(!hasShared).each([
    ['--only-country', "location.country.code in ('DE', 'FR')"],
    ['--not-country', "location.country.code is null or location.country.code not in ('DE', 'FR')"],
  ])(`leaves out with %s the countries that DuckDB leaves out${why}`, async (flag, condition) => {
    geofix('enrich', LOG, '-o', 'located.parquet')
    geofix('enrich', LOG, '-o', 'some.parquet', flag, 'DE,FR')
    const statuses = (from: string) => query(`select status, count(*) from '${folder}/${from} group by all`)
    const expected = sorted(await statuses(`located.parquet' where ${condition}`))
    expect(sorted(counted(LOG, '--by', 'status', flag, 'DE,FR'))).toEqual(expected)
    expect(sorted(await statuses("some.parquet'"))).toEqual(expected)
  })

  it('leaves to DuckDB what the query of the guide asks', async () => {
    const guide = readFileSync(join(ROOT, 'src/cli/count/README.md'), 'utf8')
    const [, sql = ''] = /```sql\n([\s\S]*?)```/.exec(guide) ?? []
    geofix('enrich', hasShared ? LOG : join(ROOT, 'test/enrich/golden/combined.log'), '-o', 'located.parquet')
    const asked = sql.replaceAll("'located.parquet'", `'${folder}/located.parquet'`)
    expect(await columnsOf(asked)).toEqual(['country', 'lines', 'errors', 'megabytes', 'largest_error'])
    expect((await query(asked)).length).toBeGreaterThan(1)
  })
})
