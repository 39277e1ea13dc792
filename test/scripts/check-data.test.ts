import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import {
  ASN_ATTRIBUTION,
  ATTRIBUTION,
  describeFile,
  type Manifest,
  sha256,
} from '../../scripts/build-data/manifest.ts'
import { checkRepairs } from '../../scripts/build-data/repairs.ts'
import { checkData } from '../../scripts/check-data.ts'
import { pinnedPackages } from '../../scripts/pinned-packages.ts'
import { MmdbWriter } from '../../src/writer.ts'
import { itInLongRun } from '../effort.ts'
import { temporaryFolder } from '../temporary.ts'

const ROOT = join(import.meta.dirname, '../..')

describe('the published data', () => {
  const manifest: Manifest = JSON.parse(readFileSync(join(ROOT, 'data/manifest.json'), 'utf8'))

  itInLongRun('matches the manifest', () => {
    expect(checkData(join(ROOT, 'data'))).toEqual([
      { file: 'city.mmdb.packed', problems: [] },
      { file: 'country.mmdb.gz', problems: [] },
      { file: 'asn.mmdb.packed', problems: [] },
    ])
  })

  it('has the attribution, and was built from the pinned packages', () => {
    expect(manifest.attribution).toBe(ATTRIBUTION)
    expect(manifest.asn.attribution).toBe(ASN_ATTRIBUTION)
    for (const text of [
      'https://db-ip.com',
      'CC BY 4.0',
      'modified',
      'link back',
      'GeoNames',
      'Unicode',
      'iso-3166',
    ]) {
      expect(manifest.attribution).toContain(text)
    }
    expect(manifest.sources.map(({ name, version, integrity }) => ({ name, version, integrity }))).toEqual(
      pinnedPackages(join(ROOT, 'scripts/build-data/packages')),
    )
  })

  it('was built from the inputs in the repository', () => {
    for (const { file, sha256: expected } of manifest.inputs) {
      expect([file, sha256(readFileSync(join(ROOT, 'scripts/build-data/input', file)))]).toEqual([
        file,
        expected,
      ])
    }
  })

  it('names its compressor', () => {
    expect(manifest.compressor).toEqual({
      tool: 'libdeflate-gzip',
      version: expect.stringMatching(/^\d+\.\d+/),
    })
  })

  it('counts what was repaired, and has no fault that must not be left', () => {
    expect(() => checkRepairs(manifest.repairs, [])).not.toThrow()
    for (const { what, before, after } of manifest.repairs)
      expect([what, before > after]).toEqual([what, true])
    expect(manifest.timeZonesElsewhere.sameOffsets).toBeGreaterThan(0.999)
  })
})

describe('checkData', () => {
  const folder = temporaryFolder()

  function folderWith(change: (packed: Buffer) => Buffer | null): string {
    const writer = new MmdbWriter({ databaseType: 'T', recordSize: 32 }).insert('1.0.0.0/8', { a: 1 })
    const unpacked = Buffer.from(writer.toBytes())
    const packed = gzipSync(unpacked)
    const files = [describeFile('t.mmdb.gz', packed, unpacked, 1)]
    writeFileSync(
      join(folder, 'manifest.json'),
      JSON.stringify({ buildDate: '2000-01-01T00:00:00.000Z', files }),
    )
    const changed = change(packed)
    if (changed === null) rmSync(join(folder, 't.mmdb.gz'), { force: true })
    else writeFileSync(join(folder, 't.mmdb.gz'), changed)
    return folder
  }

  it.each<[string, (packed: Buffer) => Buffer | null, RegExp | null]>([
    ['nothing', (packed) => packed, null],
    ['a byte', (packed) => packed.fill(0, 20, 21), /^SHA-256 is [0-9a-f]{64}, not [0-9a-f]{64}$/],
    ['the length', (packed) => packed.subarray(1), /^\d+ bytes, not \d+$/],
    ['everything: the file is missing', () => null, /no such file/],
  ])('finds a change of %s', (_, change, problem) => {
    const [result] = checkData(folderWith(change))
    if (problem === null) expect(result?.problems).toEqual([])
    else expect(result?.problems[0]).toMatch(problem)
  })
})
