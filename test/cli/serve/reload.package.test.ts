// SIGHUP reloads, unless standard input is a terminal.
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as delay } from 'node:timers/promises'
import { Agent } from 'undici'
import { describe, expect, it, onTestFinished } from 'vitest'
import { keyListText } from '../../../src/node/keys/key-list.ts'
import { generation } from '../../node/watched-files.ts'
import { ROOT } from '../../package/project.ts'
import { replaceFile, temporaryFolder } from '../../temporary.ts'
import { start, untilTakesHangup } from '../enrich/child.ts'
import { startServe } from './process.ts'
import { ask, entryOf, KEYS, LONDON } from './running.ts'

const folder = temporaryFolder()
const dispatcher = new Agent({ pipelining: 0 })
let files = 0

function writeBoth() {
  const [database, keys] = [join(folder, `${++files}.mmdb`), join(folder, `${files}.json`)]
  replaceFile(database, generation(1))
  replaceFile(keys, keyListText([entryOf(KEYS.developer, 'developer')]))
  return { database, keys }
}

/** The status and the city of an answer. */
async function cityAt(origin: string, key = KEYS.developer): Promise<unknown> {
  const { status, text } = await ask(origin + LONDON, {
    dispatcher,
    headers: { authorization: `Bearer ${key}` },
  })
  return status === 200 ? JSON.parse(text).city : status
}

const done = (lines: readonly Record<string, unknown>[]) =>
  lines.filter(({ event }) => event === 'reload-done').map(({ databases, keys }) => [databases, keys])

describe.skipIf(process.platform === 'win32')('SIGHUP', () => {
  it.each([
    ['without --watch', []],
    ['with --watch', ['--watch']],
  ])('reloads the databases and the keys, %s', async (_, more) => {
    const { database, keys } = writeBoth()
    const service = await startServe('--db', database, '--keys', keys, ...more)
    expect(await cityAt(service.origin)).toBe('city 1')
    replaceFile(database, generation(2))
    replaceFile(keys, keyListText([entryOf(KEYS.business, 'business')]))
    service.child.kill('SIGHUP')
    await service.until('reload-done')
    expect(await cityAt(service.origin, KEYS.business)).toBe('city 2')
    expect(await cityAt(service.origin)).toBe(401)
    service.child.kill('SIGHUP')
    await service.until('reload-done', 2)
    // With --watch, a poll may have replaced the database just before the signal.
    if (more.length === 0)
      expect(done(service.lines())).toEqual([
        ['replaced', 'read'],
        ['unchanged', 'read'],
      ])
    expect(await service.stop()).toBe(0)
  })

  it('before the service listens is kept until then', async () => {
    const { database, keys } = writeBoth()
    const child = start(['serve', '--port', '0', '--drain', '0', '--db', database, '--keys', keys])
    onTestFinished(() => void child.kill('SIGKILL'))
    const lines = createInterface(child.stdout)[Symbol.asyncIterator]()
    await untilTakesHangup(child.pid)
    child.kill('SIGHUP')
    const events: unknown[] = []
    while (events.at(-1) !== 'reload-done') events.push(JSON.parse((await lines.next()).value).event)
    expect(events.filter((event) => event !== 'keys' && event !== 'stale')).toEqual([
      'listening',
      'reload-asked',
      'reload-done',
    ])
    const ended = once(child, 'exit')
    child.kill('SIGTERM')
    expect(await ended).toEqual([0, null])
  })

  it('keeps what is there if the files cannot be used, and says so each time', async () => {
    const { database, keys } = writeBoth()
    const service = await startServe('--db', database, '--keys', keys)
    replaceFile(database, 'damaged')
    replaceFile(keys, 'damaged')
    for (let time = 1; time <= 2; time++) {
      service.child.kill('SIGHUP')
      await service.until('reload-done', time)
      expect(done(service.lines()).at(-1)).toEqual(['refused', 'refused'])
      expect((await service.until('reload-refused', time)).message).toContain(database)
      await service.until('keys-refused', time)
      expect(await cityAt(service.origin)).toBe('city 1')
    }
    replaceFile(database, generation(2))
    replaceFile(keys, keyListText([entryOf(KEYS.developer, 'developer')]))
    service.child.kill('SIGHUP')
    await service.until('reload-done', 3)
    expect(await cityAt(service.origin)).toBe('city 2')
    expect(await service.stop()).toBe(0)
  })

  it('leaves the embedded database as it is', async () => {
    const service = await startServe('--open')
    service.child.kill('SIGHUP')
    await service.until('reload-done')
    expect(done(service.lines())).toEqual([['embedded', null]])
    expect(await service.stop()).toBe(0)
  })

  it('is forwarded to workers, which ignore it themselves', async () => {
    const { database, keys } = writeBoth()
    const service = await startServe('--db', database, '--keys', keys, '--workers', '2')
    replaceFile(database, generation(2))
    replaceFile(keys, keyListText([entryOf(KEYS.business, 'business')]))
    service.child.kill('SIGHUP')
    await service.until('reload-done', 2)
    for (let count = 0; count < 10; count++) {
      expect(await cityAt(service.origin, KEYS.business)).toBe('city 2')
      expect(await cityAt(service.origin)).toBe(401)
    }
    for (const { event, pid } of service.lines()) {
      if (event === 'worker-started') process.kill(Number(pid), 'SIGHUP')
    }
    service.child.kill('SIGHUP')
    await service.until('reload-done', 4)
    expect(await service.stop()).toBe(0)
    expect(done(service.lines())).toEqual([
      ['replaced', 'read'],
      ['replaced', 'read'],
      ['unchanged', 'read'],
      ['unchanged', 'read'],
    ])
    expect(service.lines().some(({ event }) => event === 'worker-died')).toBe(false)
  })
})

