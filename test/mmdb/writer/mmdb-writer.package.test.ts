import { execFileSync, spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { float, MmdbWriter, type MmdbWriterOptions, type WritableValue } from '../../../src/writer.ts'

function written(
  networks: readonly (readonly [string, WritableValue])[],
  options: Partial<MmdbWriterOptions> = {},
) {
  const writer = new MmdbWriter({ databaseType: 'Test', ...options })
  for (const [network, record] of networks) writer.insert(network, record)
  return writer.toBytes()
}

describe('mmdblookup (libmaxminddb)', () => {
  const missing = spawnSync('mmdblookup', ['--version']).error !== undefined
  it.skipIf(missing)("reads the file (skipped where Debian's mmdb-bin is not installed)", () => {
    const folder = mkdtempSync(join(tmpdir(), 'geofix-'))
    try {
      for (const recordSize of [24, 28, 32] as const) {
        const file = join(folder, `${recordSize}.mmdb`)
        const record = {
          country: { iso_code: 'GB', names: { en: 'United Kingdom' } },
          location: { latitude: float(51.5) },
        }
        writeFileSync(
          file,
          written(
            [
              ['81.2.69.0/24', record],
              ['2a02:c7c::/30', record],
            ],
            { recordSize },
          ),
        )
        for (const ip of ['81.2.69.142', '::ffff:81.2.69.142', '2a02:c7d::1']) {
          const name = execFileSync('mmdblookup', ['-f', file, '-i', ip, 'country', 'names', 'en'], {
            encoding: 'utf8',
          })
          expect(name).toContain('"United Kingdom" <utf8_string>')
          const latitude = execFileSync('mmdblookup', ['-f', file, '-i', ip, 'location', 'latitude'], {
            encoding: 'utf8',
          })
          expect(latitude).toContain('51.500000 <float>')
        }
      }
    } finally {
      rmSync(folder, { recursive: true })
    }
  })
})
