// Lines of some countries: --only-country, --not-country.
import { readFileSync, writeFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { failure, workspace } from './command-line.ts'

const { at: path, enrich } = workspace('--quiet', '--at', '2026-07-01')

const GB = '81.2.69.142'
const AU = '1.2.3.4'
const US = '2001:4860::1'
const NONE = '10.0.0.1'

describe('geofix enrich --only-country', () => {
  const list = `${[GB, AU, US, NONE, 'bad'].join('\n')}\n`
  const addresses = (out: string): string[] =>
    out.split('\n').flatMap((line) => (line === '' ? [] : [line.split('\t', 1)[0] ?? '']))

  it('keeps the lines of these countries, and --not-country those of all others and of none', async () => {
    const args = ['--format', 'list', '--append', '--fields', 'country_code']
    expect(addresses((await enrich([...args, '--only-country', 'GB,us'], list)).out)).toEqual([GB, US])
    expect(addresses((await enrich([...args, '--only-country', 'EU,GB'], list)).out)).toEqual([GB])
    const others = await enrich([...args, '--not-country', 'GB'], list)
    expect(addresses(others.out)).toEqual([AU, US, NONE, 'bad'])
    const { err } = await enrich([...args, '--only-country', 'GB', '--stats', 'json'], list)
    expect(JSON.parse(err)).toMatchObject({ resolved: 1 })
  })

  it('keeps the header of a table, and makes tables, objects and Parquet of the lines that stay', async () => {
    const table = `id,ip\n1,${GB}\n2,${AU}\n`
    const only = ['--only-country', 'AU', '--fields', 'city']
    expect((await enrich(only, table)).out).toBe(`id,ip,city\n2,${AU},Sydney\n`)
    expect((await enrich([...only, '--to', 'tsv'], table)).out).toBe(`id\tip\tcity\n2\t${AU}\tSydney\n`)
    expect((await enrich([...only, '--to', 'ndjson'], table)).out).toBe(
      `{"id":"2","ip":"${AU}","location":{"city":"Sydney"}}\n`,
    )
    expect((await enrich([...only, '--mask', '8,16'], table)).out).toBe('id,ip,city\n2,1.0.0.0,Sydney\n')
    writeFileSync(path('in.csv'), table)
    expect(await enrich([...only, path('in.csv'), '-o', path('in.parquet')])).toMatchObject({ status: 0 })
    const parquet = readFileSync(path('in.parquet'))
    expect([parquet.includes(AU), parquet.includes(GB)]).toEqual([true, false])
    const refused = await enrich([...only, '--into', 'x', path('in.parquet'), '-o', path('out.parquet')])
    expect(refused).toEqual(failure(2, '--only-country has no effect on Parquet'))
  })

  it('needs lines for JSON documents, and one address a line', async () => {
    const document = `[{"ip":"${GB}"},\n {"ip":"${AU}"}]\n`
    const kept = await enrich(['--not-country', 'GB'], document)
    expect(kept).toEqual(failure(2, /--not-country leaves elements out.*--to ndjson/))
    expect((await enrich(['--not-country', 'GB', '--to', 'ndjson', '--fields', 'city'], document)).out).toBe(
      `{"ip":"${AU}","location":{"city":"Sydney"}}\n`,
    )
    const several = await enrich(['--only-country', 'GB', '--field', 'a=x', '--field', 'b=y'])
    expect(several).toEqual(failure(2, '--only-country takes one --field'))
  })
})
