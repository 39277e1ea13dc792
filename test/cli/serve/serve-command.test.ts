import { join } from 'node:path'
import { PassThrough } from 'node:stream'
import { setTimeout as delay } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { serveSettings } from '../../../src/cli/serve/flags.ts'
import { keyListText } from '../../../src/node/keys/key-list.ts'
import { DATABASE } from '../../http/service.ts'
import { replaceFile, temporaryFolder } from '../../temporary.ts'
import { failure, geofix, words } from '../enrich/command-line.ts'
import { ask, entryOf, KEYS, LONDON, serve, writeFiles } from './running.ts'

const folder = temporaryFolder()
const { database, keys } = writeFiles(folder)

describe('geofix serve', () => {
  it.each([
    [words``, '--open'],
    [words`--open --keys x`, 'contradict'],
    [words`--open --host ${''}`, '127.0.0.1'],
    [words`--open --plan developer=0.000001,3,100`, '24 days'],
    [words`--open --port 65536`, '0 to 65535'],
    [words`--open --port http`, 'whole number'],
    [words`--open --port 80 --metrics-port 80`, 'the same'],
    [words`--open --limits http://valkey`, 'redis://USER:PASSWORD@HOST'],
    [words`--open --limits redis:///0`, 'Only HOST is required'],
    [words`--open --limits redis://a:%zz@b`, 'redis://USER'],
    [words`--open --limits redis://b/0?family=6`, 'write ? and #'],
    [words`--open --limits redis://u:12#x@b`, 'as %3F and %23'],
    [words`--open --limits redis://b/counts`, '/DATABASE'],
    [words`--open --limits file:/missing`, 'cannot be read: ENOENT'],
    [words`--open --limits file:/dev/null`, 'Write the URL in the file as redis'],
    [words`--open --workers 0`, '1 to 256'],
    [words`--open --log xml`, 'json, none'],
    [words`--open --plan gold`, 'developer=100,200,1000'],
    [words`--open --plan gold=1,1,1`, 'named developer'],
    [words`--open --forwarded-header x`, '--forwarded-header is set, but --trust is empty'],
    [words`--open --trust 0.0.0.0/0`, 'trust everyone'],
    [words`--open --listen 127.0.0.1:80`, 'unix:/run/geofix/http.sock'],
    [words`--open --listen unix:/x --port 80 --trust unix:`, 'contradict'],
    [words`--open --listen unix:/x`, '--trust unix:'],
    [words`--open --listen unix:/x --trust loopback`, '--trust unix:'],
    [words`--open --base-path /geo/`, 'such as /geo'],
    [words`--open --cors https://a.example/x`, 'https://example.com'],
    [words`--open --cors ${''}`, 'https://example.com'],
    [words`--open --metrics-keys --metrics-port 0`, '--keys'],
    [words`--open --client-connections 0`, '1 to 10000'],
    [words`--open --drain 86400`, '0 to 3600'],
  ])('refuses %j: %s', async (args, message) => {
    expect(await geofix(['serve', ...args])).toEqual(failure(2, message))
  })

  it('takes what is given, and has defaults', () => {
    expect(serveSettings({ open: true })).toMatchObject({
      ...{ host: '127.0.0.1', port: 8080, databases: [], asn: false, cityNames: 'en', staleAfter: 45 },
      ...{ keys: null, workers: 1, basePath: '', log: 'json', logClient: 'address', metricsPort: null },
      ...{ drainSeconds: 5, graceSeconds: 10 },
    })
    const given = {
      ...({ host: '::', port: 0, cityNames: 'locale', staleAfter: 7, keys: 'x', workers: 3 } as const),
      ...({ basePath: '/geo', log: 'none', logClient: 'none', metricsPort: 0 } as const),
    }
    const settings = serveSettings({ ...given, db: ['a'], asnDb: ['b'], drain: 0, grace: 0 })
    const others = { databases: ['a'], asn: ['b'], drainSeconds: 0, graceSeconds: 0 }
    expect(settings).toMatchObject({ ...given, ...others })
  })

  it('reads all options before it opens anything', async () => {
    const options = words`--host ::1 --port 0 --metrics-port 0 --grace 0 --log none --watch`
    const plans = words`--plan developer=0.5,1,1 --plan gold=2,4,8`
    const trust = words`--trust loopback,10.0.0.0/8 --forwarded-header cf-connecting-ip`
    const files = words`--db ${join(folder, 'none.mmdb')} --keys ${join(folder, 'none.json')}`
    const args = [...options, ...plans, ...trust, ...files]
    expect(await geofix(['serve', ...args])).toEqual(failure(4, 'none.mmdb'))
  })

  it.each([
    ['a database that is missing', 4, words`--open --db ${join(folder, 'none.mmdb')}`, 'none.mmdb'],
    ['missing keys', 1, words`--keys ${join(folder, 'none.json')} --db ${database}`, 'none.json'],
    ['a host that is not here', 1, words`--open --host 192.0.2.1 --db ${database}`, 'cannot listen at 192'],
  ])('cannot start with %s', async (_, expected, args, message) => {
    // Its log may say that the database is stale.
    const { status, err } = await geofix(['serve', '--port', '0', ...args])
    expect({ status, out: '', err }).toEqual(failure(expected, message))
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
      plan: [{ name: 'developer', rate: 1, burst: 9, batch: 1500 }],
      keys: null,
    })
    const batch = async (count: number) => {
      const headers = { 'content-type': 'application/json' }
      const body = JSON.stringify(Array(count).fill('81.2.69.142'))
      return (await ask(`${service.origin}/v1/ip/batch`, { method: 'POST', headers, body })).status
    }
    expect([await batch(1500), await batch(1501)]).toEqual([200, 413])
  })

  it('follows the database and the keys', async () => {
    const followed = join(folder, 'followed.mmdb')
    const list = join(folder, 'followed.json')
    replaceFile(followed, DATABASE)
    replaceFile(list, keyListText([entryOf(KEYS.developer, 'developer')]))
    const service = await serve(folder, { databases: [followed], keys: list, watch: true, metricsPort: 0 })
    replaceFile(followed, DATABASE)
    await service.until('reload')
    replaceFile(followed, 'damaged')
    await service.until('reload-refused')
    expect((await ask(service.origin + LONDON)).status).toBe(200)
    const { text } = await ask(`http://127.0.0.1:${service.metricsPort}/metrics`)
    expect(text).toMatch(/^geofix_database_reloads 1$/m)
    expect(text).toMatch(/^geofix_database_refusals 1$/m)
    replaceFile(list, 'damaged')
    await service.until('keys-refused')
    expect((await ask(service.origin + LONDON)).status).toBe(200)
    // A mistyped plan keeps no revoked key valid.
    replaceFile(list, keyListText([entryOf(KEYS.business, 'gold')]))
    await service.until('keys')
    expect((await ask(service.origin + LONDON)).status).toBe(401)
    const refused = service.lines().filter(({ event }) => event === 'keys-refused')
    expect(refused.at(-1)?.message).toContain('the plan gold')
  })
})
