// The script of src/freshness/README.md, with a server in place of the vendor.
import { execFile, execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { createServer, type RequestListener } from 'node:http'
import { createServer as createSecureServer } from 'node:https'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { gzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { Resolver } from '../src/index.ts'
import { tarOf } from './bytes/tar-samples.ts'
import { textOf } from './documents.ts'
import { describeEngine, hasCommand, writeGeofix } from './engines/engine.ts'
import { portOf, started } from './listening.ts'
import { british } from './own-databases.ts'
import { makeFile, temporaryFolder } from './temporary.ts'

const folder = temporaryFolder()
const at = (name: string): string => join(folder, name)

/** What the vendor answers. */
const ANSWERS = new Map<string, Uint8Array | string>([
  ['/new.mmdb', british('New')],
  ['/new.mmdb.gz', gzipSync(british('New'))],
  ['/new.tar.gz', gzipSync(tarOf({ 'GeoLite2-City_20260701/GeoLite2-City.mmdb': british('New') }))],
  ['/page', '<!doctype html><title>Sign in</title>'],
  ['/half.gz', gzipSync(british('New')).subarray(0, 200)],
])
const server = createServer(({ url = '', headers }, response) => {
  const answer = ANSWERS.get(url)
  const isKnown = url !== '/new.tar.gz' || headers.authorization === `Basic ${btoa('1:key')}`
  if (answer === undefined || !isKnown) response.statusCode = 401
  response.end(isKnown ? answer : '')
})

beforeAll(() => {
  writeGeofix(at('bin'))
  const [, script = ''] = /```sh\n(#!\/bin\/sh\n[\s\S]*?)```/.exec(textOf('src/freshness/README.md')) ?? []
  writeFileSync(at('bin/update-geo'), script, { mode: 0o755 })
  mkdirSync(at('geo'))
})
afterAll(() => server.close())

/** Runs the script. @returns its exit status, and what it says */
async function update(path: string, ...options: readonly string[]): Promise<{ status: number; err: string }> {
  const url = `http://127.0.0.1:${await portOf(server)}${path}`
  const env = { ...process.env, PATH: `${at('bin')}:${process.env.PATH}` }
  try {
    await promisify(execFile)('update-geo', [url, at('geo/city.mmdb'), ...options], { env })
    return { status: 0, err: '' }
  } catch (error) {
    const { code, stderr } = Object(error)
    return { status: Number(code), err: String(stderr) }
  }
}

describe.skipIf(process.platform === 'win32')('the script that downloads a database', () => {
  it.each([
    ['a raw file', '/new.mmdb', []],
    ['gzip', '/new.mmdb.gz', []],
    ['an archive, with a key', '/new.tar.gz', ['--user', '1:key']],
  ])('replaces the file, which a resolver follows: %s', async (_, path, options) => {
    writeFileSync(at('geo/city.mmdb'), british('Old'))
    using geo = Resolver.openSync(at('geo/city.mmdb'), { watch: true, watchInterval: 20 })
    expect(geo.lookup('81.2.69.1').city).toBe('Old')
    expect(await update(path, ...options)).toEqual({ status: 0, err: '' })
    await vi.waitFor(() => expect(geo.lookup('81.2.69.1').city).toBe('New'), 20_000)
    expect(statSync(at('geo/city.mmdb')).mode & 0o777).toBe(0o644)
  })

  it.each([
    ['a refused key', '/new.tar.gz', '401'],
    ['a file that does not exist', '/none', '401'],
    ['a page', '/page', 'HTML'],
    ['half a file', '/half.gz', 'geofix:'],
  ])('leaves the old file and nothing else: %s', async (_, path, message) => {
    writeFileSync(at('geo/city.mmdb'), british('Old'))
    const { status, err } = await update(path, '--retry', '0')
    expect(status).not.toBe(0)
    expect(err).toContain(message)
    expect(readdirSync(at('geo'))).toEqual(['city.mmdb'])
    expect(readFileSync(at('geo/city.mmdb')).equals(british('Old'))).toBe(true)
  })
})

/** Debian's version 4 does not say its number. Later versions ask the server in another way. */
const hasUpdater =
  hasCommand('openssl') &&
  hasCommand('geoipupdate') &&
  !/[5-9]\./.test(execFileSync('geoipupdate', ['-V'], { encoding: 'utf8' }))

describeEngine('geoipupdate 4, as in contrib of Debian 12, with openssl', hasUpdater, () => {
  /** What MaxMind answers: an edition compressed, unless the client has it. */
  const answer: RequestListener = ({ url = '', headers }, response) => {
    const { pathname, searchParams } = new URL(url, 'https://localhost')
    const edition = british('New')
    const digest = createHash('md5').update(edition).digest('hex')
    const isKnown = headers.authorization === `Basic ${btoa('123456:abcdefgh')}`
    const isThere = /^\/geoip\/databases\/GeoLite2-(City|ASN)\/update$/.test(pathname)
    response.statusCode = !isKnown ? 401 : !isThere ? 404 : searchParams.get('db_md5') === digest ? 304 : 200
    response.setHeader('X-Database-MD5', digest)
    response.setHeader('Last-Modified', 'Wed, 01 Jul 2026 00:00:00 GMT')
    response.end(response.statusCode === 200 ? gzipSync(edition) : '')
  }

  it('replaces the files of the guide, which a resolver follows, and keeps them if the key is refused', async () => {
    const options = '-x509 -newkey rsa:2048 -nodes -subj /CN=localhost -addext subjectAltName=DNS:localhost'
    const files = ['-keyout', at('key.pem'), '-out', at('cert.pem')]
    execFileSync('openssl', ['req', ...options.split(' '), ...files], { stdio: 'pipe' })
    const [key, cert] = ['key.pem', 'cert.pem'].map((name) => readFileSync(at(name)))
    const port = await started(createSecureServer({ key, cert }, answer))
    const [, config = ''] = /```ini\n(AccountID [\s\S]*?)```/.exec(textOf('src/freshness/README.md')) ?? []
    const here = config.replace('/var/lib/geo', at('editions'))
    const run = async (text: string): Promise<string> => {
      writeFileSync(at('GeoIP.conf'), `${text}Host localhost:${port}\nRetryFor 0s\n`)
      const env = { ...process.env, SSL_CERT_FILE: at('cert.pem') }
      const { stderr } = await promisify(execFile)('geoipupdate', ['-v', '-f', at('GeoIP.conf')], { env })
      return stderr
    }
    mkdirSync(at('editions'))
    const city = makeFile(at('editions/GeoLite2-City.mmdb'), british('Old'))
    using geo = Resolver.openSync(city, { watch: true, watchInterval: 20 })
    await run(here)
    await vi.waitFor(() => expect(geo.lookup('81.2.69.1').city).toBe('New'), 20_000)
    expect(readdirSync(at('editions')).filter((name) => !name.startsWith('.'))).toEqual([
      'GeoLite2-ASN.mmdb',
      'GeoLite2-City.mmdb',
    ])
    const { mtimeMs, mode } = statSync(city)
    expect(mode & 0o777).toBe(0o644)
    expect(await run(here)).toContain('No new updates available')
    expect(statSync(city).mtimeMs).toBe(mtimeMs)
    await expect(run(here.replace('abcdefgh', 'wrong'))).rejects.toThrow('401')
    expect(readFileSync(city).equals(british('New'))).toBe(true)
  })
})
