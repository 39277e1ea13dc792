// Two servers behind a real HAProxy, with limits in a real Valkey or Redis, under load: scripts/examples/fleet.
import { execFileSync, spawn, spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { Agent } from 'undici'
import { describe, expect, it, onTestFinished } from 'vitest'
import { freePort } from '../../../scripts/free-port.ts'
import { keyListText } from '../../../src/node/keys/key-list.ts'
import { british } from '../../own-databases.ts'
import { ROOT } from '../../package/project.ts'
import { makeFile, replaceFile, temporaryFolder } from '../../temporary.ts'
import { startServe } from './process.ts'
import { ask, entryOf, KEYS, LONDON } from './running.ts'
import { ended, hasValkey, startValkey } from './valkey.ts'

const EXAMPLES = join(ROOT, 'scripts/examples/fleet')
/** Debian installs it in a folder that only root has in its PATH. */
const env = { ...process.env, PATH: `${process.env.PATH}:/usr/sbin:/usr/local/sbin` }
const hasHaproxy = spawnSync('haproxy', ['-v'], { env }).status === 0
if (!hasHaproxy) console.warn('haproxy is not installed: the test of a fleet is skipped')

const folder = temporaryFolder()

/** Writes the keys as Kubernetes mounts a ConfigMap: `keys.json` leads through `..data`, a link that is replaced. */
function mountKeys(at: string, plans: readonly (keyof typeof KEYS)[]): string {
  mkdirSync(at, { recursive: true })
  const version = mkdtempSync(join(at, '..version-'))
  writeFileSync(join(version, 'keys.json'), keyListText(plans.map((plan) => entryOf(KEYS[plan], plan))), {
    mode: 0o644,
  })
  const link = join(at, '..data-new')
  symlinkSync(version, link)
  renameSync(link, join(at, '..data'))
  const keys = join(at, 'keys.json')
  rmSync(keys, { force: true })
  symlinkSync(join('..data', 'keys.json'), keys)
  return keys
}

async function startHaproxy(port: number, servers: readonly number[]): Promise<void> {
  let config = readFileSync(join(EXAMPLES, 'haproxy.cfg'), 'utf8').replace(
    'bind :80',
    `bind 127.0.0.1:${port}`,
  )
  servers.forEach((server, index) => {
    config = config.replace(`geofix-${index + 1}:8080`, `127.0.0.1:${server}`)
  })
  const path = makeFile(join(folder, 'haproxy.cfg'), config)
  execFileSync('haproxy', ['-c', '-q', '-f', path], { env })
  const child = spawn('haproxy', ['-db', '-f', path], { env, stdio: 'ignore' })
  onTestFinished(() => void child.kill('SIGKILL'))
  for (;;) {
    const answer = await fetch(`http://127.0.0.1:${port}/healthz`).catch(() => null)
    if (answer?.status === 200) return
    await delay(50)
  }
}

/** Clients that ask on and on, and what they were answered. */
class Load {
  readonly cities = new Map<string, number>()
  readonly failures: string[] = []
  answered = 0
  readonly #agent = new Agent({ connections: 16 })
  readonly #clients: readonly Promise<void>[]
  #ends = false

  constructor(origin: string, authorization: string) {
    this.#clients = Array.from({ length: 16 }, async () => {
      while (!this.#ends) await this.#ask(`${origin}/v1/ip/81.2.69.142`, { authorization })
    })
  }

  /** Resolves after further answers. */
  async more(count: number): Promise<void> {
    const until = this.answered + count
    while (this.answered < until) await delay(10)
  }

  async stop(): Promise<void> {
    this.#ends = true
    await Promise.all(this.#clients)
    await this.#agent.close()
  }

  async #ask(url: string, headers: Record<string, string>): Promise<void> {
    try {
      const { status, text } = await ask(url, { headers, dispatcher: this.#agent })
      this.answered++
      if (status !== 200) this.failures.push(`${status} ${text}`)
      else {
        const { city } = JSON.parse(text)
        this.cities.set(city, (this.cities.get(city) ?? 0) + 1)
      }
    } catch (error) {
      this.failures.push(String(error))
    }
  }
}

describe.skipIf(!hasHaproxy || !hasValkey)(
  'two servers behind HAProxy, if haproxy, valkey or redis is not installed this is skipped,',
  () => {
    it('lose no request while files are replaced, one is killed and one drains', {
      timeout: 180_000,
    }, async () => {
      const database = join(folder, 'sample.mmdb')
      replaceFile(database, british('London'))
      const mounted = join(folder, 'mounted')
      const keys = mountKeys(mounted, ['developer', 'business'])
      const [front = 0, store = 0, one = 0, two = 0] = await Promise.all(Array.from({ length: 4 }, freePort))
      await startValkey(store)
      const plans = ['free=0.01,10,0', 'developer=1,10,10', 'business=1000000,1000000,10']
      const start = (port: number) =>
        startServe(
          ...['--port', String(port), '--db', database, '--watch', '--keys', keys, '--trust', '127.0.0.1'],
          ...plans.flatMap((plan) => ['--plan', plan]),
          ...['--limits', `redis://127.0.0.1:${store}`, '--drain', '4'],
        )
      let first = await start(one)
      const second = await start(two)
      for (const server of [first, second]) await server.until('limits-shared')
      await startHaproxy(front, [one, two])
      const origin = `http://127.0.0.1:${front}`

      // 1. The database is replaced on both under load.
      const load = new Load(origin, `Bearer ${KEYS.business}`)
      await load.more(500)
      replaceFile(database, british('Leeds'))
      for (const server of [first, second]) await server.until('reload')
      load.cities.clear()
      await load.more(500)
      // Answers that were on their way when the second server told of its reload.
      expect(load.cities.get('London') ?? 0).toBeLessThanOrEqual(16)
      expect([...load.cities.keys()].filter((city) => city !== 'London')).toEqual(['Leeds'])
      expect(load.failures).toEqual([])

      // 2. One is killed: HAProxy sends what it had not answered to the other one.
      await ended(first.child, 'SIGKILL')
      await load.more(2000)
      expect(load.failures).toEqual([])

      // 3. It comes back, and the other one drains.
      first = await start(one)
      await first.until('limits-shared')
      await load.more(500)
      second.child.kill('SIGTERM')
      expect(await second.outcome).toMatchObject({ status: 0 })
      await load.more(500)
      expect(load.failures).toEqual([])

      // 4. A key is revoked as Kubernetes does it: each server refuses it within two seconds.
      await load.stop()
      expect(load.failures).toEqual([])
      mountKeys(mounted, ['developer'])
      await first.until('keys')
      const headers = { authorization: `Bearer ${KEYS.business}` }
      expect((await ask(origin + LONDON, { headers })).status).toBe(401)
      console.log(`${load.answered} answers under load`)
    })
  },
)
