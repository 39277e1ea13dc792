import { constants } from 'node:fs'
import { open } from 'node:fs/promises'
import { resolve } from 'node:path'
import { checkOptionNames, type NamesOf } from '../../option-names.ts'
import { callSafely, codeOf, type FileState, fileState, oneAtATime, reasonOf } from '../file-state.ts'
import {
  digestOf,
  equalDigests,
  isWellFormedKey,
  type KeyEntry,
  KeyFileError,
  MAX_KEY_FILE_BYTES,
  parseKeyList,
} from './key-list.ts'

export interface KeyFileOptions {
  /** Milliseconds between two checks of the file, at least 1. Default: 1000. */
  readonly interval?: number | undefined
  /**
   * The plans that exist. A file with a key of another plan is refused at first. Later, such a key is reported and not
   * valid. Default: any.
   */
  readonly plans?: readonly string[] | undefined
  /**
   * Is called when the file cannot be used, again when the reason changes, and again each minute until the file can be
   * used. The previous keys stay valid until then. Is also called once for a file with a key whose plan does not exist. An
   * error that it throws is an uncaught exception, as with event listeners.
   */
  readonly onError?: ((error: KeyFileError) => void) | undefined
  /** Is called with the number of keys after the file was read again. An error that it throws is an uncaught exception. */
  readonly onReload?: ((keys: number) => void) | undefined
}

const KEY_FILE_OPTIONS: NamesOf<KeyFileOptions> = {
  interval: true,
  plans: true,
  onError: true,
  onReload: true,
}

/** Whether the keys are those of the file now, for monitoring. */
export interface KeyFileStatus {
  /** Why the keys of the file are not used; `null` if they are. */
  readonly error: KeyFileError | null
  /**
   * Milliseconds since the keys were last known to be those of the file. Below two intervals if all is well. If it grows, a
   * revoked key may still be valid. Changes of the system's clock do not matter.
   */
  readonly ageMs: number
}

/** The keys in a file. */
export interface KeyFile {
  /**
   * Says whose key it is, or `null` if it is not valid: the option `authenticate` of `createHandler`. It needs no `this`.
   */
  readonly authenticate: (key: string) => { readonly plan: string; readonly id: string } | null
  /** How many keys of known plans the file has, expired ones included. */
  readonly size: number
  /** Whether the keys are those of the file. Stays as it is after `close`, except for the age. */
  readonly status: KeyFileStatus
  /** Stops following the file. The keys stay as they are. */
  readonly close: () => void
}

/** A file of keys that can also be read on demand. */
export interface ReloadableKeyFile extends KeyFile {
  /**
   * Reads the file at once, changed or not, and calls `onReload` or `onError`. Never rejects.
   *
   * @returns whether the keys are those of the file now
   */
  readonly reload: () => Promise<boolean>
}

/** A key of the file. */
interface Owner {
  readonly owner: { readonly plan: string; readonly id: string }
  /** When it expires. Milliseconds since 1970. */
  readonly until: number
}

/** The most keys that are kept as text, and so need no digest again. */
const MAX_KNOWN_KEYS = 4096
const DEFAULT_INTERVAL_MS = 1000
const MAX_INTERVAL_MS = 2 ** 31 - 1
/** How often an error that stays is reported. */
const REPEAT_MS = 60_000
/** Compared with the digest of an unknown key. */
const NO_DIGEST = '0'.repeat(64)
/** Bits for the group and for others to write. */
const WRITABLE_BY_OTHERS = 0o022

/**
 * Reads a file of API keys, as `geofix keys` writes it, and follows it: a key that is added or revoked counts within two
 * intervals. While the file cannot be read, is damaged or missing, the previous keys stay valid, `status` says so, and
 * each interval tries again. Following the file does not keep the process alive.
 *
 * @throws KeyFileError when the file cannot be read, is damaged, or others can write it
 * @throws TypeError when an option is invalid
 */
export async function createKeyFile(path: string, options: KeyFileOptions = {}): Promise<KeyFile> {
  return openKeyFile(path, options)
}

