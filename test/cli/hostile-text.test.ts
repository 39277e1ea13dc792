import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parse } from 'csv-parse/sync'
import { describe, expect, it } from 'vitest'
import { findDatabaseInTar } from '../../src/bytes/extract.ts'
import { Resolver } from '../../src/index.ts'
import { MmdbWriter } from '../../src/writer.ts'
import { archive, entry } from '../bytes/tar-samples.ts'
import { makeFile, temporaryFolder } from '../temporary.ts'
import { geofix, printed, words } from './enrich/command-line.ts'

const folder = temporaryFolder()

/** A colour sequence, the same with C1 controls, a bell, bidirectional controls, and a forged line. */
const HOSTILE = '\x1b[31m\u009b31m\u0007\u202e\u2066\ngeofix: forged'

/** Control characters and bidirectional controls. */
const CONTROLS = /[^\P{Cc}\n]|[\u202a-\u202e\u2066-\u2069]/u

const database = join(folder, 'hostile.mmdb')
const names = { en: `Name${HOSTILE}` }
writeFileSync(
  database,
  new MmdbWriter({ databaseType: `City${HOSTILE}`, languages: [HOSTILE], description: { en: HOSTILE } })
    .insert('1.0.0.0/8', { [HOSTILE]: 1, country: { iso_code: 'XK', names }, city: { names } })
    .toBytes(),
)

describe('hostile text', () => {
  it('from a database neither moves the cursor nor forges a line in geofix info', async () => {
    const out = await printed(geofix(['info', '--db', database]))
    expect(out).toContain('City\ufffd[31m')
    expect(out).not.toMatch(CONTROLS)
    expect(out).not.toMatch(/^geofix: forged/m)
  })

  it('from a database or a log is printable in the statistics of geofix enrich', async () => {
    const bad = makeFile(join(folder, 'bad.ndjson'), `{"ip":"1.1.1.1"}\n{"ip":"2.2.2.2"}\n{"ip" ${HOSTILE}\n`)
    const { err } = await geofix(['enrich', '--db', database, bad])
    expect(err).toContain('Name\ufffd')
    expect(err).not.toMatch(CONTROLS)
    expect(err).not.toMatch(/^geofix: forged/m)
  })

  it.each([[[]], [['--pretty']]])(
    'from a database is printable in a record, with the same value: %j',
    async (args) => {
      const { out } = await geofix(['--db', database, ...args, '1.1.1.1'])
      expect(out).not.toMatch(CONTROLS)
      expect(JSON.parse(out)).toMatchObject({ city: names.en, country: { name: names.en } })
    },
  )

  describe('from a log', () => {
    const FORMULA = '=HYPERLINK("http://evil.example")'
    const MARKUP = '<script>alert(1)</script>|[x](javascript:alert(1))`'
    const log = join(folder, 'hostile.ndjson')
    const paths = [HOSTILE, FORMULA, MARKUP, '-1+1', '@SUM(A1)']
    const lines = paths.map((path) => ({ ip: '1.1.1.1', method: 'GET', path, status: 404 }))
    writeFileSync(log, lines.map((line) => `${JSON.stringify(line)}\n`).join(''))
    const counted = (form: string) =>
      geofix(['count', '--db', database, '--by', '/path,country', '--to', form, log], { isShown: true })

    it.each([
      ['table', 7],
      ['csv', 7],
      ['tsv', 7],
      ['json', 8],
      ['ndjson', 6],
      ['md', 8],
    ])('is printable in a count as %s, in %i lines', async (form, count) => {
      const { status, out, err } = await counted(form)
      expect(status).toBe(0)
      expect(`${out}${err}`.replace(/\r\n|\t/g, '\n')).not.toMatch(CONTROLS)
      expect(`${out}${err}`).not.toMatch(/^geofix: forged/m)
      expect(out.split('\n')).toHaveLength(count)
      expect(out).toContain('HYPERLINK')
    })

    it('is a value in each form that programs read', async () => {
      const values = (rows: readonly Record<string, unknown>[]) => rows.map((row) => row['/path']).sort()
      const all = [...paths].sort()
      expect(values(JSON.parse((await counted('json')).out))).toEqual(all)
      const csv = await geofix(['count', '--db', database, '--by', '/path', '--to', 'csv', '--quiet', log])
      expect(values(parse(csv.out, { columns: true }))).toEqual(all)
    })

    it('is text in Markdown and in the report', async () => {
      const { out } = await counted('md')
      expect(out.replace(/\\[\\`*_{}[\]<>|~&]/g, '')).not.toMatch(/[`<>[\]]/)
      const report = join(folder, 'hostile.html')
      const bad = makeFile(
        join(folder, 'hostile.bad'),
        `${readFileSync(log, 'utf8').repeat(5)}{"ip" ${HOSTILE}${MARKUP}\n`,
      )
      const args = words`enrich ${bad} --db ${database} -o /dev/null --summary html=${report}`
      const { status, err } = await geofix([...args, '--title', HOSTILE + MARKUP])
      expect({ status, err }).toEqual({ status: 0, err: expect.not.stringMatching(CONTROLS) })
      const html = readFileSync(report, 'utf8')
      expect(html.replace(/[\t]/g, '')).not.toMatch(/[^\P{Cc}\n]|[\u202a-\u202e]/u)
      expect(html).toContain('&lt;script&gt;alert(1)')
      expect(html).not.toMatch(/<script|href="javascript/i)
    })

    it('is printable in what --explain shows', async () => {
      const { out } = await geofix(['enrich', log, '--explain', '--db', database], { isShown: true })
      expect(out).toContain('HYPERLINK')
      expect(out.replaceAll('\t', '')).not.toMatch(CONTROLS)
    })
  })

  it.each([[[]], [['info']], [['verify']], [['enrich']]])(
    'in an unknown option is printable, after %j',
    async (command) => {
      const { status, err } = await geofix([...command, `--bad${HOSTILE}`])
      expect(status).toBe(2)
      expect(err).toMatch(/^geofix: unknown option '--bad\ufffd\[31m.*forged'\n\(see geofix/)
      expect(err).not.toMatch(CONTROLS)
    },
  )

  it('in names of files is printable', async () => {
    const bad = makeFile(join(folder, `bad${HOSTILE}`.replaceAll('/', '')), '[]')
    for (const args of [
      ['verify', bad],
      ['info', '--db', bad],
      ['--db', bad, '1.1.1.1'],
      ['enrich', bad],
    ]) {
      const { err } = await geofix(args)
      expect(err).toContain('bad\ufffd[31m')
      expect(err).not.toMatch(CONTROLS)
      expect(err).not.toMatch(/^geofix: forged/m)
    }
  })

  it('in a database type is quoted and cut', async () => {
    const bytes = new MmdbWriter({ databaseType: HOSTILE + 'x'.repeat(1000) })
      .insert('1.0.0.0/8', { [HOSTILE]: 'x'.repeat(1000) })
      .toBytes()
    const resolver = await Resolver.open(bytes)
    expect(() => resolver.lookup('1.1.1.1')).toThrow(
      /^(?=[\x20-\x7e]{20,400}$).*it has no locations \(type "\\u001b\[31m\\u009b31m/,
    )
  })

  it('in names inside an archive is quoted and cut', () => {
    const content = new Uint8Array(10)
    const files = Array.from({ length: 50 }, (_, index) =>
      entry({ name: `${index}\x1b[31m\x9b.mmdb`, content }),
    )
    expect(() => findDatabaseInTar(archive(...files))).toThrow(
      /one: "0\\u001b\[31m\?\.mmdb", [\x20-\x7e]{20,80}, \.\.\.$/,
    )
  })
})
