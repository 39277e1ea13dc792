// The counts of `geofix count` beside those of DuckDB, over what `geofix enrich` writes. They share no code.
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { beforeAll, describe, expect, it } from 'vitest'
import { ROOT } from '../package/project.ts'
import { hasShared, SHARED } from '../shared.ts'
import { temporaryFolder } from '../temporary.ts'
import { installTools, MATRIX, run } from './tools.ts'

/** The part of DuckDB's client that is used here. */
interface Duck {
  readonly DuckDBInstance: { create(): Promise<{ connect(): Promise<Connection> }> }
}
interface Connection {
  runAndReadAll(sql: string): Promise<{ getRowObjectsJson(): Record<string, unknown>[] }>
}

const isInstalled = installTools()
const folder = temporaryFolder()
const isSkipped = !isInstalled || !hasShared
const why = !isInstalled ? ': the matrix is not installed' : !hasShared ? ': ../shared is missing' : ''

let connection: Connection
const query = async (sql: string) => (await connection.runAndReadAll(sql)).getRowObjectsJson()
const geofix = (...args: string[]) =>
  run(folder, process.execPath, join(ROOT, 'dist/cli.js'), ...args, '--quiet')

beforeAll(async () => {
  if (isSkipped) return
  const duck: Duck = createRequire(join(MATRIX, 'package.json'))('@duckdb/node-api')
  connection = await (await duck.DuckDBInstance.create()).connect()
}, 300_000)

/** Rows as texts, in an order of their own: the order of rows with the same count is not defined in SQL. */
const sorted = (rows: readonly Record<string, unknown>[]): string[] =>
  rows
    .map((row) => JSON.stringify(Object.values(row).map((value) => (value === null ? null : String(value)))))
    .sort()

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

describe('geofix count', () => {
  it.skipIf(isSkipped).each(CASES)(
    `counts %s %s by %s as DuckDB counts the located lines${why}`,
    async (log, options, by, sql) => {
      geofix('enrich', `${SHARED}logs/${log}`, '-o', 'located.parquet', ...options)
      geofix('count', `${SHARED}logs/${log}`, '-o', 'counts.ndjson', ...options, '--by', by, '--unique')
      const counts = readFileSync(join(folder, 'counts.ndjson'), 'utf8')
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line))
      const rows = await query(
        `select ${sql}, count(*) count, count(distinct ${log === 'zeek-conn.tsv' ? '"id.resp_h"' : 'ip'}) "unique" from '${folder}/located.parquet' group by all`,
      )
      expect(rows.length).toBeGreaterThan(5)
      expect(sorted(counts)).toEqual(sorted(rows))
    },
    300_000,
  )

  it.skipIf(isSkipped)(
    `leaves out the countries that DuckDB leaves out${why}`,
    async () => {
      const log = `${SHARED}logs/apache-combined-10000.log.gz`
      geofix('enrich', log, '-o', 'located.parquet')
      for (const [flag, condition] of [
        ['--only-country', "location.country.code in ('DE', 'FR')"],
        ['--not-country', "location.country.code is null or location.country.code not in ('DE', 'FR')"],
      ] as const) {
        geofix('count', log, '-o', 'counts.ndjson', '--by', 'status', flag, 'DE,FR')
        geofix('enrich', log, '-o', 'some.parquet', flag, 'DE,FR')
        const counts = readFileSync(join(folder, 'counts.ndjson'), 'utf8').trimEnd().split('\n')
        const expected = await query(
          `select status, count(*) count from '${folder}/located.parquet' where ${condition} group by all`,
        )
        const enriched = await query(
          `select status, count(*) count from '${folder}/some.parquet' group by all`,
        )
        expect(sorted(counts.map((line) => JSON.parse(line)))).toEqual(sorted(expected))
        expect(sorted(enriched)).toEqual(sorted(expected))
      }
    },
    300_000,
  )

  it.skipIf(!isInstalled)(
    `leaves to DuckDB what the query of the guide asks${isInstalled ? '' : why}`,
    async () => {
      const guide = readFileSync(join(ROOT, 'src/cli/count/README.md'), 'utf8')
      const [, sql = ''] = /```sql\n([\s\S]*?)```/.exec(guide) ?? []
      const log = hasShared
        ? `${SHARED}logs/apache-combined-10000.log.gz`
        : join(ROOT, 'test/enrich/golden/combined.log')
      geofix('enrich', log, '-o', 'located.parquet')
      const rows = await query(sql.replaceAll("'located.parquet'", `'${folder}/located.parquet'`))
      expect(Object.keys(rows[0] ?? {})).toEqual(['country', 'lines', 'errors', 'megabytes', 'largest_error'])
      expect(rows.length).toBeGreaterThan(1)
    },
    300_000,
  )
})
