import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { isPacked } from '../../src/bytes/extract.ts'
import { MmdbWriter } from '../../src/writer.ts'
import { temporaryFolder } from '../temporary.ts'
import { geofix } from './enrich/command-line.ts'

const folder = temporaryFolder()
const at = (name: string): string => join(folder, name)
const DB = new MmdbWriter({ databaseType: 'Sample-City' })
  .insert('81.2.69.0/24', { country: { iso_code: 'GB' }, city: { names: { en: 'London' } } })
  .toBytes()
writeFileSync(at('db.mmdb'), DB)
writeFileSync(at('db.mmdb.gz'), gzipSync(DB))

describe('geofix pack and geofix unpack', () => {
  it.each(['db.mmdb', 'db.mmdb.gz'])('convert %s and back, and look up in it', async (name) => {
    const packed = await geofix(['pack', at(name), '-o', at('db.packed')])
    expect(packed.status).toBe(0)
    expect(packed.err).toMatch(/^geofix: .*db\.packed: [\d,]+ bytes, from [\d,]+\n$/)
    expect(isPacked(readFileSync(at('db.packed')))).toBe(true)
    const found = await geofix(['--db', at('db.packed'), '81.2.69.142'])
    expect(JSON.parse(found.out)).toMatchObject({ city: 'London' })
    expect((await geofix(['verify', at('db.packed')])).out).toContain('valid; ')
    const [info, original] = [
      await geofix(['info', '--json', '--db', at('db.packed')]),
      await geofix(['info', '--json', '--db', at('db.mmdb')]),
    ]
    expect({ ...JSON.parse(info.out), path: '' }).toEqual({ ...JSON.parse(original.out), path: '' })

    const unpacked = await geofix(['unpack', at('db.packed'), '-o', at('unpacked.mmdb')])
    expect(unpacked.status).toBe(0)
    expect(new Uint8Array(readFileSync(at('unpacked.mmdb')))).toEqual(DB)
  })

  it('write nothing for an input that they cannot convert', async () => {
    writeFileSync(at('bad.mmdb'), 'nonsense')
    const torn = gzipSync(DB)
    torn.writeUInt32LE(0, torn.length - 8)
    writeFileSync(at('torn.mmdb.gz'), torn)
    for (const [action, input, fault] of [
      ['pack', 'bad.mmdb', 'it is not a MaxMind DB file'],
      ['pack', 'torn.mmdb.gz', 'its compressed data cannot be read'],
      ['pack', 'missing.mmdb', 'it cannot be read'],
      ['unpack', 'db.mmdb', 'it is not a packed database'],
    ] as const) {
      const { status, err } = await geofix([action, at(input), '-o', at('none')])
      expect(status).toBe(1)
      expect(err).toContain(`${at(input)}: ${fault}`)
    }
    expect(existsSync(at('none'))).toBe(false)
    expect(readdirSync(folder).filter((name) => name.endsWith('.partial'))).toEqual([])
  })

  it('need an output', async () => {
    expect((await geofix(['pack', at('db.mmdb')])).status).toBe(2)
  })
})
