import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { isPacked } from '../../src/bytes/file-kind.ts'
import { british, databaseWith } from '../own-databases.ts'
import { temporaryFolder } from '../temporary.ts'
import { failure, geofix, valuesIn } from './enrich/command-line.ts'

const folder = temporaryFolder()
const at = (name: string): string => join(folder, name)
const DB = british('London')
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
    for (const [action, input, status, fault] of [
      ['pack', 'bad.mmdb', 1, 'it is text, which begins with "nonsense"'],
      ['pack', 'torn.mmdb.gz', 1, 'its compressed data cannot be read'],
      ['pack', 'missing.mmdb', 4, 'it cannot be read'],
      ['unpack', 'db.mmdb', 1, 'it is not a packed database: use an .mmdb file as it is, gunzip for a .gz'],
    ] as const) {
      const ran = await geofix([action, at(input), '-o', at('none')])
      expect(ran).toEqual(failure(status, `${at(input)}: ${fault}`))
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
      /^geofix: .*: 1 network, 1 record, [\d,]+ bytes( before gzip)?; from 1 network, 1 record, [\d,]+ bytes; no network is in FR\n$/,
    )
    expect(err.includes(' before gzip;')).toBe(name.endsWith('.gz'))
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
    expect(await geofix(['slim', at('missing.mmdb'), ...args, '-o', at('none')])).toEqual(failure(2, message))
  })

  it('writes nothing if no network is left', async () => {
    const { status, err } = await geofix([...SLIM.slice(0, -1), 'FR', '-o', at('none')])
    expect({ status, err }).toEqual({ status: 1, err: expect.stringContaining('no network is left') })
    expect(existsSync(at('none'))).toBe(false)
  })

  it('writes nothing for a database without locations', async () => {
    writeFileSync(at('asn.mmdb'), databaseWith({ asn: 1 }))
    expect(await geofix(['slim', at('asn.mmdb'), '-o', at('none')])).toEqual(
      failure(1, `${at('asn.mmdb')}: it has no locations`),
    )
    expect(existsSync(at('none'))).toBe(false)
  })
})

