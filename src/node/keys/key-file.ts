import { readFile, stat } from 'node:fs/promises'
import { resolve } from 'node:path'
import { messageOf } from '../../realm.ts'
import { fileState } from '../file-state.ts'
import { digestOf, equalDigests, isWellFormedKey } from './key.ts'
import { type KeyEntry, KeyFileError, MAX_KEY_FILE_BYTES, parseKeyList } from './key-list.ts'

export interface KeyFileOptions {
  /** Milliseconds between two checks of the file, at least 1. Default: 1000. */
  readonly interval?: number | undefined
  /**
   * The plans that there are. A file with a key of another plan is refused at first. Later, such a key is reported and not
   * valid. Default: any.
   */
  readonly plans?: readonly string[] | undefined
  /**
   * Is called once for each state of the file that cannot be used, and then the previous keys stay valid; also for one
   * with keys of plans that there are not.
   */
  readonly onError?: ((error: KeyFileError) => void) | undefined
  /** Is called with the number of keys after the file was read again. */
  readonly onReload?: ((keys: number) => void) | undefined
}

/** The keys in a file. */
export interface KeyFile {
  /**
   * For the option `authenticate` of `createHandler`: whose key it is, or `null` if it is not valid. Needs no `this`.
   */
  readonly authenticate: (key: string) => { readonly plan: string; readonly id: string } | null
  /** How many keys of known plans the file has, expired ones included. */
  readonly size: number
  /** Stops following the file. The keys stay as they are. */
  readonly close: () => void
}

/** A key of the file. */
interface Owner {
  readonly owner: { readonly plan: string; readonly id: string }
  /** When it expires. Milliseconds since 1970. */
  readonly until: number
}

/** The most keys that are kept as text, which is faster than their digests. */
const MAX_KNOWN_KEYS = 4096
const DEFAULT_INTERVAL_MS = 1000
const MAX_INTERVAL_MS = 2 ** 31 - 1
/** Compared with the digest of an unknown key. */
const NO_DIGEST = '0'.repeat(64)
/** Bits for the group and for others to write. */
const WRITABLE_BY_OTHERS = 0o022

/**
 * Reads a file of API keys, as `geofix keys` writes it, and follows it: a key that is added or revoked counts within two
 * intervals. While the file is damaged or missing, the previous keys stay valid. Following it does not keep the
 * process alive.
 *
 * @throws KeyFileError when the file cannot be read, is damaged, or others can write it
 * @throws TypeError when an option is invalid
 */
export async function createKeyFile(path: string, options: KeyFileOptions = {}): Promise<KeyFile> {
  const { interval = DEFAULT_INTERVAL_MS } = options
  if (typeof path !== 'string') throw new TypeError('createKeyFile needs the path of a file')
  if (!(typeof interval === 'number' && interval >= 1 && interval <= MAX_INTERVAL_MS)) {
    throw new TypeError(`interval must be a number of milliseconds, from 1 to ${MAX_INTERVAL_MS}`)
  }
  const file = resolve(path)
  const { plans, onReload, onError } = options
  let byDigest: ReadonlyMap<string, KeyEntry> = new Map()
  /**
   * The valid keys of recent requests: saves 0.8 µs for each. The time of this search tells nothing about keys either: a
   * `Map` compares texts only if their hashes are equal, and those depend on a random seed of the process.
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
    const isUsable = ({ plan }: KeyEntry): boolean => plans === undefined || plans.includes(plan)
    byDigest = new Map(entries.filter(isUsable).map((entry) => [entry.digest, entry]))
    known.clear()
    const strange = entries.find((entry) => !isUsable(entry))
    if (strange === undefined) return null
    return new KeyFileError(
      `${file}: the key ${strange.id} has the plan ${strange.plan}, which is not defined`,
    )
  }

  /** The state of the file when it was last read, whether it could be used or not. */
  let seen = await fileState(file)
  const strange = await read()
  if (strange !== null) throw strange

  const poll = async (): Promise<void> => {
    const state = await fileState(file)
    try {
      if (state === seen || isClosed) return
      seen = state
      const strange = await read()
      if (strange !== null) onError?.(strange)
      onReload?.(byDigest.size)
    } catch (error) {
      if (!(error instanceof KeyFileError)) throw error
      onError?.(error)
    } finally {
      schedule()
    }
  }
  const schedule = (): void => {
    if (!isClosed) timer = setTimeout(() => void poll(), interval).unref()
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
    const { mode, size } = await stat(path)
    // A user who can write the file can make keys. Windows has no such bits.
    if (process.platform !== 'win32' && (mode & WRITABLE_BY_OTHERS) !== 0) {
      throw new KeyFileError(`other users can write it: run chmod 600 ${path}`)
    }
    if (size > MAX_KEY_FILE_BYTES) throw new KeyFileError(`it has more than ${MAX_KEY_FILE_BYTES} bytes`)
    return parseKeyList(await readFile(path, 'utf8'))
  } catch (error) {
    throw new KeyFileError(`${path}: ${messageOf(error)}`, { cause: error })
  }
}