/** `script` of util-linux runs a command in a terminal. */
const hasTerminals = spawnSync('script', ['-qec', 'true', '/dev/null']).status === 0

describe.skipIf(process.platform !== 'linux')('a terminal that is closed', () => {
  it.each([
    ['ends geofix serve', '', false],
    ['leaves geofix serve under nohup running', 'nohup', true],
  ])('%s', async (_, nohup, survives) => {
    if (!hasTerminals) return console.warn('skipped: script (util-linux) is not installed')
    const { database } = writeBoth()
    const [log, pidFile] = [join(folder, `log-${files}`), join(folder, `pid-${files}`)]
    const serve = `'${process.execPath}' '${join(ROOT, 'dist/cli.cjs')}' serve --open --port 0 --drain 0 --db '${database}'`
    const command = `echo $$ > '${pidFile}'; exec ${nohup} ${serve} > '${log}' 2>&1`
    const terminal = spawn('script', ['-qec', command, '/dev/null'], { stdio: ['pipe', 'ignore', 'ignore'] })
    onTestFinished(() => void terminal.kill('SIGKILL'))
    const logged = async (event: string) => {
      while (!existsSync(log) || !readFileSync(log, 'utf8').includes(`"event":"${event}"`)) await delay(20)
    }
    await logged('listening')
    const pid = Number(readFileSync(pidFile, 'utf8'))
    const isRunning = (): boolean => {
      try {
        // Nobody waits for a process whose parent was killed, so that it may stay as a zombie.
        return !/^State:\s*Z/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'))
      } catch {
        return false
      }
    }
    onTestFinished(() => {
      if (isRunning()) process.kill(pid, 'SIGKILL')
    })
    if (survives) await untilTakesHangup(pid)
    terminal.kill('SIGKILL')
    if (!survives) {
      while (isRunning()) await delay(20)
      expect(readFileSync(log, 'utf8')).not.toContain('reload-asked')
      return
    }
    await logged('reload-done')
    expect(isRunning()).toBe(true)
    process.kill(pid, 'SIGTERM')
    await logged('stopped')
  })
})
