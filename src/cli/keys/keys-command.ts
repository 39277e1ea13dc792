import { closeSync, fstatSync, openSync, rmSync, type Stats, statSync } from 'node:fs'
import type { Writable } from 'node:stream'
import { isGeofixError, quoted } from '../../errors.ts'
import { DEFAULT_PLANS } from '../../http/rate-limit.ts'
import { codeOf } from '../../node/file-state.ts'
import { readKeyFile } from '../../node/keys/key-file.ts'
import { digestOf, type KeyEntry, keyListText, makeKey, makeKeyId } from '../../node/keys/key-list.ts'
import { messageOf } from '../../realm.ts'
import { AtomicFile, removeLeftovers } from '../enrich/atomic-file.ts'
import { resolveLinks } from '../enrich/descriptors.ts'
import type { FlagsOf } from '../options.ts'
import {
  CommandFailure,
  ExitStatus,
  printable,
  type Terminal,
  unwritable,
  writeLine,
  writeMessage,
} from '../terminal.ts'
import type { KEYS_OPTIONS } from './flags.ts'

type Flags<Name extends keyof typeof KEYS_OPTIONS> = FlagsOf<(typeof KEYS_OPTIONS)[Name]>

/** Adds a key to a file, and prints it, once: the file has only its digest. Makes a missing file. */
export async function addKey(flags: Flags<'add'>, terminal: Terminal): Promise<ExitStatus> {
  const { keys: file, plan, label } = flags
  const key = makeKey()
  if (!DEFAULT_PLANS.some(({ name }) => name === plan)) {
    const advice = `the key is valid only where geofix serve has --plan ${plan}=…`
    await writeMessage(terminal.stderr, `${plan} is not a default plan: ${advice}`)
  }
  const add = async () => {
    const entries = statusOf(file) === null ? [] : await readKeyFile(file)
    return [...entries, entryOf(key, plan, label, flags.expires)]
  }
  await change(file, add, { key, stdout: terminal.stdout })
  return ExitStatus.ok
}

/** Prints the id, plan, times and label of each key. The file does not have the keys themselves. */
export async function listKeys({ keys: file }: Flags<'list'>, terminal: Terminal): Promise<ExitStatus> {
  for (const { id, plan, created, expires, label } of await readKeyFile(file)) {
    const until = expires === null ? 'never expires' : `${isPast(expires) ? 'expired' : 'expires'} ${expires}`
    await writeLine(terminal.stdout, [id, plan, created, until, printable(label)].join('\t'))
  }
  return ExitStatus.ok
}

/** Removes a key. @param id as `list` prints it */
export async function revokeKey(id: string, { keys: file }: Flags<'revoke'>): Promise<ExitStatus> {
  await change(file, async () => {
    const entries = await readKeyFile(file)
    const revoked = find(entries, id)
    return entries.filter((entry) => entry !== revoked)
  })
  return ExitStatus.ok
}

/**
 * Makes and prints a new key with the plan, the label and, unless a flag sets another one, the expiry of an old key. The old
 * key stays valid until it is revoked.
 */
export async function rotateKey(id: string, flags: Flags<'rotate'>, terminal: Terminal): Promise<ExitStatus> {
  const { keys: file, expires } = flags
  const key = makeKey()
  const add = async () => {
    const entries = await readKeyFile(file)
    const old = find(entries, id)
    if (expires === undefined && old.expires !== null && isPast(old.expires))
      throw new CommandFailure(`the key ${id} has expired: add --expires`, ExitStatus.failed)
    const entry = entryOf(key, old.plan, old.label, expires)
    return [...entries, expires === undefined ? { ...entry, expires: old.expires } : entry]
  }
  await change(file, add, { key, stdout: terminal.stdout })
  return ExitStatus.ok
}

function isPast(instant: string): boolean {
  return Date.parse(instant) <= Date.now()
}

function find(entries: readonly KeyEntry[], id: string): KeyEntry {
  const entry = entries.find((each) => each.id === id)
  if (entry !== undefined) return entry
  throw new CommandFailure(`no key has the id ${quoted(id)}: see geofix keys list`, ExitStatus.failed)
}

function entryOf(key: string, plan: string, label: string, expires: Date | undefined): KeyEntry {
  return {
    id: makeKeyId(),
    plan,
    label,
    created: new Date().toISOString(),
    expires: expires?.toISOString() ?? null,
    digest: digestOf(key),
  }
}

