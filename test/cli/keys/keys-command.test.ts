import fs, {
  chmodSync,
  chownSync,
  existsSync,
  lstatSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import { join } from 'node:path'
import { Writable } from 'node:stream'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { AtomicFile, processSpace } from '../../../src/cli/enrich/atomic-file.ts'
import { addKey } from '../../../src/cli/keys/keys-command.ts'
import { createKeyFile } from '../../../src/http.ts'
import { parseKeyList } from '../../../src/node/keys/key-list.ts'
import { temporaryFolder } from '../../temporary.ts'
import { failure, geofix, printed, words } from '../enrich/command-line.ts'

const folder = temporaryFolder()
let files = 0
const newFile = () => join(folder, `keys-${++files}.json`)

const add = (file: string, ...more: string[]) =>
  geofix(['keys', 'add', '--keys', file, '--plan', 'developer', '--label', 'Web shop', ...more])
const list = async (file: string) => {
  const { out } = await geofix(['keys', 'list', '--keys', file])
  return out.split('\n').filter((line) => line !== '')
}
const rotate = (file: string, id: string, ...more: string[]) =>
  geofix(['keys', 'rotate', '--keys', file, id, ...more])
const revoke = (file: string, id: string) => geofix(['keys', 'revoke', '--keys', file, id])
/** Lets all keys of a file expire. */
function expire(file: string): void {
  const expires = '2020-01-01T00:00:00.000Z'
  const entries = parseKeyList(readFileSync(file, 'utf8')).map((each) => ({ ...each, expires }))
  writeFileSync(file, JSON.stringify({ keys: entries }))
}
const firstId = async (file: string) => (await list(file))[0]?.split('\t')[0] ?? ''

const owner = async (file: string, key: string) => {
  const keys = await createKeyFile(file)
  keys.close()
  return keys.authenticate(key.trim())
}

describe('geofix keys', () => {
  it('add prints the key once, and keeps only its digest', async () => {
    const file = newFile()
    const out = await printed(add(file))
    expect(out).toMatch(/^live_[0-9A-Za-z]{49}\n$/)
    expect(statSync(file).mode & 0o777).toBe(0o600)
    expect(readFileSync(file, 'utf8')).not.toContain(out.trim().slice(5, 15))
    expect(await owner(file, out)).toEqual({ plan: 'developer', id: expect.stringMatching(/^key_/) })
  })

  it('add keeps the owner and the mode of a file, so that its service can still read it', async () => {
    const file = newFile()
    await add(file)
    // Only root can give a file away, and for anybody else the owner is the user.
    if (process.getuid?.() === 0) chownSync(file, 12_345, 12_345)
    // Its group may read it.
    chmodSync(file, 0o640)
    const { uid, gid, mode } = statSync(file)
    expect((await add(file)).status).toBe(0)
    expect(statSync(file)).toMatchObject({ uid, gid, mode })
  })

  it('can be used by an owner who may not give the file to its group, if that has no rights', async () => {
    const file = newFile()
    await add(file)
    const chown = vi.spyOn(fs, 'fchownSync').mockImplementation(() => {
      throw Object.assign(new Error('EPERM: operation not permitted'), { code: 'EPERM' })
    })
    syncBuiltinESMExports()
    const isRoot = process.getuid?.() === 0
    onTestFinished(() => {
      chown.mockRestore()
      syncBuiltinESMExports()
    })
    // Others may read it, such as the service.
    chmodSync(file, 0o604)
    if (isRoot) chownSync(file, 0, 12_345)
    expect((await add(file)).status).toBe(0)
    expect(statSync(file).mode & 0o777).toBe(0o604)
    // Otherwise, the service could not read the file any more. Only root can make such files here.
    if (isRoot) {
      chownSync(file, 0, 12_345)
      chmodSync(file, 0o640)
      expect(await add(file)).toEqual(failure(3, 'EPERM'))
      chownSync(file, 12_345, 0)
      expect(await add(file)).toEqual(failure(3, 'EPERM'))
    }
  })

  it('list prints a line for each, revoke removes one', async () => {
    const file = newFile()
    const keys = [(await add(file)).out, (await add(file, '--expires', '2999-01-01')).out]
    const lines = await list(file)
    expect(lines.map((line) => line.split('\t').slice(1))).toEqual([
      ['developer', expect.stringMatching(/Z$/), 'never expires', 'Web shop'],
      ['developer', expect.stringMatching(/Z$/), 'expires 2999-01-01T00:00:00.000Z', 'Web shop'],
    ])
    const [id = ''] = lines[0]?.split('\t') ?? []
    expect(await revoke(file, id)).toEqual({ status: 0, out: '', err: '' })
    expect(await list(file)).toEqual(lines.slice(1))
    expect(await owner(file, keys[0] ?? '')).toBe(null)
    expect(await owner(file, keys[1] ?? '')).not.toBe(null)
    expect(await revoke(file, id)).toEqual(failure(1, 'no key has the id'))
  })

  it('rotate makes a key like another', async () => {
    const file = newFile()
    const { out: old } = await add(file)
    const { out: key } = await rotate(file, await firstId(file))
    expect(key).not.toBe(old)
    expect((await owner(file, key))?.plan).toBe('developer')
    expect(await owner(file, old)).not.toBe(null)
    expect((await list(file)).map((line) => line.split('\t')[4])).toEqual(['Web shop', 'Web shop'])
  })

  it('rotate keeps the expiry, unless it is told another', async () => {
    const file = newFile()
    await add(file, '--expires', '2999-01-01')
    const id = await firstId(file)
    expect((await rotate(file, id)).status).toBe(0)
    expect((await rotate(file, id, '--expires', '2998-01-01')).status).toBe(0)
    const years = [2999, 2999, 2998].map((year) => `expires ${year}-01-01T00:00:00.000Z`)
    expect((await list(file)).map((line) => line.split('\t')[3])).toEqual(years)
    expire(file)
    expect(await rotate(file, id)).toEqual(failure(1, 'add --expires'))
  })

  it('add says where a key of another plan is valid', async () => {
    const { status, err } = await geofix(words`keys add --keys ${newFile()} --plan gold --label x`)
    expect(status).toBe(0)
    expect(err).toContain('--plan gold=')
  })

  it('add and revoke make and change the file that a link leads to', async () => {
    const file = newFile()
    symlinkSync(file, `${file}.link`)
    expect((await add(`${file}.link`)).status).toBe(0)
    expect(lstatSync(`${file}.link`).isSymbolicLink()).toBe(true)
    expect(await list(file)).toHaveLength(1)
    expect((await revoke(`${file}.link`, await firstId(file))).status).toBe(0)
    expect(await list(file)).toEqual([])
    expect(lstatSync(`${file}.link`).isSymbolicLink()).toBe(true)
    expect(await add('/dev/stdout')).toEqual(failure(3, 'not a file'))
  })

  it('loses no change of commands that run at once', async () => {
    const file = newFile()
    await add(file)
    const first = await firstId(file)
    const revoking = revoke(file, first)
    const rotating = rotate(file, first)
    const outcomes = await Promise.all([revoking, ...Array.from({ length: 8 }, () => add(file))])
    const added = outcomes.slice(1)
    expect(outcomes.map(({ status, err }) => ({ status, err }))).toEqual(
      outcomes.map(() => ({ status: 0, err: '' })),
    )
    // Whether the key was still there depends on the order.
    const rotated = await rotating
    const keys = [...added, ...(rotated.status === 0 ? [rotated] : [])].map(({ out }) => out)
    expect(await list(file)).toHaveLength(keys.length)
    for (const key of keys) expect(await owner(file, key)).not.toBe(null)
    expect(existsSync(`${file}.lock`)).toBe(false)
  })

  it('takes over a lock that stays, and the temporary file of a process that has ended', async () => {
    const file = newFile()
    await add(file)
    writeFileSync(`${file}.lock`, '')
    writeFileSync(`${file}.${processSpace()}-${2 ** 31 - 1}-abcdef.partial`, 'half')
    vi.useFakeTimers({ toFake: ['setTimeout'] })
    onTestFinished(() => void vi.useRealTimers())
    let isDone = false
    const outcome = add(file).finally(() => {
      isDone = true
    })
    let waited = 0
    for (; !isDone; waited += 100) {
      // Another command has the lock from here on.
      if (waited === 3000) {
        rmSync(`${file}.lock`)
        writeFileSync(`${file}.lock`, '')
        utimesSync(`${file}.lock`, 1, 1)
      }
      vi.advanceTimersByTime(100)
      await new Promise((resolve) => setImmediate(resolve))
    }
    expect((await outcome).status).toBe(0)
    expect(waited).toBeGreaterThan(8000)
    expect(await list(file)).toHaveLength(2)
    expect(readdirSync(folder).filter((name) => /\.lock|\.partial/.test(name))).toEqual([])
  })

  it('changes nothing if it cannot remove the temporary file of another command', async () => {
    const file = newFile()
    const other = `${file}.${processSpace()}-${process.pid}-abcdef.partial`
    writeFileSync(other, 'half')
    const remove = vi.spyOn(fs, 'rmSync').mockImplementationOnce(() => {
      throw Object.assign(new Error('EPERM: operation not permitted'), { code: 'EPERM' })
    })
    syncBuiltinESMExports()
    onTestFinished(() => {
      remove.mockRestore()
      syncBuiltinESMExports()
      rmSync(other)
    })
    expect(await add(file)).toEqual(failure(3, 'EPERM'))
    expect(existsSync(file)).toBe(false)
  })

  it('adds no key that cannot be printed', async () => {
    const error = Object.assign(new Error('write EPIPE'), { code: 'EPIPE' })
    const file = newFile()
    await add(file)
    const before = readFileSync(file, 'utf8')
    const stdout = new Writable({ write: (_chunk, _encoding, done) => done(error) }).on('error', () => {})
    const { stdin, stderr } = process
    const flags = { keys: file, plan: 'developer', label: 'x' }
    await expect(addKey(flags, { stdin, stdout, stderr })).rejects.toMatchObject({
      message: `the key cannot be printed, so it was not added: ${error.message}`,
      status: 3,
    })
    expect(readFileSync(file, 'utf8')).toBe(before)
    expect(readdirSync(folder).filter((name) => /\.lock|\.partial/.test(name))).toEqual([])
  })

  it('prints no key before it is on the disk', async () => {
    const flush = vi.spyOn(AtomicFile.prototype, 'flush').mockRejectedValueOnce(new Error('disk full'))
    onTestFinished(() => flush.mockRestore())
    expect(await add(newFile())).toEqual(failure(3, 'disk full'))
  })

  it('changes nothing when its lock is deleted', async () => {
    const file = newFile()
    await add(file)
    const before = readFileSync(file, 'utf8')
    const lock = `${file}.lock`
    const outcome = add(file)
    while (!existsSync(lock)) await new Promise((resolve) => setImmediate(resolve))
    rmSync(lock)
    writeFileSync(lock, 'of another command')
    expect(await outcome).toEqual(failure(1, 'run the command again'))
    expect(readFileSync(file, 'utf8')).toBe(before)
    expect(readFileSync(lock, 'utf8')).toBe('of another command')
  })

  it('changes nothing if it is stopped right before it replaces the file, and loses its lock', async () => {
    const file = newFile()
    await add(file)
    const { finish } = AtomicFile.prototype
    const stopped = vi.spyOn(AtomicFile.prototype, 'finish')
    onTestFinished(() => stopped.mockRestore())
    let other = ''
    stopped.mockImplementationOnce(async function (this: AtomicFile) {
      rmSync(`${file}.lock`)
      other = (await add(file)).out
      await finish.call(this)
    })
    const { status, err } = await add(file)
    expect([status, err]).toEqual([
      1,
      expect.stringMatching(/taken over by another command.*; the key that was printed is not valid$/m),
    ])
    expect(await list(file)).toHaveLength(2)
    expect(await owner(file, other)).not.toBe(null)
    expect(existsSync(`${file}.lock`)).toBe(false)
  })

  it('shows an expired key, and labels only as text', async () => {
    const file = newFile()
    await add(file, '--label-is-missing')
    await geofix(['keys', 'add', '--keys', file, '--plan', 'x', '--label', 'red \u001b[31m'])
    expire(file)
    expect(await list(file)).toEqual([
      expect.stringMatching(/expired 2020-01-01T00:00:00.000Z\tred \ufffd\[31m$/),
    ])
  })

  it.each([
    ['no command', [], 2, 'Commands:'],
    ['no file', ['add', '--plan', 'x', '--label', 'x'], 2, '--keys'],
    ['a plan with a space', words`add --keys x --plan ${'a b'} --label x`, 2, 'the name of a plan'],
    ['a long label', words`add --keys x --plan x --label ${'x'.repeat(201)}`, 2, 'at most 200'],
    ['a time past', words`add --keys x --plan x --label x --expires 2020-01-01`, 2, 'in the future'],
    [
      'a missing folder',
      words`add --keys ${join(folder, 'no/x')} --plan x --label x`,
      3,
      'cannot be written',
    ],
    ['a file in a file', words`add --keys /dev/null/x --plan x --label x`, 3, 'cannot be written'],
    ['a file that is missing', ['list', '--keys', join(folder, 'none')], 1, 'none'],
  ])('refuses %s', async (_, args, status, message) => {
    expect(await geofix(['keys', ...args])).toEqual(failure(status, message))
  })

  it('refuses a file that others can write, and leaves it as it is', async () => {
    const file = newFile()
    await add(file)
    chmodSync(file, 0o666)
    const before = readFileSync(file, 'utf8')
    expect(await add(file)).toEqual(failure(1, 'chmod 600'))
    expect(readFileSync(file, 'utf8')).toBe(before)
  })
})