describe('geofix overlay', () => {
  const run = async (csv: string | Uint8Array, output = 'own.mmdb') => {
    writeFileSync(at('networks.csv'), csv)
    return geofix(['overlay', at('db.mmdb.gz'), '--csv', at('networks.csv'), '-o', at(output)])
  }
  const CSV = [
    'network,country_code,country_name,region_code,region_name,city,postal_code,latitude,longitude,timezone_id',
    '10.0.0.0/8,DE,,DE-BE,Berlin,Berlin,01234,52.52,13.405,Europe/Berlin',
    '"10.1.0.0/16",,,,,"Büro ""Nord"", 2. Stock",,,,',
    '',
    '10.1.2.3,CH,Schweiz,,,,,,,',
  ].join('\r\n')

  it('adds the networks of a CSV file', async () => {
    const { status, out, err } = await run(`\ufeff${CSV}`)
    expect({ status, out }).toEqual({ status: 0, out: '' })
    expect(err).toMatch(
      /: [\d,]+ networks, 4 records, [\d,]+ bytes; from 1 network, 1 record, .*; 3 networks in .*csv\n$/,
    )
    const found = await geofix(['--db', at('own.mmdb'), '10.9.9.9', '10.1.0.1', '10.1.2.3', '81.2.69.142'])
    expect(found.status).toBe(0)
    expect(valuesIn(found.out)).toMatchObject([
      {
        country: { code: 'DE', name: 'Germany' },
        region: { code: 'DE-BE', name: 'Berlin' },
        postal_code: '01234',
        coordinates: { latitude: 52.52, longitude: 13.405 },
        timezone: { id: 'Europe/Berlin' },
      },
      { country: { code: null }, city: 'Büro "Nord", 2. Stock' },
      { country: { code: 'CH', name: 'Schweiz' } },
      { country: { code: 'GB' } },
    ])
    expect((await geofix(['verify', at('own.mmdb')])).status).toBe(0)
  })

  it('reads numbers as programs write them, and quotes inside a field', async () => {
    const rows = '10.1.0.0/16,+5E+1,-.5,a 5" pipe\n10.2.0.0/16,5.,1e-05,""\n'
    expect((await run(`network,latitude,longitude,city\n${rows}`)).status).toBe(0)
    const found = await geofix(['--db', at('own.mmdb'), '10.1.0.1', '10.2.0.1'])
    expect(valuesIn(found.out)).toMatchObject([
      { coordinates: { latitude: 50, longitude: -0.5 }, city: 'a 5" pipe' },
      { coordinates: { latitude: 5, longitude: 0.00001 }, city: null },
    ])
  })

  it('refuses to replace what it reads, and the name of a packed file in gzip', async () => {
    const database = readFileSync(at('db.mmdb.gz'))
    for (const output of ['networks.csv', 'db.mmdb.gz'])
      expect(await run(CSV, output)).toMatchObject({
        status: 3,
        err: `geofix: ${at(output)} is a file that this run reads: write to another file\n`,
      })
    expect((await run(CSV, 'own.packed.gz')).status).toBe(2)
    expect(readFileSync(at('networks.csv'), 'utf8')).toBe(CSV)
    expect(readFileSync(at('db.mmdb.gz'))).toEqual(database)
  })

  it('reads semicolons, a separator line, and quoted line ends', async () => {
    expect((await run('sep=;\nnetwork;city\n10.0.0.0/8;"a\nb"\n10.0.0.0/33;x\n')).err).toContain(
      'line 5, column network',
    )
    expect((await run('network;city\n10.0.0.0/8;Berlin\n')).status).toBe(0)
  })

  const location = 'network,latitude,longitude\n'
  it.each<[csv: string | Uint8Array, message: string | RegExp]>([
    ['network,city\r10.0.0.0/8,Berlin\r', 'line 1: its lines end with CR alone'],
    ['network\tcity\n10.0.0.0/8\tBerlin\n', 'line 1: it has tabs between columns'],
    ['network,city\n', 'it has no row after the header'],
    ['network,city\n,Berlin\n', 'line 2, column network: write a network as text'],
    ['network,country_code\n10.0.0.0/8,UK\n', 'line 2, column country_code: "UK" is not the ISO'],
    [`${location}10.0.0.0/8,"52,5",1\n`, 'line 2, column latitude: write a number'],
    [`${location}10.0.0.0/8,52.5,\n`, 'line 2, column longitude: it is missing'],
    ['network,city\n10.0.0.0/8,\n', 'line 2: it has no location: give a country'],
    [
      'network,city\n10.0.0.1,a\n\n10.0.0.1/32,b\n',
      /line 4, column network: 10\.0\.0\.1\/32 is also .*line 2, column network: keep one/,
    ],
    ['network,city\n10.0.0.0/8\n', 'line 2: it has 1 field, but the header has 2'],
    [
      'network,city\n10.0.0.0/8,"a"b\n',
      'line 2, column city: write quotes around the whole field, and two for each one in it',
    ],
    ['network,city\n10.0.0.0/8,"a"b"\n', 'line 2, column city: write quotes'],
    ['network,city\n10.0.0.0/8, "a"\n', 'line 2, column city: write quotes'],
    ['"network"s\n10.0.0.0/8\n', 'line 1, column of field 1: write quotes'],
    [`${location}10.0.0.0/8,1e,1\n`, 'line 2, column latitude: write a number'],
    ['network,city\n10.0.0.0/8,"a\n', 'line 2: the quote that opens its field 2 is not closed'],
    ['network,town\n', 'line 1: "town" is not the name of a column: write a header with network'],
    ['network,city,city\n', 'line 1: the column city is there twice'],
    ['city\nBerlin\n', 'line 1: there is no column network'],
    ['', 'it is empty: write a header with a column network'],
    [Buffer.from('network,city\n10.0.0.0/8,M\xfcnchen\n', 'latin1'), 'it is not UTF-8'],
    [`network,city\n10.0.0.0/8,${'x'.repeat(70_000)}\n`, 'line 2: it has more than 65536 bytes'],
  ])('refuses a list, and says where: %2$s', async (csv, message) => {
    const ran = await run(csv, 'none')
    expect(ran).toEqual(failure(1, message))
    expect(ran.err).toContain(at('networks.csv'))
    expect(existsSync(at('none'))).toBe(false)
  })

  it('needs both files', async () => {
    const missing = await geofix(['overlay', at('db.mmdb.gz'), '--csv', at('no.csv'), '-o', at('none')])
    expect(missing.err).toContain(`${at('no.csv')}: it cannot be read`)
    expect((await geofix(['overlay', at('db.mmdb.gz'), '-o', at('none')])).status).toBe(2)
  })
})
