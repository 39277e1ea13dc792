import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { failure, geofix, ndjson, workspace } from './command-line.ts'

const { folder, DB, enrich } = workspace()

describe('geofix enrich', () => {
  it('prints its guesses and the statistics on standard error', async () => {
    const { err } = await enrich([], ndjson(3))
    expect(err.trimEnd().split('\n')).toEqual([
      expect.stringMatching(/^geofix: standard input: the format is ndjson$/),
      expect.stringMatching(/^geofix: standard input: .*\bip\b/),
      expect.stringMatching(/^3 lines, .* on 1 thread: /),
      expect.stringMatching(/^ {2}resolved {6}2 \(66\.7%\)$/),
      expect.stringMatching(/^ {2}not resolved {2}1 \(33\.3%\): 1 private$/),
      '  without time  3 (100%): the offset is unknown unless --at says when',
      expect.stringMatching(/^ {2}countries {5}2: Australia 1, United Kingdom 1$/),
    ])
  })

  it('shows progress on a terminal, unless the lines go to the same terminal', async () => {
    async function* slowly() {
      yield ndjson(3)
      await setTimeout(500)
    }
    async function runOn(isShown: boolean, args: readonly string[]) {
      const surroundings = { input: slowly(), isShown, isErrShown: true, columns: 80 }
      const { status, err } = await geofix(['enrich', '--db', DB, '--stats', 'none', ...args], surroundings)
      return { status, isShown: err.includes('\u001b[') }
    }
    const out = join(folder, 'progress')
    expect(await runOn(true, ['-o', out])).toEqual({ status: 0, isShown: true })
    expect(await runOn(false, [])).toEqual({ status: 0, isShown: true })
    expect(await runOn(true, [])).toEqual({ status: 0, isShown: false })
    expect(await runOn(true, ['--quiet', '-o', out])).toEqual({ status: 0, isShown: false })
  })

  it('prints with --quiet only what other options ask for', async () => {
    expect((await enrich(['--quiet'], ndjson(3))).err).toBe('')
    expect((await enrich(['--stats', 'none', '--format', 'ndjson', '--field', 'ip'], ndjson(3))).err).toBe('')
    const { err } = await enrich(['--quiet', '--stats', 'json'], ndjson(3))
    expect(JSON.parse(err)).toMatchObject({ lines: 3 })
  })

  it('prints the statistics as JSON with stable keys', async () => {
    const input = `${ndjson(6)}{"ip":"nonsense"}\n{"id":7}\n\nnot JSON\n{"ip":"8.8.8.8"}\n`
    const { err } = await enrich(['--quiet', '--stats', 'json', '--field', 'ip'], input)
    const { seconds, linesPerSecond, bytesWritten, ...rest } = JSON.parse(err)
    expect(rest).toEqual({
      lines: 11,
      resolved: 4,
      unresolved: 5,
      failed: { private: 2, malformed: 1, missing: 1, 'not-found': 1 },
      bad: 1,
      badLines: [{ input: 'standard input', line: 10, message: expect.any(String) }],
      doubtful: 0,
      doubtfulLines: [],
      blank: 1,
      withoutTime: 9,
      distinctCountries: 2,
      topCountries: [
        { code: 'AU', name: 'Australia', count: 2 },
        { code: 'GB', name: 'United Kingdom', count: 2 },
      ],
      inputs: ['standard input'],
      format: 'ndjson',
      bytesRead: input.length,
      threads: 1,
    })
    expect(seconds).toBeGreaterThan(0)
    expect(linesPerSecond).toBeGreaterThan(0)
    expect(bytesWritten).toBeGreaterThan(input.length)
  })

  it('checks options against a detected format too', async () => {
    expect(await geofix(['enrich', '--append'], { input: '{"ip":"81.2.69.142"}\n' })).toEqual(
      failure(2, /--append is for .*access-log, .*list.*, and standard input is ndjson\./),
    )
  })

  it.each([
    [['--fields', 'city,town'], /Write some of country_code,.*asn_organization, each once\./],
    [['--on-bad-line', 'skip'], /Write one of raw, keep, drop, fail\./],
    [['--max-line-bytes', '1k'], /Write a whole number from 1 to 268435456\./],
    [['--threads', '0'], /Write a whole number from 1 to 256\./],
    [['--summary', 'report.html'], /Write it as html=report\.html, json=report\.json or geojson=/],
    [['--summary', 'html='], /Write it as html=report\.html, json=report\.json or geojson=/],
    [['--summary', 'md=a'], /json=report\.json or geojson=cities\.geojson\. geofix count writes CSV/],
    [['--title', 'x'], /--title needs --summary/],
    [['--no-addresses'], /--no-addresses needs --summary/],
    [['--rows', '--no-addresses'], /--no-addresses needs --summary/],
    [['--quoting', 'none'], /--quoting needs --rows\./],
    [['--chunk-header'], /--chunk-header needs --rows\./],
    [['--write-chunk-header'], /--write-chunk-header needs --rows\./],
    [['--mask', '24,48', '--pseudonym', 'missing'], /--mask/],
    [['--pseudonym', 'missing'], /--pseudonym/],
    [['--new-key'], /--new-key/],
    [['-', '-'], /can be read only once/],
  ])('refuses %j', async (args, message) => {
    expect(await enrich(args, '81.2.69.142\n')).toEqual(failure(2, message))
  })

  it('writes an empty output for an empty input', async () => {
    const { status, out, err } = await enrich([], '')
    expect({ status, out }).toEqual({ status: 0, out: '' })
    expect(err).toContain('0 lines')
  })

  it('fails if no line has an address, unless --force is given', async () => {
    const input = 'web-1  | \u001b[31mhello\nweb-1  | world\n'
    const { status, out, err } = await enrich(['--format', 'list'], input)
    expect({ status, out }).toEqual({ status: 1, out: '' })
    expect(err).toMatch(/^geofix: standard input: there is no address in the first 2 records, read as list/)
    expect(err).toContain(String.raw`the first line is "web-1  | \u001b[31mhello"`)
    expect((await enrich(['--format', 'list', '--force'], input)).status).toBe(0)
  })
})
