// Engines join addresses with the table that geofix export writes: the recipes of the guide, on a million addresses.
import { execFileSync } from 'node:child_process'
import { chmodSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, expect, it } from 'vitest'
import { installPython } from '../../scripts/engine-packages.ts'
import { isLookupFailure, Resolver } from '../../src/index.ts'
import { ROOT } from '../package/project.ts'
import { temporaryFolder } from '../temporary.ts'
import { describeEngine, hasCommand, installedOrNull } from './engine.ts'

const ADDRESSES = Number(process.env.GEOFIX_ENGINE_LINES ?? 1_000_000)
const LONG = { timeout: 600_000 }
const PACKAGES = ['duckdb', 'polars', 'pandas', 'pyarrow']

const [, guide = ''] = readFileSync(join(ROOT, 'src/engines/README.md'), 'utf8').split(
  '\n## Join with a table\n',
)
/** The code of the guide that begins with a comment that names it. */
const recipe = (comment: string): string => {
  const [, code] = new RegExp(`^\`\`\`\\w+\\n((?:#|--) ${comment}[\\s\\S]*?)^\`\`\`$`, 'm').exec(guide) ?? []
  if (code === undefined) throw new Error(`the guide has no recipe ${comment}`)
  return code
}

const folder = temporaryFolder()
const at = (name: string): string => join(folder, name)
const python = installedOrNull(() => installPython('tables', PACKAGES))
const runPython = (code: string): void => {
  writeFileSync(at('recipe.py'), code)
  execFileSync(join(python ?? '', 'bin/python'), ['recipe.py'], { cwd: folder, stdio: 'pipe' })
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
    if (index % 2 === 0) return Array.from({ length: 4 }, () => random() >>> 8).join('.')
    const first = (firsts[random() & 7] ?? 0) + (index % 3 === 0 ? random() & 15 : 0)
    return [first, ...Array.from({ length: 7 }, random)].map((word) => word.toString(16)).join(':')
  })
}

/** What lookup finds: the country and the city of each address. */
let expected: ReadonlyMap<string, string>

beforeAll(async () => {
  const geo = await Resolver.open()
  const ips = addresses()
  const placeOf = (result: ReturnType<typeof geo.find>): string =>
    isLookupFailure(result) ? '|' : `${result.country.code ?? ''}|${result.city ?? ''}`
  expected = new Map(geo.lookupMany(ips).map((result, index) => [ips[index] ?? '', placeOf(result)]))
  writeFileSync(at('visits.csv'), `ip\n${[...expected.keys()].join('\n')}\n`)
  writeFileSync(at('ip_key.py'), recipe('ip_key.py'))
  for (const args of [
    ['--as', 'integers', '-o', 'networks.parquet'],
    ['-o', 'networks.csv'],
  ])
    execFileSync(
      process.execPath,
      [join(ROOT, 'dist/cli.js'), 'export', '--fields', 'country_code,city', ...args],
      {
        cwd: folder,
        stdio: 'pipe',
      },
    )
}, LONG.timeout)

/** Compares located.csv. @param ignored addresses that an engine does not compare as a lookup does */
function expectLookups(ignored = /^$/): void {
  const unquoted = (cell: string): string =>
    cell.startsWith('"') ? cell.slice(1, -1).replaceAll('""', '"') : cell
  const lines = readFileSync(at('located.csv'), 'utf8').trimEnd().split(/\r?\n/).slice(1)
  expect(lines).toHaveLength(expected.size)
  const wrong = lines.filter((line) => {
    const [, ip = '', country = '', city = ''] = /^([^,]*),([^,]*),(.*)$/.exec(line) ?? []
    const address = unquoted(ip)
    return !ignored.test(address) && expected.get(address) !== `${unquoted(country)}|${unquoted(city)}`
  })
  expect(wrong.slice(0, 9)).toEqual([])
}

describeEngine('Python with DuckDB, polars, pandas and SQLite', python !== null, () => {
  it.each(['DuckDB:', 'DuckDB, range', 'polars:', 'pandas:', 'SQLite:'])(
    '%s every row is that of lookup',
    (name) => {
      rmSync(at('located.csv'), { force: true })
      runPython(recipe(name))
      expectLookups()
    },
    LONG.timeout,
  )
})

const hasPostgres = hasCommand('initdb') && hasCommand('pg_ctl') && process.getuid?.() !== 0

describeEngine('PostgreSQL, for a user other than root', hasPostgres, () => {
  it(
    'answers from the index, and every row is that of lookup',
    () => {
      const data = at('postgres')
      mkdirSync(data)
      chmodSync(data, 0o700)
      const run = (command: string, ...args: string[]): string =>
        execFileSync(command, args, { cwd: folder, encoding: 'utf8', stdio: ['pipe', 'pipe', 'ignore'] })
      run('initdb', '-D', data, '-A', 'trust', '-E', 'UTF8', '--no-locale', '-U', 'geofix')
      run(
        'pg_ctl',
        '-D',
        data,
        '-o',
        `-k ${data} -c listen_addresses=''`,
        '-l',
        at('postgres.log'),
        '-w',
        'start',
      )
      try {
        writeFileSync(at('recipe.sql'), recipe('PostgreSQL'))
        const plan = run(
          'psql',
          '-X',
          '-h',
          data,
          '-U',
          'geofix',
          '-d',
          'postgres',
          '-v',
          'ON_ERROR_STOP=1',
          '-f',
          'recipe.sql',
        )
        expect(plan).toMatch(/Index (Only )?Scan using networks_network_idx on networks/)
        expectLookups(/^2002:/)
      } finally {
        run('pg_ctl', '-D', data, '-m', 'immediate', 'stop')
      }
    },
    LONG.timeout,
  )
})
