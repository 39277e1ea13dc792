import { describe, expect, it } from 'vitest'
import type { EnrichOptions } from '../../../../src/enrich/formats/formats.ts'
import { run, text } from '../../world.ts'

const outcome = (input: string, options: EnrichOptions = {}): string => {
  try {
    return text(run(input, { format: 'csv', fields: ['country_code'], ...options }).output)
  } catch (error) {
    return error instanceof Error ? `${Reflect.get(error, 'code')}: ${error.message}` : ''
  }
}

const ROWS = '2,81.2.69.142,x\n3,9.9.9.9,y\n4,89.160.20.112,z\n'

describe('the first row of a table', () => {
  it.each([
    ['1,-,x', '"1" in column 1 is not a name'],
    ['a,-,x', '"-" in column 2 is not a name'],
    ['a,NULL,x', '"NULL" in column 2'],
    ['a,10.0.0.300,8.8.8.8', '"8.8.8.8" in column 3'],
    ['a,unknown,2026-07-01T12:00:00Z', '"2026-07-01T12:00:00Z" in column 3'],
    ['a,unknown,01/07/2026 12:00', '"01/07/2026 12:00" in column 3'],
    ['a,unknown,-1.5', '"-1.5" in column 3'],
    ['a,unknown,0e37e5b2-9d0c-4b8e-9e3c-5f2d8a4b1c6d', 'in column 3 is not a name'],
    ['a,unknown,https://example.org/', 'in column 3 is not a name'],
    ['a,unknown,me@example.org', 'in column 3 is not a name'],
    ['a,unknown,y', '"y" in column 3 is a value of other rows too'],
    ['a,"81.2.69.142, 10.0.0.1",x', 'in column 2 is not a name'],
  ])('is not lost as the header if it is data: %s', (first, found) => {
    const refused = outcome(`${first}\n${ROWS}`)
    expect(refused).toContain(
      'ENRICH_HEADER_MISSING: its first line, where a header has names, looks like data: ',
    )
    expect(refused).toContain(found)
    expect(refused).toContain('add --no-header --field 2 (')
    // What the message says works.
    const lines = outcome(`${first}\n${ROWS}`, {
      header: false,
      field: '2',
      trustedProxies: ['10.0.0.0/8'],
    }).split('\n')
    expect(lines[1]).toBe('2,81.2.69.142,x,GB')
  })

  it('is not lost if the addresses have nothing over them', () => {
    expect(outcome(`a,,b\n${ROWS}`, { header: false, field: '2' })).toMatch(/^a,,b,\n2,81.2.69.142,x,GB/)
    const many = Array.from({ length: 20 }, (_, i) => `${i},${20 + i}.9.${90 + i}.7,q\n`).join('')
    expect(outcome(`a,,b\n${many}`)).toMatch(
      /ENRICH_HEADER_MISSING: .*nothing over the addresses of column 2/,
    )
  })

  it.each<[string, EnrichOptions, string]>([
    ['n,ip,x', {}, 'usual names'],
    [',ip,x', {}, 'an index without a name'],
    ['2026,ip,-', {}, 'a usual name beside what could be data'],
    ['n,visitor,1', { field: 'visitor' }, 'the name of the field'],
    ['0,1,2', { field: '2' }, 'the name of a column that is numbered'],
  ])('is the header if it has %3$s: %s', (first, options, _) => {
    expect(outcome(`${first}\n${ROWS}`, options).split('\n')[0]).toBe(`${first},country_code`)
  })

  it('can come again where two tables were joined', () => {
    expect(outcome(`n,ip,x\n${ROWS}n,ip,x\n${ROWS}`)).toMatch(/^n,ip,x,country_code\n/)
    expect(outcome(`n,visitor,name\n${ROWS}n,visitor,name\n${ROWS}`)).toMatch(
      /ENRICH_FIELD_UNKNOWN.*--field visitor$/,
    )
  })
})
