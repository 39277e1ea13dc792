// `geofix enrich --rows` and `geofix engine columns`: what programs that run them depend on. What columns are is tested with
// ColumnStream.
import { describe, expect, it } from 'vitest'
import { columnsOf } from '../../enrich/writing/columns-of.ts'
import { failingAfter, failure, geofix, printed, workspace } from './command-line.ts'

const { DB } = workspace()
const LIST = ['enrich', '--rows', '--db', DB, '--format', 'list', '--append', '--at', '2026-07-01']
const TSV = [
  ...['enrich', '--rows', '--db', DB, '--format', 'tsv', '--quoting', 'none', '--field', '1'],
  ...['--at', '2026-07-01', '--fields', 'country_code,city'],
]

describe('geofix enrich --rows', () => {
  it('gives a row for each row, and no message', async () => {
    const input = '81.2.69.142\n\nx\ty\n81.2.69.142'
    expect(await geofix(TSV, { input })).toEqual({
      status: 0,
      out: '81.2.69.142\tGB\tLondon\n\t\\N\t\\N\nx\ty\t\\N\t\\N\n81.2.69.142\tGB\tLondon',
      err: '',
    })
    expect(await geofix(LIST, { input: '' })).toEqual({ status: 0, out: '', err: '' })
  })

  it('accepts flags that repeat what rows are: standard input, no header, no messages', async () => {
    const args = [...TSV, '--no-header', '--quiet', '-']
    expect(await geofix(args, { input: 'x\n' })).toEqual({ status: 0, out: 'x\t\\N\t\\N\n', err: '' })
  })

  it('reads the number of rows in a block, and writes it', async () => {
    const input = '2\n1\n81.2.69.142\n1\n2\n'
    const rows = '1\t\\N\t\\N\n81.2.69.142\tGB\tLondon\n'
    expect(await geofix([...TSV, '--chunk-header'], { input })).toEqual({
      status: 0,
      out: `${rows}2\t\\N\t\\N\n`,
      err: '',
    })
    const { out } = await geofix([...TSV, '--chunk-header', '--write-chunk-header'], { input })
    expect(out).toBe(`2\n${rows}1\n2\t\\N\t\\N\n`)
    const wrong = await geofix([...TSV, '--chunk-header'], { input: '2\n1\nx\ny\n' })
    expect(wrong).toEqual(failure(4, /^geofix: line 4 does not count the rows of a block\n$/))
  })

  it.each([
    [[], /--rows guesses nothing: add --format NAME\./],
    [['--format', 'list'], /add --at TIME\./],
    [['--format', 'list', '--time-field', 'x'], /--time-field is for json, ndjson, .*csv/],
    [[...LIST.slice(4), '--into', 'x'], /--into is not for --append/],
    [['--format', 'ndjson'], /add --field NAME, --at TIME or --time-field NAME\./],
    [['--format', 'csv', '--field', '1', '--at', '2026-07-01'], /add --quoting double or --quoting none\./],
    [['--format', 'csv', '--quoting', 'single'], /Write one of double, none\./],
    [[...TSV.slice(4), '--field', '2'], /takes one --field/],
    [[...LIST.slice(4), '--write-chunk-header'], /needs --chunk-header/],
    [[...LIST.slice(4), '--on-bad-line', 'drop'], /--on-bad-line drop is not for --rows/],
    [[...LIST.slice(4), '--on-bad-line', 'fail'], /--on-bad-line fail is not for --rows/],
    [[...LIST.slice(4), '--trust', '10/8'], /--trust: "10\/8"/],
    ...[
      ...[['--threads', '2'], ['--stats', 'json'], ['--summary', 'html=x.html'], ['-o', 'x'], ['--force']],
    ].map((flags): [string[], RegExp] => [[...LIST.slice(4), ...flags], / is not for --rows\./]),
    [[...LIST.slice(4), '--only-failed'], /--only-failed is not for rows: every input row needs/],
    [[...LIST.slice(4), '--drop-unresolved'], /--drop-unresolved is not for rows/],
    [[...LIST.slice(4), 'access.log'], /--rows reads standard input: write < FILE/],
  ])('refuses, without reading a row: %j', async (flags, message) => {
    expect(await geofix(['enrich', '--rows', ...flags], { input: 'x\n' })).toEqual(failure(2, message))
  })

  it('uses the embedded database by default', async () => {
    const args = TSV.filter((text) => text !== '--db' && text !== DB)
    const { status, out } = await geofix(args, { input: '133.11.93.3\n' })
    expect([status, out]).toEqual([0, '133.11.93.3\tJP\tChiyoda City\n'])
  })

  it('fails if standard input does', async () => {
    const input = failingAfter('81.2.69.142\n')
    const failed = failure(4, /^geofix: standard input cannot be read: .*\n$/)
    expect(await geofix(TSV, { input })).toEqual({ ...failed, out: '81.2.69.142\tGB\tLondon\n' })
  })

  it('fails if a database has no file', async () => {
    const args = [...TSV, '--db', '/nowhere/city.mmdb']
    expect((await geofix(args, { input: 'x\n' })).status).toBe(4)
  })
})

const COLUMNS = ['engine', 'columns', '--db', DB, '--fields', 'country_name,timezone_offset']
const NONE = [...COLUMNS, '--times', 'none', '--at', '2026-07-01']

/** A request with one address and no times. */
function requestOf(address: string): Uint8Array {
  const numbers = Uint32Array.from([0x31584647, 1, address.length, 0, 0, address.length])
  return Buffer.concat([new Uint8Array(numbers.buffer), Buffer.from(address)])
}

describe('geofix engine columns', () => {
  it('answers each request, in the language that was asked for', async () => {
    const input = Buffer.concat([requestOf('81.2.69.142'), requestOf('10.0.0.1')])
    const out = await printed(geofix([...NONE, '--locale', 'de'], { input }))
    const answers = Buffer.from(out)
    const [countries, offsets] = columnsOf(answers.subarray(20), 2, ['country_name', 'timezone_offset'])
    expect([countries, offsets]).toEqual([
      [null, 'Vereinigtes Königreich'],
      [null, '+01:00'],
    ])
    const numbersAt = (at: number): number[] =>
      Array.from({ length: 4 }, (_, index) => answers.readUInt32LE(at + 4 * index))
    const size = answers.readUInt32LE(8)
    expect(numbersAt(0)).toEqual([1, 2, size, 1])
    expect(numbersAt(12 + size)).toEqual([1, 1, answers.length - 2 * 12 - size, 0])
  })

  it('fails if a request is wrong or incomplete, with one line that says so', async () => {
    const wrong = await geofix(NONE, { input: 'a line of a log\n' })
    expect(wrong).toEqual(failure(4, /^geofix: a request does not begin with GFX1\n$/))
    const incomplete = await geofix(NONE, { input: requestOf('81.2.69.142').subarray(0, 20) })
    expect(incomplete).toEqual(failure(4, /^geofix: the input ends within a request\n$/))
  })

  it.each([
    [COLUMNS, /option '--times <kind>' not specified/],
    [[...COLUMNS, '--times', 'none'], /--times none needs --at TIME\./],
    [[...COLUMNS, '--times', 'seconds'], /Write one of none, microseconds, text\./],
    [[...NONE.slice(0, 4), '--times', 'text'], /option '--fields <list>' not specified/],
  ])('refuses %j', async (args, message) => {
    expect(await geofix(args, { input: requestOf('81.2.69.142') })).toEqual(failure(2, message))
  })
})
