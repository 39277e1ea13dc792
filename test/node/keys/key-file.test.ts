import crypto from 'node:crypto'
import { chmodSync, mkdirSync, renameSync, rmSync, truncateSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import fc from 'fast-check'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { createKeyFile, type KeyFile, KeyFileError, type KeyFileOptions } from '../../../src/http.ts'
import { isGeofixError } from '../../../src/index.ts'
import { openKeyFile } from '../../../src/node/keys/key-file.ts'
import {
  digestOf,
  equalDigests,
  isWellFormedKey,
  type KeyEntry,
  keyListText,
  keyOf,
  MAX_KEY_FILE_BYTES,
  makeKey,
  makeKeyId,
  parseKeyList,
} from '../../../src/node/keys/key-list.ts'
import { replaceFile, temporaryFolder } from '../../temporary.ts'

/** What opening a file fails with. */
const fault = vi.hoisted((): { error: Error | null; onOpen: () => void | Promise<void> } => ({
  error: null,
  onOpen: () => {},
}))
vi.mock(import('node:fs/promises'), async (original) => {
  const module = await original()
  const open: typeof module.open = async (...args) => {
    if (fault.error !== null) throw fault.error
    const file = await module.open(...args)
    await fault.onOpen()
    return file
  }
  return { ...module, open }
})

const folder = temporaryFolder()
let files = 0

const entryOf = (key: string, more: Partial<KeyEntry> = {}): KeyEntry => ({
  id: makeKeyId(),
  plan: 'developer',
  label: 'a “label”, "quoted"',
  created: '2026-11-22T10:00:00.000Z',
  expires: null,
  digest: digestOf(key),
  ...more,
})

function write(text: string, path = join(folder, `keys-${++files}.json`)): string {
  replaceFile(path, text)
  return path
}

async function followed(path: string, options: KeyFileOptions = {}): Promise<KeyFile> {
  return createKeyFile(path, { interval: 5, ...options })
}

describe('a key', () => {
  it('has 256 random bits and a checksum', () => {
    const keys = Array.from({ length: 100 }, makeKey)
    expect(new Set(keys).size).toBe(100)
    for (const key of keys) {
      expect(key).toMatch(/^live_[0-9A-Za-z]{49}$/)
      expect(isWellFormedKey(key)).toBe(true)
    }
  })

  it('with any one character changed is known without a search', () => {
    const key = makeKey()
    const digits = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
    fc.assert(
      fc.property(fc.nat(key.length - 1), fc.constantFrom(...digits), (at, digit) => {
        fc.pre(key[at] !== digit)
        expect(isWellFormedKey(key.slice(0, at) + digit + key.slice(at + 1))).toBe(false)
      }),
    )
  })

  it('is nothing else', () => {
    for (const text of ['', 'live_', `test_${makeKey().slice(5)}`, `${makeKey()}0`, ` ${makeKey()}`]) {
      expect(isWellFormedKey(text)).toBe(false)
    }
  })
})

describe('digests', () => {
  const digest = fc.stringMatching(/^[0-9a-f]{64}$/)

  it('are equal if all of their digits are', () => {
    fc.assert(
      fc.property(digest, digest, fc.nat(63), (one, other, at) => {
        expect(equalDigests(one, one)).toBe(true)
        const changed = one.slice(0, at) + (one[at] === '0' ? '1' : '0') + one.slice(at + 1)
        expect(equalDigests(one, changed)).toBe(false)
        expect(equalDigests(one, other)).toBe(one === other)
      }),
    )
  })
})

describe('a file of keys', () => {
  it('is read as it is written', () => {
    const entries = [
      entryOf(makeKey()),
      entryOf(makeKey(), { expires: '2027-01-01T00:00:00.000Z', label: 'x'.repeat(200) }),
    ]
    expect(parseKeyList(keyListText(entries))).toEqual(entries)
    expect(parseKeyList(keyListText([]))).toEqual([])
  })

  const entry = entryOf(makeKey())
  it.each<[string, unknown, string]>([
    ['no JSON', '{', 'it is not JSON'],
    ['a list', [], 'it is not { "keys"'],
    ['null', null, 'it is not { "keys"'],
    ['a key that is not an object', { keys: [1] }, 'the id of key 1'],
    ['a key without a digest', { keys: [{ ...entry, digest: undefined }] }, 'the digest of key 1'],
    ['a short digest', { keys: [{ ...entry, digest: 'abc' }] }, 'the digest of key 1 is not valid'],
    ['a plan with a space', { keys: [{ ...entry, plan: 'the best' }] }, 'the plan of key 1'],
    ['a label too long', { keys: [{ ...entry, label: 'x'.repeat(201) }] }, 'the label of key 1'],
    ['a day', { keys: [{ ...entry, expires: '2027-01-01' }] }, 'the expires of key 1'],
    ['a local time', { keys: [{ ...entry, expires: '2027-01-01T00:00:00' }] }, 'the expires of key 1'],
    ['no time', { keys: [{ ...entry, created: '2027-99-01T00:00:00Z' }] }, 'the created of key 1'],
    ['one id twice', { keys: [entry, { ...entryOf(makeKey()), id: entry.id }] }, 'the same id'],
    ['one digest twice', { keys: [entry, { ...entry, id: 'x' }] }, 'the same digest'],
  ])('is refused: %s', async (_, value, message) => {
    const path = write(typeof value === 'string' ? value : JSON.stringify(value))
    await expect(followed(path)).rejects.toThrow(message)
    await expect(followed(path)).rejects.toThrow(path)
    await expect(followed(path)).rejects.toSatisfy(isGeofixError)
  })

  it('is refused if others can write it, if it is missing, and if it is a folder', async () => {
    const path = write(keyListText([]))
    for (const mode of [0o620, 0o602]) {
      chmodSync(path, mode)
      await expect(followed(path)).rejects.toThrow('chmod 600')
    }
    await expect(followed(join(folder, 'missing'))).rejects.toThrow(KeyFileError)
    await expect(followed(join(folder, 'missing'))).rejects.toThrow(
      ': no such file or directory (ENOENT): make it with geofix keys add',
    )
    mkdirSync(join(folder, 'directory'), { mode: 0o700 })
    await expect(followed(join(folder, 'directory'))).rejects.toThrow(KeyFileError)
  })

  it('is refused unread if it is too large', async () => {
    const path = write(keyListText([]))
    // Takes no space on the disk.
    truncateSync(path, MAX_KEY_FILE_BYTES + 1)
    await expect(followed(path)).rejects.toThrow(`${path}: it has more than ${MAX_KEY_FILE_BYTES} bytes`)
    rmSync(path)
  })

  it.each([[{ interval: 0 }], [{ interval: 2 ** 31 }], [{ interval: Number.NaN }]])(
    'is not followed with %j',
    async (options) => {
      await expect(createKeyFile(write(keyListText([])), options)).rejects.toThrow(TypeError)
      await expect(Reflect.apply(createKeyFile, null, [7])).rejects.toThrow(TypeError)
    },
  )
})

describe('authenticate', () => {
  it('knows the keys of the file until they expire', async () => {
    const [valid, expired, other] = [makeKey(), makeKey(), makeKey()]
    const entry = entryOf(valid, { expires: new Date(Date.now() + 3_600_000).toISOString() })
    const file = await followed(
      write(keyListText([entry, entryOf(expired, { expires: new Date(Date.now() - 1).toISOString() })])),
    )
    expect(file.size).toBe(2)
    const { authenticate } = file
    expect(authenticate(valid)).toEqual({ plan: 'developer', id: entry.id })
    for (const key of [expired, other, '', 'live_', valid.slice(0, -1), entry.digest]) {
      expect(authenticate(key)).toBe(null)
    }
    file.close()
  })

  it('refuses a key from the instant at which it expires, also one that was used before', async () => {
    const key = makeKey()
    const expires = Date.now() + 3_600_000
    const entry = entryOf(key, { expires: new Date(expires).toISOString() })
    const { authenticate, close } = await followed(write(keyListText([entry])))
    vi.useFakeTimers({ toFake: ['Date'] })
    for (const [instant, isValid] of [
      [expires - 1, true],
      [expires, false],
    ] as const) {
      vi.setSystemTime(instant)
      for (let time = 0; time < 2; time++) expect(authenticate(key) !== null).toBe(isValid)
    }
    vi.useRealTimers()
    close()
  })

  it('knows more keys than it keeps as text', async () => {
    const keys = Array.from({ length: 5000 }, makeKey)
    const { authenticate, close } = await followed(write(keyListText(keys.map((key) => entryOf(key)))))
    for (let time = 0; time < 2; time++) expect(keys.every((key) => authenticate(key) !== null)).toBe(true)
    close()
  })

  it('needs the whole key: no part of it tells whether another part is right', async () => {
    const key = makeKey()
    const { authenticate, close } = await followed(write(keyListText([entryOf(key)])))
    const compare = vi.spyOn(crypto, 'timingSafeEqual')
    const secret = key.slice('live_'.length, -6)
    expect(keyOf(secret)).toBe(key)
    for (let at = 0; at < secret.length; at++) {
      // Only the digest tells this key, which is well-formed, from the right one.
      const other = keyOf(secret.slice(0, at) + (secret[at] === 'a' ? 'b' : 'a') + secret.slice(at + 1))
      expect(isWellFormedKey(other)).toBe(true)
      compare.mockClear()
      expect(authenticate(other)).toBe(null)
      // One comparison in constant time, of digests, whatever is right.
      expect(compare.mock.calls.map((sides) => sides.map(({ byteLength }) => byteLength))).toEqual([[64, 64]])
      const [right, wrong] = [digestOf(key), digestOf(other)]
      const common = [...right].findIndex((digit, index) => digit !== wrong[index])
      expect(common).toBeLessThan(8) // equal digits of keys do not make equal digits of digests
    }
    compare.mockClear()
    expect(authenticate(key)).not.toBe(null)
    expect(compare).toHaveBeenCalledOnce()
    close()
  })

  it('refuses a key of an unknown plan at first; later, it reports it, and the other keys count', async () => {
    const [revoked, kept, strange] = [makeKey(), makeKey(), makeKey()]
    const onError = vi.fn()
    const options = { onError, plans: ['developer'] }
    const path = write(keyListText([entryOf(revoked), entryOf(kept)]))
    const file = await followed(path, options)
    write(keyListText([entryOf(kept), entryOf(strange, { plan: 'develper' })]), path)
    while (file.authenticate(revoked) !== null) await delay(5)
    expect(file.authenticate(kept)).not.toBe(null)
    expect(file.authenticate(strange)).toBe(null)
    expect(onError).toHaveBeenCalledOnce()
    expect(onError.mock.lastCall?.[0]).toMatchObject({ message: expect.stringContaining('develper') })
    file.close()
    await expect(followed(path, options)).rejects.toThrow('develper')
  })

  it('follows the file; while it is damaged or missing, the keys stay', async () => {
    const [first, second] = [makeKey(), makeKey()]
    const onError = vi.fn()
    const onReload = vi.fn()
    const path = write(keyListText([entryOf(first)]))
    const file = await followed(path, { onError, onReload })
    const knows = (key: string) => file.authenticate(key) !== null
    const until = async (done: () => boolean) => {
      while (!done()) await delay(5)
    }
    write('{', path)
    await until(() => onError.mock.calls.length === 1)
    expect(knows(first)).toBe(true)
    write(keyListText([entryOf(first), entryOf(second)]), path)
    await until(() => knows(second))
    expect(onReload).toHaveBeenLastCalledWith(2)
    write(keyListText([entryOf(second)]), path)
    await until(() => !knows(first))
    rmSync(path)
    await until(() => onError.mock.calls.length === 2)
    await delay(30)
    expect(onError).toHaveBeenCalledTimes(2) // once for each state of the file
    expect(knows(second)).toBe(true)
    file.close()
    write(keyListText([]), path)
    await delay(30)
    expect(knows(second)).toBe(true)
  })

  it('reads the file again until it can be read, although it did not change meanwhile', async () => {
    const [revoked, kept] = [makeKey(), makeKey()]
    const [onError, onReload] = [vi.fn(), vi.fn()]
    const path = write(keyListText([entryOf(revoked), entryOf(kept)]))
    const file = await followed(path, { onError, onReload })
    const { ageMs, error } = file.status
    expect(error).toBe(null)
    expect(ageMs).toBeGreaterThanOrEqual(0)
    onTestFinished(() => {
      fault.error = null
    })
    fault.error = Object.assign(new Error('EMFILE: too many open files'), { code: 'EMFILE', syscall: 'open' })
    write(keyListText([entryOf(kept)]), path)
    while (file.status.error === null) await delay(5)
    expect(file.status.error?.message).toBe(`${path}: too many files are open (EMFILE)`)
    const { ageMs: before } = file.status
    await delay(40)
    // The age goes on, and one fault that stays is one report.
    expect(file.status.ageMs).toBeGreaterThanOrEqual(before + 30)
    expect(onError).toHaveBeenCalledOnce()
    expect(file.authenticate(revoked)).not.toBe(null)
    fault.error = new Error('EIO: i/o error')
    while (onError.mock.calls.length < 2) await delay(5)
    fault.error = null
    while (file.authenticate(revoked) !== null) await delay(5)
    expect(file.authenticate(kept)).not.toBe(null)
    expect(file.status.error).toBe(null)
    expect(onReload.mock.calls).toEqual([[1]])
    file.close()
  })

  it('reads a file again that came back unchanged, and says when it is used', async () => {
    const key = makeKey()
    const [onError, onReload] = [vi.fn(), vi.fn()]
    const mount = join(folder, 'mount')
    mkdirSync(mount)
    const file = await followed(write(keyListText([entryOf(key)]), join(mount, 'keys')), {
      onError,
      onReload,
    })
    renameSync(mount, `${mount}.away`)
    while (file.status.error === null) await delay(5)
    renameSync(`${mount}.away`, mount)
    while (file.status.error !== null) await delay(5)
    expect([onError, onReload].map(({ mock }) => mock.calls.length)).toEqual([1, 1])
    expect(file.authenticate(key)).not.toBe(null)
    file.close()
  })

  it('says for how long the keys may be old, and does not keep the process alive', async () => {
    const [now, interval] = [performance.now(), 7]
    const timers = vi.spyOn(globalThis, 'setTimeout')
    const path = write(keyListText([]))
    const file = await followed(path, { interval })
    const timer = timers.mock.calls.findIndex(([, ms]) => ms === interval)
    expect(timers.mock.results[timer]?.value.hasRef()).toBe(false)
    const clock = vi.spyOn(performance, 'now').mockReturnValue(now + 60_000)
    expect(file.status.ageMs).toBeGreaterThan(50_000)
    while (file.status.ageMs > 0) await delay(5)
    file.close()
    const other = await openKeyFile(path, { interval: 1e9 })
    clock.mockReturnValue(now + 120_000)
    await other.reload()
    expect(other.status.ageMs).toBe(0)
    other.close()
  })

  it('reports a fault that stays again each minute', async () => {
    const onError = vi.fn()
    const path = write(keyListText([]))
    const file = await followed(path, { onError })
    const now = performance.now()
    const clock = vi.spyOn(performance, 'now')
    onTestFinished(() => file.close())
    for (let minute = 1; minute <= 3; minute++) {
      clock.mockReturnValue(now + minute * 60_001)
      if (minute === 1) rmSync(path)
      while (onError.mock.calls.length < minute) await delay(5)
    }
    await delay(30)
    expect(onError).toHaveBeenCalledTimes(3)
  })
})

describe('reading on demand', () => {
  it('does not wait for the interval, reads an unchanged file too, and reports each fault', async () => {
    const [one, other] = [makeKey(), makeKey()]
    const path = write(keyListText([entryOf(one)]))
    const [onReload, onError] = [vi.fn(), vi.fn()]
    const file = await openKeyFile(path, { interval: 1e9, onReload, onError })
    expect(await file.reload()).toBe(true)
    write(keyListText([entryOf(other)]), path)
    expect(file.authenticate(one)).not.toBeNull()
    expect(await file.reload()).toBe(true)
    expect([file.authenticate(one), file.authenticate(other)]).toEqual([null, expect.anything()])
    expect(onReload).toHaveBeenCalledTimes(2)
    write('damaged', path)
    expect([await file.reload(), await file.reload()]).toEqual([false, false])
    expect(onError).toHaveBeenCalledTimes(2)
    expect(file.authenticate(other)).not.toBeNull()
    file.close()
  })

  it('keeps no revoked key if a reading ends that began before another', async () => {
    const path = write(keyListText([entryOf(makeKey())]))
    const file = await openKeyFile(path, { interval: 1e9 })
    let later: Promise<boolean> | undefined
    fault.onOpen = async () => {
      fault.onOpen = () => {}
      write(keyListText([]), path)
      later = file.reload()
      await delay(50)
    }
    await file.reload()
    await later
    expect(file.size).toBe(0)
    file.close()
  })

  it.each([keyListText([]), 'damaged'])('changes nothing if it is closed meanwhile: %j', async (text) => {
    const path = write(keyListText([entryOf(makeKey())]))
    const file = await openKeyFile(path, { interval: 1e9 })
    onTestFinished(() => {
      fault.onOpen = () => {}
    })
    fault.onOpen = file.close
    write(text, path)
    await file.reload()
    expect([file.size, file.status.error]).toEqual([1, null])
  })

  it('never rejects: an error of a callback is an uncaught exception, and the file is followed on', async () => {
    const [event, thrown, key] = ['uncaughtException' as const, vi.fn(), makeKey()]
    const others = process.rawListeners(event)
    process.removeAllListeners(event).on(event, ({ message }) => thrown(message))
    onTestFinished(() => {
      process.removeAllListeners(event)
      for (const other of others) process.on(event, (...facts) => Reflect.apply(other, process, facts))
    })
    const fail = (name: string) => () => {
      throw new Error(name)
    }
    const path = write(keyListText([]))
    const callbacks = { onReload: fail('onReload'), onError: fail('onError') }
    const file = await openKeyFile(path, { interval: 5, plans: ['developer'], ...callbacks })
    write('damaged', path)
    expect(await file.reload()).toBe(false)
    write(keyListText([entryOf(key), entryOf(makeKey(), { plan: 'strange' })]), path)
    while (file.authenticate(key) === null) await delay(5)
    expect(await file.reload()).toBe(true)
    await delay(5)
    expect(new Set(thrown.mock.calls.flat())).toEqual(new Set(['onError', 'onReload']))
    file.close()
  })
})
