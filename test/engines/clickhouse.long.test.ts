// ClickHouse runs geofix: the statements of the guide, on a million rows.
import { readFileSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { isLookupFailure, Resolver } from '../../src/index.ts'
import { ROOT } from '../package/project.ts'
import { temporaryFolder } from '../temporary.ts'
import { describeEngine, engineFolder, writeGeofix } from './engine.ts'

/** ClickHouse 26.7 as a library. */
const installed = engineFolder('clickhouse', { chdb: '3.4.0' })

/** What these tests use of chdb. */
interface Chdb {
  Session: new (
    path: string,
    options: { connectionArgs: readonly string[] },
  ) => { query(statement: string, format: string): string; close(): void }
}

const ROWS = 1_000_000

/** Addresses, absent ones and other text; and texts with what ends a field, a row or a quoted text. */
const VISITS = `
  SELECT
    multiIf(number % 7 = 0, '', number % 11 = 0, 'a"b\\tc', number % 13 = 0, '\\\\N',
      IPv4NumToString(toUInt32(intHash32(number % 100000)))) AS ip,
    toDateTime('2026-01-01 00:00:00', 'UTC') + number * 15 AS time,
    concat('page ', toString(number), multiIf(number % 6 = 0, unhex('FF'), number % 6 = 1, '\\t"',
      number % 6 = 2, '\\r\\n', number % 6 = 3, '\\\\', number % 6 = 4, unhex('0D'), '')) AS page
  FROM numbers(${ROWS})`

/** A warm call of a function takes about 2 ms. */
const WARM_CALL_MS = 10

const [, guide = ''] = readFileSync(join(ROOT, 'src/engines/README.md'), 'utf8').split('\n## ClickHouse\n')
/** The statements of a language in the guide, with more time for a machine on which other tests run. */
const blocks = (language: string): string[] =>
  Array.from(guide.matchAll(new RegExp(`^\`\`\`${language}\\n([\\s\\S]*?)^\`\`\`$`, 'gm')), ([, code = '']) =>
    code.replace('60000', '280000'),
  )

/** The same statement, with a command that fails. */
const failing = (statement: string): string => statement.replace('enrich', 'enrich --db /nowhere.mmdb')

describeEngine('ClickHouse (chdb)', installed !== null, () => {
  const folder = temporaryFolder()
  let query: (statement: string, format?: string) => string = () => ''
  let close = (): void => {}
  /** The sum of the hashes of all rows: the same if none is lost, doubled or shifted. */
  const sum = (from: string): string[] =>
    query(
      `SELECT count(), countIf(country IS NOT NULL), sum(sipHash64(ip, toUInt32(time), page)) FROM ${from}`,
    ).split('\t')

  beforeAll(() => {
    writeGeofix(join(folder, 'scripts'))
    const xml = blocks('xml').join('\n')
    writeFileSync(join(folder, 'functions.xml'), xml)
    writeFileSync(join(folder, 'failing.xml'), failing(xml).replace('geoLocation', 'failingLocation'))
    writeFileSync(
      join(folder, 'config.xml'),
      `<clickhouse><user_scripts_path>${folder}/scripts</user_scripts_path>
       <user_defined_executable_functions_config>${folder}/f*.xml</user_defined_executable_functions_config>
       </clickhouse>`,
    )
    const { Session }: Chdb = createRequire(join(installed ?? '', 'any.js'))('chdb')
    const session = new Session(join(folder, 'data'), {
      connectionArgs: [`--config-file=${join(folder, 'config.xml')}`],
    })
    query = (statement, format = 'TSV') => session.query(statement, format).trimEnd()
    close = () => session.close()
    query(`CREATE TABLE visits ENGINE = MergeTree ORDER BY tuple() AS ${VISITS}`)
  })
  afterAll(() => close())

  const expected = (): string[] => {
    const [count = '', hash = ''] = query(
      'SELECT count(), sum(sipHash64(ip, toUInt32(toUnixTimestamp(time)), page)) FROM visits',
    ).split('\t')
    return [count, hash]
  }

  it('has statements in the guide', () => {
    expect(blocks('sql')).toHaveLength(2)
    expect(blocks('xml')).toHaveLength(1)
  })

  it('executable: no row is shifted or lost', () => {
    const [count, located, hash] = sum(`(${blocks('sql')[0]})`)
    expect([count, hash]).toEqual(expected())
    expect(Number(located)).toBeGreaterThan(ROWS / 2)
  })

  it('executable: gives what the library gives', async () => {
    const geo = await Resolver.open()
    const rows = query(
      `SELECT ip, country, city FROM (${blocks('sql')[0]}) WHERE time % 100 = 0`,
      'JSONCompactEachRow',
    ).split('\n')
    expect(rows.length).toBeGreaterThan(1000)
    for (const row of rows) {
      const [ip, country, city]: (string | null)[] = JSON.parse(row)
      const [result] = geo.lookupMany([ip ?? ''])
      const location = result === undefined || isLookupFailure(result) ? null : result
      expect([ip, country, city]).toEqual([ip, location?.country.code ?? null, location?.city ?? null])
    }
  })

  it('ExecutablePool with chunk headers: no row is shifted or lost, again and again', () => {
    const create = (blocks('sql')[1] ?? '')
      .replace('time UInt32,', 'time UInt32, page String,')
      .replace('toUnixTimestamp(time)', 'toUnixTimestamp(time), page')
    query(create)
    const sums = [sum('located'), sum('located')]
    expect(sums[1]).toEqual(sums[0])
    const [count, , hash] = sums[0] ?? []
    expect([count, hash]).toEqual(expected())
  })

  it('a function: the same for all rows, in milliseconds for one', () => {
    const call = 'geoLocation(ip, toUInt32(toUnixTimestamp(time)))'
    const [count, located] = query(
      `SELECT count(), countIf(${call}.country.code IS NOT NULL) FROM visits`,
    ).split('\t')
    expect([Number(count), Number(located)]).toEqual([ROWS, Number(sum(`(${blocks('sql')[0]})`)[1])])
    const one = "SELECT geoLocation('81.2.69.142', toUInt32(1782864000))"
    const answer = query(one)
    expect(answer).toContain("'United Kingdom'")
    const times = Array.from({ length: 20 }, () => {
      const begin = performance.now()
      expect(query(one)).toBe(answer)
      return performance.now() - begin
    }).sort((a, b) => a - b)
    expect(times[0]).toBeLessThan(WARM_CALL_MS)
  })

  it('fails if the command does, and loses no row in silence', () => {
    query(failing(blocks('sql')[1] ?? '').replace('TABLE located', 'TABLE failing'))
    const call = 'failingLocation(ip, toUInt32(toUnixTimestamp(time)))'
    const sources = [
      `(${failing(blocks('sql')[0] ?? '')})`,
      'failing',
      `(SELECT ${call} FROM visits LIMIT 9)`,
    ]
    for (const from of sources) expect(() => query(`SELECT * FROM ${from}`)).toThrow('DB::Exception')
  })
})
