// The table of scripts/bench/README.md says what whole processes take. Memory hardly depends on the machine, so
// that processes of today show whether the table still holds; the times are left to `npm run bench:costs`.
import { execFileSync } from 'node:child_process'
import { readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { ROOT } from '../package/project.ts'

/** Files of the package, and the columns of the tables: numbers of lookups in one process. */
const FILES = ['city.mmdb.packed', 'country.mmdb.gz']
const LOOKUPS = [1, 1000, 100_000]

const rowsOf = (page: string): string[] =>
  readFileSync(join(ROOT, page), 'utf8')
    .split('\n')
    .filter((line) => /^\|.* MB\b.*\|/.test(line))

/** The megabytes in the row of a file: of the file, and of a process for each number of lookups. */
function megabytesOf(file: string): number[] {
  const [row = ''] = rowsOf('scripts/bench/README.md').filter(
    (line) => line.includes(`\`${file}\``) && line.includes('embedded'),
  )
  return Array.from(row.matchAll(/([\d.]+) MB/g), ([, number]) => Number(number)).slice(0, 1 + LOOKUPS.length)
}

function peakMegabytes(file: string, lookups: number): number {
  const args = ['geofix', join(ROOT, 'dist/index.js'), join(ROOT, 'data', file), String(lookups)]
  const out = execFileSync(process.execPath, [join(ROOT, 'scripts/bench/whole.mjs'), ...args], {
    encoding: 'utf8',
  })
  return Number(/"peak":([\d.]+)/.exec(out)?.[1])
}

describe('the tables of what a whole process takes', () => {
  it.each(FILES)('name the size of %s, and its memory', (file) => {
    const [size = 0, ...memory] = megabytesOf(file)
    expect(memory).toHaveLength(LOOKUPS.length)
    expect(Number((statSync(join(ROOT, 'data', file)).size / 1e6).toPrecision(3))).toBe(size)
    LOOKUPS.forEach((lookups, index) => {
      const [said = 0, measured] = [memory[index], peakMegabytes(file, lookups)]
      expect(measured / said).toBeGreaterThan(0.6)
      expect(measured / said).toBeLessThan(1.5)
    })
  })

  it('advise a database that fits into 128 MB for processes that have no more', () => {
    const [row = ''] = rowsOf('src/node/README.md').filter((line) => line.includes('limited to 128 MB'))
    expect(row).toContain('`embedded.country`')
    expect(peakMegabytes('country.mmdb.gz', 100_000)).toBeLessThan(128)
  })
})
