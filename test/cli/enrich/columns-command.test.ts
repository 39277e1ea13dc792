// `geofix engine columns`. What it answers is tested with ColumnStream.
import { describe, expect, it } from 'vitest'
import { columnsOf } from '../../enrich/writing/columns-of.ts'
import { temporaryFolder } from '../../temporary.ts'
import { geofix, writeDatabase } from './command-line.ts'

const DB = writeDatabase(temporaryFolder())
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
    const { status, out, err } = await geofix([...NONE, '--locale', 'de'], { input })
    expect({ status, err }).toEqual({ status: 0, err: '' })
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
    expect(await geofix(NONE, { input: 'a line of a log\n' })).toEqual({
      status: 4,
      out: '',
      err: 'geofix: a request does not begin with GFX1\n',
    })
    const { status, err } = await geofix(NONE, { input: requestOf('81.2.69.142').subarray(0, 20) })
    expect({ status, err }).toEqual({ status: 4, err: 'geofix: the input ends within a request\n' })
  })

  it.each([
    [COLUMNS, /option '--times <kind>' not specified/],
    [[...COLUMNS, '--times', 'none'], /--times none needs --at TIME\./],
    [[...COLUMNS, '--times', 'seconds'], /Write one of none, microseconds, text\./],
    [[...NONE.slice(0, 4), '--times', 'text'], /option '--fields <list>' not specified/],
  ])('refuses %j', async (args, message) => {
    const { status, out, err } = await geofix(args, { input: requestOf('81.2.69.142') })
    expect({ status, out }).toEqual({ status: 2, out: '' })
    expect(err).toMatch(message)
  })
})
