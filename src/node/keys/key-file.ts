import { readFile, stat } from 'node:fs/promises'
import { resolve } from 'node:path'
import { messageOf } from '../../realm.ts'
import { fileState } from '../file-state.ts'
import { digestOf, isWellFormedKey } from './key.ts'
import { isValidAt, type KeyEntry, KeyFileError, MAX_KEY_FILE_BYTES, parseKeyList } from './key-list.ts'

export interface KeyFileOptions {
  /** Milliseconds between two checks of the file, at least 1. Default: 1000. */
  readonly interval?: number | undefined
  /** The plans that there are. A file with a key of another plan is refused. Default: any. */
  readonly plans?: readonly string[] | undefined
  /** Is called once for each state of the file that cannot be used. The previous keys stay valid. */
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
  /** How many keys the file has, expired ones included. */
  readonly size: number
  /** Stops following the file. The keys stay as they are. */
  readonly close: () => void
}

const DEFAULT_INTERVAL_MS = 1000
const MAX_INTERVAL_MS = 2 ** 31 - 1
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
  let timer: NodeJS.Timeout | undefined
  let isClosed = false

  /** @throws KeyFileError, and then keeps the keys as they are */
  const read = async (): Promise<void> => {
    const entries = await readKeyFile(file)
    const strange = entries.find(({ plan }) => plans !== undefined && !plans.includes(plan))
    if (strange !== undefined) {
      throw new KeyFileError(
        `${file}: the key ${strange.id} has the plan ${strange.plan}, which is not defined`,
      )
    }
    byDigest = new Map(entries.map((entry) => [entry.digest, entry]))
  }

  /** The state of the file when it was last read, whether it could be used or not. */
  let seen = await fileState(file)
  await read()

  const poll = async (): Promise<void> => {
    const state = await fileState(file)
    if (state !== seen && !isClosed) {
      seen = state
      try {
        await read()
        onReload?.(byDigest.size)
      } catch (error) {
        if (!(error instanceof KeyFileError)) throw error
        onError?.(error)
      }
    }
    schedule()
  }
  const schedule = (): void => {
    if (!isClosed) timer = setTimeout(() => void poll(), interval).unref()
  }
  schedule()

  return {
    // The time that this takes reveals nothing about keys: it compares digests, and nobody can choose a text by its
    // digest.
    authenticate: (key) => {
      if (!isWellFormedKey(key)) return null
      const entry = byDigest.get(digestOf(key))
      if (entry === undefined || !isValidAt(entry, Date.now())) return null
      return { plan: entry.plan, id: entry.id }
    },
    get size() {
      return byDigest.size
    },
    close: () => {
      isClosed = true
      clearTimeout(timer)
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
