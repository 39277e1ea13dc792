// Engines join addresses with the table that geofix export writes: the recipes of scripts/examples/engines, on a million addresses.
import { execFileSync, spawnSync } from 'node:child_process'
import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, expect, it, onTestFinished } from 'vitest'
import { installPython } from '../../scripts/engine-packages.ts'
import { installSpark } from '../../scripts/spark-cluster.ts'
import { isLookupFailure, Resolver } from '../../src/index.ts'
import { ROOT } from '../package/project.ts'
import { temporaryFolder } from '../temporary.ts'
import { describeEngine, hasCommand, installedOrNull } from './engine.ts'

const ADDRESSES = Number(process.env.GEOFIX_ENGINE_LINES ?? 1_000_000)
const LONG = { timeout: 600_000 }
/** The other addresses are in gaps. */
const COUNTRIES = ['DE', 'FR', 'GB', 'JP', 'BR']
const COUNTRY_DATABASE = join(ROOT, 'data/country.mmdb.gz')
const PACKAGES = ['duckdb==2.0.1', 'polars==2.1.0', 'pandas==3.1.1', 'pyarrow==26.0.1', 'chdb==4.4.0']

const recipe = (name: string): string => readFileSync(join(ROOT, 'scripts/examples/engines', name), 'utf8')

const folder = temporaryFolder()
const at = (name: string): string => join(folder, name)
const python = installedOrNull(() => installPython('tables', PACKAGES))
const runPython = (code: string, environment = python): void => {
  rmSync(at('located.csv'), { force: true })
  writeFileSync(at('recipe.py'), code)
  // As in an activated environment: Spark starts the first python3 of the path.
  const env = { ...process.env, PATH: `${join(environment ?? '', 'bin')}:${process.env.PATH}` }
  execFileSync('python', ['recipe.py'], { cwd: folder, stdio: 'pipe', env })
}

/** Random addresses of both families, most of them where locations are, in the order of a generator. */
function addresses(): string[] {
  let seed = 7
  const random = (): number => {
    seed = (Math.imul(seed, 1664525) + 1013904223) >>> 0
    return seed >>> 16
  }
  const firsts = [0x2001, 0x2002, 0x2400, 0x2600, 0x2804, 0x2a00, 0x2a02, 0x2c0f]
  return Array.from({ length: ADDRESSES }, (_, index) => {
    const dotted = Array.from({ length: 4 }, () => random() >>> 8).join('.')
    if (index % 2 === 0) return dotted
    // Addresses with an IPv4 address inside, as PostgreSQL writes them: mapped, Teredo and NAT64.
    const start = index % 25 === 1 ? (['::ffff:', '2001:0:1:2:3:4:', '64:ff9b::'][index % 3] ?? '') : ''
    if (start === '::ffff:') return start + dotted
    if (start !== '') return `${start}${(random() | 1).toString(16)}:${(random() | 1).toString(16)}`
    const first = (firsts[random() & 7] ?? 0) + (index % 3 === 0 ? random() & 15 : 0)
    return [first, ...Array.from({ length: 7 }, random)].map((word) => word.toString(16)).join(':')
  })
}

/** What lookup finds: the country and the city of each address. ClickHouse has the country database. */
let expected: ReadonlyMap<string, string>
let countries: ReadonlyMap<string, string>

async function placesOf(ips: readonly string[], database?: string): Promise<ReadonlyMap<string, string>> {
  const geo = await Resolver.open(database)
  return new Map(
    geo.lookupMany(ips).map((result, index) => {
      const code = isLookupFailure(result) ? null : result.country.code
      const isChosen = !isLookupFailure(result) && COUNTRIES.includes(code ?? '')
      return [ips[index] ?? '', isChosen ? `${code}|${result.city ?? ''}` : '|']
    }),
  )
}

