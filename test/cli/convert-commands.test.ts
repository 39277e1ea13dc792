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

describe('geofix slim', () => {
  const SLIM = ['slim', at('db.mmdb.gz'), '--fields', 'country', '--locales', 'en,de', '--countries', 'gb,fr']

  it.each([
    ['small.mmdb', (bytes: Buffer) => !isPacked(bytes)],
    ['small.mmdb.gz', (bytes: Buffer) => bytes[0] === 0x1f],
    ['small.mmdb.packed', (bytes: Buffer) => isPacked(bytes)],
  ])('writes %s in the form of its name', async (name, isForm) => {
    const { status, out, err } = await geofix([...SLIM, '-o', at(name)])
    expect({ status, out }).toEqual({ status: 0, out: '' })
    expect(err).toMatch(
      /^geofix: .*: 1 network, 1 record, [\d,]+ bytes; from 1 network, 1 record, [\d,]+ bytes; no network is in FR\n$/,
    )
    expect(isForm(readFileSync(at(name)))).toBe(true)
    const found = await geofix(['--db', at(name), '81.2.69.142', '--locale', 'de'])
    expect(JSON.parse(found.out)).toMatchObject({
      country: { code: 'GB', name: 'Vereinigtes Königreich' },
      city: null,
    })
    expect((await geofix(['slim', at(name), '-o', at('again.mmdb')])).status).toBe(0)
  })

  it.each([
    [['--fields', 'zip'], '"zip" is not a field'],
    [['--fields', 'timezone'], 'fields must have one of'],
    [['--countries', 'UK'], 'write GB'],
    [['--locales', 'no_such'], 'BCP 47'],
  ])('refuses %j before it reads anything', async (args, message) => {
    const { status, err } = await geofix(['slim', at('missing.mmdb'), ...args, '-o', at('none')])
    expect(status).toBe(2)
    expect(err).toContain(message)
  })

  it('writes nothing for a database without locations', async () => {
    const asn = new MmdbWriter({ databaseType: 'ASN' }).insert('1.0.0.0/8', { asn: 1 }).toBytes()
    writeFileSync(at('asn.mmdb'), asn)
    const { status, err } = await geofix(['slim', at('asn.mmdb'), '-o', at('none')])
    expect(status).toBe(1)
    expect(err).toContain(`${at('asn.mmdb')}: it has no locations`)
    expect(existsSync(at('none'))).toBe(false)
  })
})
