// Addresses of the output: --mask, --drop-address, --pseudonym.
import { createHmac } from 'node:crypto'
import { readFileSync, statSync, writeFileSync } from 'node:fs'
import { parquetReadObjects } from 'hyparquet'
import { describe, expect, it } from 'vitest'
import { failure, words, workspace } from './command-line.ts'

const { at: path, enrich } = workspace('--quiet', '--at', '2026-07-01')

const ACCESS =
  '81.2.69.142 - ann [01/Jul/2026:12:00:00 +0000] "GET /?from=81.2.69.142 HTTP/1.1" 200 5 "-" "curl/8.5.0"\n'
const EVENT = '{"src":"81.2.69.142:80","dst":"1.2.3.4","seen":["::ffff:81.2.69.142"]}\n'

describe('geofix enrich --mask', () => {
  it('masks after the last of several addresses is located', async () => {
    const { out } = await enrich(words`--mask 8,16 --field src=from --field dst=to --format ndjson`, EVENT)
    expect(JSON.parse(out)).toMatchObject({
      src: '81.0.0.0:80',
      dst: '1.0.0.0',
      seen: ['81.0.0.0'],
      from: { ip: '81.0.0.0', city: 'London' },
      to: { ip: '1.0.0.0', city: 'Sydney' },
    })
  })

  it('gives the same on several threads, for rows and in --explain', async () => {
    writeFileSync(path('in.log'), ACCESS.repeat(3000))
    const one = await enrich(['--mask', '24,48', '--threads', '1', path('in.log')])
    expect(await enrich(['--mask', '24,48', '--threads', '2', path('in.log')])).toEqual(one)
    expect(one.out).not.toContain('81.2.69.142')
    const rows = await enrich(words`--rows --format access-log --mask 24,48`, ACCESS)
    expect(rows).toEqual(await enrich(['--mask', '24,48'], ACCESS))
    const { out } = await enrich(['--explain', '--mask', '24,48', path('in.log')])
    expect(out).toContain('London')
    expect(out).not.toContain('81.2.69.142')
    const several = words`--explain --mask 8,16 --field src=from --field dst=to --format ndjson`
    const explained = await enrich(several, EVENT)
    expect(explained.out).toMatch(/"from":\{"ip":"81\.0\.0\.0".*London.*"to":\{"ip":"1\.0\.0\.0".*Sydney/)
  })

  it('writes Parquet without the addresses, from lines and from Parquet', async () => {
    writeFileSync(path('in.ndjson'), EVENT)
    await enrich([path('in.ndjson'), '--field', 'dst', '-o', path('whole.parquet')])
    const again = ['--field', 'src', '--into', 'from', '--mask', '24,48', '-o', path('masked.parquet')]
    const { status } = await enrich([path('whole.parquet'), ...again])
    expect(status).toBe(0)
    const bytes = readFileSync(path('masked.parquet'))
    expect(bytes.includes('81.2.69.142') || bytes.includes('1.2.3.4')).toBe(false)
    const [row] = await parquetReadObjects({ file: new Uint8Array(bytes).buffer })
    expect(row).toMatchObject({ src: '81.2.69.0:80', location: { ip: '1.2.3.0' }, from: { city: 'London' } })
  })
})

describe('geofix enrich --drop-address', () => {
  it('writes a dash in place of every address, also in lines that cannot be read', async () => {
    const bad = await enrich(['--drop-address', '--format', 'access-log'], `${ACCESS}cut 81.2.69.142 off\n`)
    expect(bad.out.split('\n')[1]).toBe('{"raw":"cut - off","location":null}')
  })
})

describe('geofix enrich --pseudonym', () => {
  it('makes a key for its owner alone, and gives an address the same name with it', async () => {
    const key = path('key')
    const first = await enrich(['--pseudonym', key, '--new-key', '--append'], ACCESS)
    expect(first.status).toBe(0)
    const secret = readFileSync(key, 'utf8')
    expect(secret).toMatch(/^[0-9a-f]{64}\n$/)
    if (process.platform !== 'win32') expect(statSync(key).mode & 0o777).toBe(0o600)
    const digest = createHmac('sha256', Buffer.from(secret.trim(), 'hex')).update('81.2.69.142').digest('hex')
    expect(first.out).toContain(`ip-${digest.slice(0, 20)} - ann`)
    expect(await enrich(['--pseudonym', key, '--append'], ACCESS)).toEqual(first)
    const again = await enrich(['--pseudonym', key, '--new-key'], ACCESS)
    expect(again).toEqual(failure(2, 'exists already: leave out --new-key'))
    expect(readFileSync(key, 'utf8')).toBe(secret)
  })

  it('refuses a file that has no key', async () => {
    for (const text of ['secret\n', `${'0'.repeat(62)}\n`, `${'0'.repeat(66)}\n`]) {
      writeFileSync(path('no-key'), text)
      expect(await enrich(['--pseudonym', path('no-key')], ACCESS)).toEqual(
        failure(4, 'a key is 64 hexadecimal digits'),
      )
    }
  })
})