beforeAll(async () => {
  const ips = addresses()
  expected = await placesOf(ips)
  countries = await placesOf(ips, COUNTRY_DATABASE)
  writeFileSync(at('visits.csv'), `ip\n${[...expected.keys()].join('\n')}\n`)
  writeFileSync(at('ip_key.py'), recipe('ip_key.py'))
  const choice = ['--only-country', COUNTRIES.join(), '--fields']
  for (const args of [
    ['country_code,city', '--as', 'integers', '-o', 'networks.parquet'],
    ['country_code,city', '-o', 'networks.csv'],
    ['country_code', '--db', COUNTRY_DATABASE, '-o', 'countries.csv'],
  ])
    execFileSync(process.execPath, [join(ROOT, 'dist/cli.cjs'), 'export', ...choice, ...args], {
      cwd: folder,
      stdio: 'pipe',
    })
}, LONG.timeout)

/** Compares located.csv, which can lack the column of the city. */
function expectLookups(places = expected): void {
  const unquoted = (cell: string): string =>
    cell.startsWith('"') ? cell.slice(1, -1).replaceAll('""', '"') : cell
  const lines = readFileSync(at('located.csv'), 'utf8').trimEnd().split(/\r?\n/).slice(1)
  expect(lines).toHaveLength(places.size)
  const wrong = lines.filter((line) => {
    const [, ip = '', country = '', city = ''] = /^([^,]*),([^,]*),?(.*)$/.exec(line) ?? []
    return places.get(unquoted(ip)) !== `${unquoted(country)}|${unquoted(city)}`
  })
  expect(wrong.slice(0, 9)).toEqual([])
}

describeEngine('Python with DuckDB, polars, pandas, SQLite and chdb', python !== null, () => {
  it.each(['duckdb', 'polars', 'pandas', 'sqlite'])(
    '%s every row is that of lookup',
    (name) => {
      runPython(recipe(`join-${name}.py`))
      expectLookups()
    },
    LONG.timeout,
  )

  it(
    'ClickHouse: every row is that of lookup in the country database',
    () => {
      writeFileSync(at('recipe.sql'), recipe('join-clickhouse.sql'))
      runPython(`from chdb.session import Session
session = Session("clickhouse")
for statement in open("recipe.sql").read().rstrip().rstrip(";").split(";\\n"): session.query(statement)`)
      expectLookups(countries)
    },
    LONG.timeout,
  )
})

const pyspark = hasCommand('java') ? installedOrNull(() => installSpark(4)) : null

describeEngine('PySpark (python3 and Java 17)', pyspark !== null, () => {
  it(
    'every row is that of lookup',
    () => {
      runPython(recipe('join-spark.py'), pyspark)
      expectLookups()
    },
    LONG.timeout,
  )
})

/** PostgreSQL refuses to run as root. */
const asUser =
  process.getuid?.() === 0 ? ['unshare', '--user', '--map-user=1000', '--map-group=1000'] : ['env']
const hasPostgres = ['initdb', 'pg_ctl', 'psql'].every(
  (name) => spawnSync('env', [...asUser, name, '--version']).status === 0,
)

describeEngine('PostgreSQL (initdb, pg_ctl and psql, not as root)', hasPostgres, () => {
  it(
    'answers from the index, and every row is that of lookup',
    () => {
      const data = at('postgres')
      const run = (command: string): string =>
        execFileSync('env', [...asUser, 'sh', '-c', command], {
          cwd: folder,
          encoding: 'utf8',
          stdio: 'pipe',
        })
      run(`initdb -D ${data} -A trust -E UTF8 --no-locale -U geofix`)
      run(`pg_ctl -D ${data} -o "-k ${data} -c listen_addresses=''" -l ${data}/log -w start`)
      onTestFinished(() => void run(`pg_ctl -D ${data} -m immediate stop`))
      writeFileSync(at('recipe.sql'), recipe('join-postgresql.sql'))
      const plan = run(`psql -X -h ${data} -U geofix -d postgres -v ON_ERROR_STOP=1 -f recipe.sql`)
      expect(plan).toMatch(/Index (Only )?Scan using networks_network_idx on networks/)
      expectLookups()
    },
    LONG.timeout,
  )
})
