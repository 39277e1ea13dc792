import { describe, expect, it } from 'vitest'
import { geofix } from './command-line.ts'

describe('the options of geofix enrich', () => {
  it.each([
    [['--format', 'xml'], /Write one of json, ndjson, .*csv/],
    [['--fields', 'city,town'], /Write some of country_code,.*asn_organization, each once\./],
    [['--fields', 'city,city'], /each once/],
    [['--fields', ''], /Write some of/],
    [['--into', ''], /Write a name/],
    [['--on-bad-line', 'skip'], /Write one of raw, keep, drop, fail\./],
    [['--max-line-bytes', '1k'], /Write a whole number from 1 to 268435456\./],
    [['--max-line-bytes', '0'], /Write a whole number/],
    [['--threads', '0'], /Write a whole number from 1 to 256\./],
    [['--threads', 'two'], /Write a whole number/],
    [['--stats', 'xml'], /Write one of text, json, none\./],
    [['--summary', 'report.html'], /Write it as html=report\.html, json=report\.json/],
    [['--summary', 'html='], /Write it as html=report\.html, json=report\.json/],
    [['--locale', 'no_such'], /BCP 47/],
    [['--at', 'yesterday'], /Write it as 2026-07-01/],
    [['--trust', '10/8'], /--trust: "10\/8"/],
    [['--only-failed', '--drop-unresolved'], /leave nothing to write/],
    [['-', '-'], /can be read only once/],
    [['-o', 'a.html', '--summary', 'html=a.html'], /name the same file/],
    [['--nonsense'], /unknown option '--nonsense'/],
  ])('are rejected when invalid: %j', async (args, message) => {
    const { status, out, err } = await geofix(['enrich', ...args], { input: '81.2.69.142\n' })
    expect({ status, out }).toEqual({ status: 2, out: '' })
    expect(err).toMatch(message)
  })

  it('accept x_forwarded_for in access logs, as the README says', async () => {
    const line = '10.0.0.1 - - [21/Nov/2026:10:00:00 +0000] "GET / HTTP/1.1" 200 1 "-" "-" "81.2.69.142"'
    const args = ['enrich', '--field', 'x_forwarded_for', '--trust', '10.0.0.0/8']
    const { status, out } = await geofix(args, { input: `${line}\n` })
    expect([status, JSON.parse(out).location.ip]).toEqual([0, '81.2.69.142'])
  })

  it.each([
    [
      '--field',
      ['--field', 'ip'],
      'list',
      /--field is for json, ndjson, .*csv, and standard input is list\./,
    ],
    ['--time-field', ['--time-field', 'ts'], 'list', /--time-field is for json, ndjson, .*csv/],
    ['--no-header', ['--no-header'], 'ndjson', /--no-header is for tsv, csv/],
    ['--append', ['--append'], 'tsv', /--append is for access-log, .*list/],
    ['--overwrite', ['--overwrite'], 'list', /--overwrite is for json, ndjson, .*csv/],
  ])('are rejected for formats that do not have them: %s', async (_, args, format, message) => {
    const { status, out, err } = await geofix(['enrich', '--format', format, ...args], {
      input: '81.2.69.142\n',
    })
    expect({ status, out }).toEqual({ status: 2, out: '' })
    expect(err).toMatch(message)
  })

  it('are checked against a detected format too', async () => {
    const { status, err } = await geofix(['enrich', '--append'], { input: '{"ip":"81.2.69.142"}\n' })
    expect(status).toBe(2)
    expect(err).toMatch(/--append is for .*access-log, .*list.*, and standard input is ndjson\./)
  })

  it.each([['enrich'], ['enrich', '--rows', '--format', 'list', '--at', '2026-07-01']])(
    'give lines that become objects the members of --fields: %s',
    async (...args) => {
      const { status, out } = await geofix([...args, '--fields', 'country_code'], { input: '81.2.69.142\n' })
      expect({ status, out }).toEqual({
        status: 0,
        out: '{"ip":"81.2.69.142","location":{"country_code":"GB"}}\n',
      })
    },
  )

  it('prints the help and exits with 2 when standard input is a terminal', async () => {
    const { status, err } = await geofix(['enrich'], { isTTY: true })
    expect(status).toBe(2)
    expect(err).toContain('Usage: geofix enrich')
  })
})
