// Stray quotes in tables, on several threads.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { geofix, workspace } from './command-line.ts'

const { folder, DB } = workspace()
const ROWS = 30_000
/** Rows with a stray quote. Blocks have 256 KiB: some are in each, and some are far from the next. */
const isStray = (row: number): boolean => row % 1709 === 1000 || row % 20_000 === 7
/** Rows with text after a closing quote, which ends the doubt about a stray quote before them. */
const isDoubtful = (row: number): boolean => row % 5003 === 4000

function table(): string {
  const rows = Array.from({ length: ROWS }, (_, row) => {
    const note = isStray(row) ? '"oops' : isDoubtful(row) ? '"x" y' : `ok ${'.'.repeat(row % 60)}`
    return `${row},81.2.69.142,${note}\n`
  })
  return `id,ip,note\n${rows.join('')}`
}

describe('stray quotes', () => {
  it('lose no row on any number of threads, from files and pipes', async () => {
    const input = table()
    expect(input.length).toBeGreaterThan(4 * 256 * 1024)
    const path = join(folder, 'stray.csv')
    writeFileSync(path, input)
    const args = ['enrich', '--db', DB, '--fields', 'country_code', '--stats', 'json']
    const lines = input.split('\n').slice(1, -1)
    const stray = lines.filter((_, row) => isStray(row)).length
    for (const threads of ['1', '2', '4']) {
      for (const [more, surroundings] of [
        [[path], {}],
        [[], { input }],
      ] as const) {
        const { status, out, err } = await geofix([...args, '--threads', threads, ...more], surroundings)
        expect(status).toBe(0)
        const rows = out.split('\n').slice(1, -1)
        const expected = lines.map((line, row) => (isStray(row) ? line : `${line},GB`))
        expect(rows.findIndex((row, index) => row !== expected[index])).toBe(-1)
        expect(rows).toHaveLength(ROWS)
        expect(err).toContain(`"bad":${stray},`)
      }
    }
  })
})