/**
 * Replaces the file in one step, so that a server never reads half of it. Other commands wait meanwhile, so that none loses
 * the change of another.
 *
 * @param edit reads the present keys and returns those to write
 * @param key a new key, which is printed when all is ready: a key that nobody has seen must not become valid
 */
async function change(
  file: string,
  edit: () => Promise<readonly KeyEntry[]>,
  print?: { readonly key: string; readonly stdout: Writable },
): Promise<void> {
  let lock: KeysLock | undefined
  let output: AtomicFile | undefined
  let isPrinted = false
  try {
    // Servers follow links, so the file that a link leads to is the one to lock and to replace.
    const target = await resolveLinks(file)
    if (typeof target === 'number') throw new Error('it is not a file')
    lock = await lockKeys(target)
    // A command whose lock was taken over can be stopped right before its rename, which then fails.
    removeLeftovers(target, true)
    const text = keyListText(await edit())
    // A user other than that of the service may edit the file. The service must still be able to read it.
    output = new AtomicFile(target, statusOf(target), true)
    await output.write(Buffer.from(text))
    await output.flush()
    if (print !== undefined && lock.isHeld()) {
      await printed(print.stdout, `${print.key}\n`)
      isPrinted = true
    }
    if (!lock.isHeld()) throw lostLock(lock)
    await output.finish()
  } catch (error) {
    const failure = lock?.isHeld() === false ? lostLock(lock) : failureOf(file, error)
    if (!isPrinted) throw failure
    throw new CommandFailure(
      `${failure.message}; the key that was printed is not valid`,
      ExitStatus.failed,
      error,
    )
  } finally {
    output?.discard()
    lock?.release()
  }
}

/** The status of a file; `null` if it does not exist. */
function statusOf(file: string): Stats | null {
  return statSync(file, { throwIfNoEntry: false }) ?? null
}

/** Waits until a text is written. @throws CommandFailure when nobody can have read it */
async function printed(stdout: Writable, text: string): Promise<void> {
  return new Promise((resolve, reject) => {
    stdout.write(text, (error) => {
      if (!error) return resolve()
      const message = `the key cannot be printed, so it was not added: ${messageOf(error)}`
      reject(new CommandFailure(message, ExitStatus.output, error))
    })
  })
}

function lostLock({ path }: KeysLock): CommandFailure {
  const why = 'was deleted, or taken over by another command'
  return new CommandFailure(
    `${path} ${why}: nothing was changed, so run the command again`,
    ExitStatus.failed,
  )
}

function failureOf(file: string, error: unknown): Error {
  return isGeofixError(error) || error instanceof CommandFailure ? error : unwritable(file, error)
}

/** A command has a lock for milliseconds. One that keeps it for longer was killed or is stopped, and loses it. */
const MAX_HELD_MS = 5000
/** How often to look whether the lock is free. */
const INTERVAL_MS = 20

/** The lock of this process. */
interface KeysLock {
  readonly path: string
  /** Whether it is still there: people delete locks, and other commands take them over. */
  readonly isHeld: () => boolean
  readonly release: () => void
}

/** Makes the lock of a file. Waits for another command that has it, and takes over a lock that stays. */
async function lockKeys(file: string): Promise<KeysLock> {
  const path = `${file}.lock`
  let other = ''
  for (let waited = 0; ; waited += INTERVAL_MS) {
    try {
      return make(path)
    } catch (error) {
      if (codeOf(error) !== 'EEXIST') throw error
    }
    // The next lock can have the number of a file that was deleted.
    const found = `${statusOf(path)?.ino} ${statusOf(path)?.mtimeMs}`
    if (found !== other) waited = 0
    else if (waited >= MAX_HELD_MS) rmSync(path, { force: true })
    other = found
    await new Promise((resolve) => setTimeout(resolve, INTERVAL_MS))
  }
}

function make(path: string): KeysLock {
  // `wx` fails on an existing file or link.
  const fd = openSync(path, 'wx', 0o600)
  // It stays open, so that no other file gets its number.
  const made = fstatSync(fd)
  const isHeld = (): boolean => {
    const found = statusOf(path)
    return made.ino === found?.ino && made.dev === found.dev
  }
  return {
    path,
    isHeld,
    release: () => {
      if (isHeld()) rmSync(path, { force: true })
      closeSync(fd)
    },
  }
}
