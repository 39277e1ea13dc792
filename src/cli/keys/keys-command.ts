import { type FileHandle, open, rename, rm, stat } from 'node:fs/promises'
import { isGeofixError, quoted } from '../../errors.ts'
import { DEFAULT_PLANS } from '../../http/plan.ts'
import { digestOf, makeKey, makeKeyId } from '../../node/keys/key.ts'
import { readKeyFile } from '../../node/keys/key-file.ts'
import { type KeyEntry, keyListText } from '../../node/keys/key-list.ts'
import { messageOf } from '../../realm.ts'
import { resolveLinks } from '../enrich/descriptors.ts'
import type { FlagsOf } from '../options.ts'
import { CommandFailure, ExitStatus, printable, type Terminal, writeLine, writeMessage } from '../terminal.ts'
import type { KEYS_OPTIONS } from './flags.ts'

/** How long to wait for other commands that change the file, and how often to look. */
const LOCK_WAIT_MS = 5000
const LOCK_INTERVAL_MS = 20

type Flags<Name extends keyof typeof KEYS_OPTIONS> = FlagsOf<(typeof KEYS_OPTIONS)[Name]>

/** Adds a key to a file, and prints it, once: the file has only its digest. Makes a missing file. */
export async function addKey(flags: Flags<'add'>, terminal: Terminal): Promise<ExitStatus> {
  const { keys: file, plan, label } = flags
  const key = makeKey()
  if (!DEFAULT_PLANS.some(({ name }) => name === plan)) {
    const advice = `the key is valid only where geofix serve has --plan ${plan}=…`
    await writeMessage(terminal.stderr, `${plan} is not a default plan: ${advice}`)
  }
  await change(file, async () => {
    const entries = (await exists(file)) ? await readKeyFile(file) : []
    return [...entries, entryOf(key, plan, label, flags.expires)]
  })
  await writeLine(terminal.stdout, key)
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
  await change(file, async () => {
    const entries = await readKeyFile(file)
    const old = find(entries, id)
    if (expires === undefined && old.expires !== null && isPast(old.expires))
      throw new CommandFailure(`the key ${id} has expired: add --expires`, ExitStatus.failed)
    const entry = entryOf(key, old.plan, old.label, expires)
    return [...entries, expires === undefined ? { ...entry, expires: old.expires } : entry]
  })
  await writeLine(terminal.stdout, key)
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

async function exists(file: string): Promise<boolean> {
  try {
    await stat(file)
    return true
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return false
    throw error
  }
}

function hasCode(error: unknown, code: string): boolean {
  return typeof error === 'object' && error !== null && 'code' in error && error.code === code
}

/**
 * Replaces the file in one step, so that a server never reads half of it. The new file is also the lock: while it exists,
 * other commands wait, so that none loses the change of another.
 *
 * @param edit reads the present keys and returns those to write
 */
async function change(file: string, edit: () => Promise<readonly KeyEntry[]>): Promise<void> {
  // Servers follow links, so the file that a link leads to is the one to lock and to replace.
  const target = await resolveLinks(file).catch((error) => {
    throw unwritable(file, error)
  })
  if (typeof target === 'number') throw unwritable(file, 'it is not a file')
  const lock = `${target}.lock`
  const handle = await openLock(file, lock)
  let isOurs = true
  try {
    try {
      await handle.writeFile(keyListText(await edit()))
      const [made, old] = await Promise.all([handle.stat(), stat(target).catch(() => null)])
      // Another user than that of the service may edit its file, which the service must still be able to read.
      if (old !== null) {
        await handle.chown(old.uid, old.gid).catch((error) => {
          // A group that has no rights does not matter. Often, the owner is not in it.
          if (made.uid !== old.uid || (made.gid !== old.gid && (old.mode & 0o070) !== 0)) throw error
        })
        await handle.chmod(old.mode & 0o777)
      }
      await handle.sync()
      const found = await stat(lock).catch(() => null)
      isOurs = made.ino === found?.ino && made.dev === found.dev
    } finally {
      await handle.close()
    }
    if (!isOurs) {
      const advice = 'nothing was changed, so run the command again'
      throw new CommandFailure(`${lock} was deleted while a command used it: ${advice}`, ExitStatus.failed)
    }
    await rename(lock, target)
  } catch (error) {
    if (isOurs) await rm(lock, { force: true })
    throw isGeofixError(error) || error instanceof CommandFailure ? error : unwritable(file, error)
  }
}

/** @throws CommandFailure when the file cannot be made, or other commands keep it too long */
async function openLock(file: string, lock: string): Promise<FileHandle> {
  for (let waited = 0; ; waited += LOCK_INTERVAL_MS) {
    try {
      // `wx` fails on an existing file or link, such as one that an attacker made.
      return await open(lock, 'wx', 0o600)
    } catch (error) {
      if (!hasCode(error, 'EEXIST')) throw unwritable(file, error)
      if (waited >= LOCK_WAIT_MS) {
        const advice =
          'another command is changing the keys, or was killed: if none is running, delete that file'
        throw new CommandFailure(`${lock} exists: ${advice}`, ExitStatus.failed, error)
      }
    }
    await new Promise((resolve) => setTimeout(resolve, LOCK_INTERVAL_MS))
  }
}

function unwritable(file: string, cause: unknown): CommandFailure {
  return new CommandFailure(`${file} cannot be written: ${messageOf(cause)}`, ExitStatus.failed, cause)
}
