import { renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { PassThrough } from 'node:stream'
import { setTimeout as delay } from 'node:timers/promises'
import { Agent, request } from 'undici'
import { describe, expect, it } from 'vitest'
import { JsonLog } from '../../../src/cli/serve/log.ts'
import { keyListText } from '../../../src/node/keys/key-list.ts'
import { DATABASE } from '../../http/service.ts'
import { temporaryFolder } from '../../temporary.ts'
import { geofix } from '../enrich/command-line.ts'
import { entryOf, KEYS, serve, writeFiles } from './running.ts'

const folder = temporaryFolder()
const { database, keys } = writeFiles(folder)
const LONDON = '/v1/ip/81.2.69.142'
const headers = { authorization: `Bearer ${KEYS.developer}` }

async function get(url: string, more: object = {}): Promise<{ status: number; text: string }> {
  const { statusCode, body } = await request(url, {
    headers,
    dispatcher: new Agent({ pipelining: 0 }),
    ...more,
  })
  return { status: statusCode, text: await body.text() }
}

describe('geofix serve', () => {
  it.each([
    ['neither keys nor --open', [], '--open'],
    ['both', ['--open', '--keys', 'x'], 'contradict'],
    ['no host, as of an unset variable', ['--open', '--host', ''], '127.0.0.1'],
    ['a plan with a window of months', ['--open', '--plan', 'developer=0.000001,3,100'], '24 days'],
    ['a port beyond', ['--open', '--port', '65536'], '0 to 65535'],
    ['a port that is none', ['--open', '--port', 'http'], 'whole number'],
    ['one port for both', ['--open', '--port', '80', '--metrics-port', '80'], 'the same'],
    ['a store that is not one', ['--open', '--limits', 'http://valkey'], 'redis://USER:PASSWORD@HOST'],
    ['a store whose password is not decodable', ['--open', '--limits', 'redis://a:%zz@b'], 'redis://USER'],
    [
      'a user and a password of half a character',
      ['--open', '--limits', 'redis://%C3:%A9@b'],
      'redis://USER',
    ],
    ['a store with a query', ['--open', '--limits', 'redis://b/0?family=6'], 'write ? and #'],
    ['a password with a number sign', ['--open', '--limits', 'redis://u:12#x@b'], 'as %3F and %23'],
    ['a store with a database that has a name', ['--open', '--limits', 'redis://b/counts'], '/DATABASE'],
    ['a file of a store that is missing', ['--open', '--limits', 'file:/missing'], 'cannot be read: ENOENT'],
    [
      'a file without a store',
      ['--open', '--limits', 'file:/dev/null'],
      'Write the URL in the file as redis',
    ],
    ['no workers', ['--open', '--workers', '0'], '1 to 256'],
    ['another log', ['--open', '--log', 'xml'], 'json, none'],
    ['a plan without numbers', ['--open', '--plan', 'gold'], 'developer=100,200,1000'],
    ['plans without developer', ['--open', '--plan', 'gold=1,1,1'], 'named developer'],
    ['a header without proxies', ['--open', '--forwarded-header', 'x'], '--forwarded-header needs --trust'],
    ['a list that trusts everyone', ['--open', '--trust', '0.0.0.0/0'], 'trust everyone'],
    ['a socket that is a port', ['--open', '--listen', '127.0.0.1:80'], 'unix:/run/geofix/http.sock'],
    [
      'a socket and a port',
      ['--open', '--listen', 'unix:/x', '--port', '80', '--trust', 'unix:'],
      'contradict',
    ],
    ['a socket without trust', ['--open', '--listen', 'unix:/x'], '--trust unix:'],
    ['a base path that ends with a slash', ['--open', '--base-path', '/geo/'], 'such as /geo'],
    ['a base path that is none', ['--open', '--base-path', 'geo'], 'such as /geo'],
    ['an origin with a path', ['--open', '--cors', 'https://a.example/x'], 'https://example.com'],
    ['no origin', ['--open', '--cors', ''], 'https://example.com'],
    ['metrics of keys for nobody', ['--open', '--metrics-keys', '--metrics-port', '0'], '--keys'],
    ['no connections', ['--open', '--client-connections', '0'], '1 to 10000'],
    ['a drain of a day', ['--open', '--drain', '86400'], '0 to 3600'],
  ])('refuses %s', async (_, args, message) => {
    const { status, err } = await geofix(['serve', ...args])
    expect(status).toBe(2)
    expect(err).toContain(message)
  })

  it('reads all options before it opens anything', async () => {
    const options = [
      '--host',
      '::1',
      '--port',
      '0',
      '--metrics-port',
      '0',
      '--grace',
      '0',
      '--log',
      'none',
      '--watch',
    ]
    const plans = ['--plan', 'developer=0.5,1,1', '--plan', 'gold=2,4,8']
    const trust = ['--trust', 'loopback,10.0.0.0/8', '--forwarded-header', 'cf-connecting-ip']
    const files = ['--db', join(folder, 'none.mmdb'), '--keys', join(folder, 'none.json')]
    const { status, err } = await geofix(['serve', ...options, ...plans, ...trust, ...files])
    expect(status).toBe(4)
    expect(err).toContain('none.mmdb')
  })

  it.each([
    ['a database that is missing', 4, ['--open', '--db', join(folder, 'none.mmdb')], 'none.mmdb'],
    [
      'a file of keys that is missing',
      1,
      ['--keys', join(folder, 'none.json'), '--db', database],
      'none.json',
    ],
    [
      'a host that is not here',
      1,
      ['--open', '--host', '192.0.2.1', '--db', database],
      'cannot listen at 192.0.2.1',
    ],
  ])('cannot start with %s', async (_, expected, args, message) => {
    const { status, err } = await geofix(['serve', '--port', '0', ...args])
    expect(status).toBe(expected)
    expect(err).toContain(message)
  })

  it('serves until a signal', async () => {
    const [stdin, stdout, stderr] = [new PassThrough(), new PassThrough(), new PassThrough()]
    const { runServe } = await import('../../../src/cli/serve/serve-command.ts')
    const { serveSettings } = await import('../../../src/cli/serve/flags.ts')
    const settings = serveSettings({ port: 0, db: [database], keys, host: '::1', drain: 0 })
    const ended = runServe(settings, { stdin, stdout, stderr })
    while (stderr.readableLength === 0) await delay(5)
    expect(String(stderr.read())).toMatch(/^geofix: listening at http:\/\/\[::1\]:\d+\/\n$/)
    process.emit('SIGTERM', 'SIGTERM')
    expect(await ended).toBe(0)
    expect(String(stdout.read())).toMatch(
      /"event":"stopping","signal":"SIGTERM","drain":0\}\n.*"event":"stopped"\}\n$/,
    )
  })

  it('allows batches as large as its plans', async () => {
    const service = await serve(folder, {
      plans: [{ name: 'developer', rate: 1, burst: 9, batch: 1500 }],
      keys: null,
    })
    const batch = async (count: number) =>
      (
        await get(`${service.origin}/v1/ip/batch`, {
          method: 'POST',
          headers: { 'content-type': 'application/json' },
          body: JSON.stringify(Array(count).fill('81.2.69.142')),
        })
      ).status
    expect([await batch(1500), await batch(1501)]).toEqual([200, 413])
    await service.stop()
  })

  it('follows the database and the keys', async () => {
    const followed = join(folder, 'followed.mmdb')
    const list = join(folder, 'followed.json')
    const replace = (path: string, bytes: string | Uint8Array) => {
      writeFileSync(`${path}.new`, bytes, { mode: 0o600 })
      renameSync(`${path}.new`, path)
    }
    replace(followed, DATABASE)
    replace(list, keyListText([entryOf(KEYS.developer, 'developer')]))
    const service = await serve(folder, { databases: [followed], keys: list, watch: true, metricsPort: 0 })
    const until = async (event: string) => {
      while (!service.lines().some((line) => line.event === event)) await delay(20)
    }
    replace(followed, DATABASE)
    await until('reload')
    replace(followed, 'damaged')
    await until('reload-refused')
    expect((await get(service.origin + LONDON)).status).toBe(200)
    const { text } = await get(`http://127.0.0.1:${service.metricsPort}/metrics`)
    expect(text).toMatch(/^geofix_database_reloads 1$/m)
    expect(text).toMatch(/^geofix_database_refusals 1$/m)
    replace(list, 'damaged')
    await until('keys-refused')
    expect((await get(service.origin + LONDON)).status).toBe(200)
    // A mistyped plan keeps no revoked key valid.
    replace(list, keyListText([entryOf(KEYS.business, 'gold')]))
    await until('keys')
    expect((await get(service.origin + LONDON)).status).toBe(401)
    const refused = service.lines().filter(({ event }) => event === 'keys-refused')
    expect(refused.at(-1)?.message).toContain('the plan gold')
    await service.stop()
  })
})

describe('the log', () => {
  it('drops lines if its reader is too slow, and says how many', async () => {
    const stream = new PassThrough({ highWaterMark: 1 })
    const log = new JsonLog(stream)
    const label = 'x'.repeat(3000)
    for (let index = 0; index < 2000; index++) log.write('event', { label })
    expect(stream.writableLength + stream.readableLength).toBeLessThan(5 * 2 ** 20)
    let text = ''
    stream.on('data', (chunk) => {
      text += chunk
    })
    await delay(50)
    log.write('later')
    log.flush()
    await delay(50)
    expect(text).toMatch(/"event":"lines-dropped","count":[1-9]\d+\}\n.*"event":"later"\}\n$/)
  })

  it('can be nothing', () => {
    const log = new JsonLog(null)
    log.write('event')
    log.flush()
  })
})
