import { execFileSync, spawnSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { float, MmdbWriter } from '../../../src/writer.ts'
import { temporaryFolder } from '../../temporary.ts'

const missing = spawnSync('mmdblookup', ['--version']).error !== undefined

describe.skipIf(missing)("mmdblookup (skipped where Debian's mmdb-bin is not installed)", () => {
  const folder = temporaryFolder()

  it.each([24, 28, 32] as const)('reads a file of records of %i bits', (recordSize) => {
    const file = join(folder, `${recordSize}.mmdb`)
    const record = {
      country: { iso_code: 'GB', names: { en: 'United Kingdom' } },
      location: { latitude: float(51.5) },
    }
    const writer = new MmdbWriter({ databaseType: 'Test', recordSize })
    writeFileSync(file, writer.insert('81.2.69.0/24', record).insert('2a02:c7c::/30', record).toBytes())
    for (const ip of ['81.2.69.142', '::ffff:81.2.69.142', '2a02:c7d::1']) {
      const read = (...path: string[]): string =>
        execFileSync('mmdblookup', ['-f', file, '-i', ip, ...path], { encoding: 'utf8' })
      expect(read('country', 'names', 'en')).toContain('"United Kingdom" <utf8_string>')
      expect(read('location', 'latitude')).toContain('51.500000 <float>')
    }
  })
})