/** `createKeyFile` for the command line. */
export async function openKeyFile(path: string, options: KeyFileOptions = {}): Promise<ReloadableKeyFile> {
  checkOptionNames('createKeyFile', options, KEY_FILE_OPTIONS)
  const { interval = DEFAULT_INTERVAL_MS } = options
  if (typeof path !== 'string') throw new TypeError('createKeyFile needs the path of a file')
  if (!(typeof interval === 'number' && interval >= 1 && interval <= MAX_INTERVAL_MS)) {
    throw new TypeError(`interval must be a number of milliseconds, from 1 to ${MAX_INTERVAL_MS}`)
  }
  const file = resolve(path)
  const { plans, onReload, onError } = options
  let byDigest: ReadonlyMap<string, KeyEntry> = new Map()
  /**
   * The valid keys of recent requests, so that their digests are not made again. The time of this search tells nothing about
   * keys either: a `Map` compares texts only if their hashes are equal, and the hashes depend on a random seed of the process.
   */
  const known = new Map<string, Owner>()
  let timer: NodeJS.Timeout | undefined
  let isClosed = false

  /**
   * @returns the error of a key of another plan, or `null`. The other keys count: a mistyped plan must not keep a revoked key
   *   valid
   * @throws KeyFileError, and then keeps the keys as they are
   */
  const read = async (): Promise<KeyFileError | null> => {
    const entries = await readKeyFile(file)
    if (isClosed) return null
    const isUsable = ({ plan }: KeyEntry): boolean => plans === undefined || plans.includes(plan)
    byDigest = new Map(entries.filter(isUsable).map((entry) => [entry.digest, entry]))
    known.clear()
    const strange = entries.find((entry) => !isUsable(entry))
    if (strange === undefined) return null
    return new KeyFileError(
      `${file}: the key ${strange.id} has the plan ${strange.plan}, which is not defined`,
    )
  }

  /**
   * The state of the file before its keys were read; `null` if reading failed. The next check then reads it again, although
   * its state is the same: the process may have had no descriptor left.
   */
  let seen: FileState | null = await fileState(file)
  let confirmedAt = performance.now()
  const strange = await read()
  if (strange !== null) throw strange
  let error: KeyFileError | null = null
  let reportedAt = Number.NEGATIVE_INFINITY

  /** Reads the file if it has changed, or could not be read. @returns whether the keys are those of the file */
  const check = async (): Promise<boolean> => {
    const startedAt = performance.now()
    try {
      const state = await fileState(file)
      if (isClosed) return true
      if (state === seen) {
        confirmedAt = startedAt
        return true
      }
      seen = null
      const strange = await read()
      if (isClosed) return true
      seen = state
      confirmedAt = startedAt
      error = null
      if (strange !== null) callSafely(() => onError?.(strange))
      callSafely(() => onReload?.(byDigest.size))
      return true
    } catch (thrown) {
      if (!(thrown instanceof KeyFileError)) throw thrown
      if (isClosed) return false
      const now = performance.now()
      const isReported = error?.message === thrown.message && now - reportedAt < REPEAT_MS
      error = thrown
      if (isReported) return false
      reportedAt = now
      callSafely(() => onError?.(thrown))
      return false
    }
  }
  // Of two checks, the check that read first could end last, and keep a revoked key valid.
  const alone = oneAtATime()
  const schedule = (): void => {
    if (!isClosed) timer = setTimeout(() => void alone(check).finally(schedule), interval).unref()
  }
  schedule()

  /** @returns `null` if no key of the file has the digest of this one */
  const find = (key: string): Owner | null => {
    if (!isWellFormedKey(key)) return null
    const digest = digestOf(key)
    const entry = byDigest.get(digest)
    // Every search ends with one comparison, of digests and in constant time. Digests have nothing in common even if keys
    // have, so that no time depends on how much of a wrong key is right.
    if (!equalDigests(digest, entry?.digest ?? NO_DIGEST) || entry === undefined) return null
    const { plan, id, expires } = entry
    return {
      owner: Object.freeze({ plan, id }),
      until: expires === null ? Number.POSITIVE_INFINITY : Date.parse(expires),
    }
  }

  return {
    authenticate: (key) => {
      let found = known.get(key)
      if (found === undefined) {
        found = find(key) ?? undefined
        if (found === undefined) return null
        if (known.size >= MAX_KNOWN_KEYS) known.clear()
        known.set(key, found)
      }
      return Date.now() < found.until ? found.owner : null
    },
    get size() {
      return byDigest.size
    },
    get status() {
      return { error, ageMs: performance.now() - confirmedAt }
    },
    reload: () =>
      alone(async () => {
        seen = null
        reportedAt = Number.NEGATIVE_INFINITY
        return check()
      }),
    close: () => {
      isClosed = true
      clearTimeout(timer)
      known.clear()
    },
  }
}

/**
 * Reads the keys of a file.
 *
 * @throws KeyFileError as {@link createKeyFile}
 */
export async function readKeyFile(path: string): Promise<readonly KeyEntry[]> {
  try {
    // Without O_NONBLOCK, opening a named pipe would wait for a writer, and then nothing could end the process.
    const file = await open(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0))
    try {
      const stats = await file.stat()
      if (!stats.isFile()) throw new KeyFileError('it is not a regular file')
      // A user who can write the file can make keys. Windows has no such bits.
      if (process.platform !== 'win32' && (stats.mode & WRITABLE_BY_OTHERS) !== 0) {
        throw new KeyFileError(`other users can write it: run chmod 600 ${path}`)
      }
      if (stats.size > MAX_KEY_FILE_BYTES)
        throw new KeyFileError(`it has more than ${MAX_KEY_FILE_BYTES} bytes`)
      return parseKeyList(await file.readFile('utf8'))
    } finally {
      await file.close()
    }
  } catch (error) {
    const advice = codeOf(error) === 'ENOENT' ? ': make it with geofix keys add' : ''
    throw new KeyFileError(`${path}: ${reasonOf(error)}${advice}`, { cause: error })
  }
}
