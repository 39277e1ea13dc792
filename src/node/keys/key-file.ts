import { timingSafeEqual } from 'node:crypto'
import { readFile, stat } from 'node:fs/promises'
import { resolve } from 'node:path'
import { messageOf } from '../../realm.ts'
import { type FileState, fileState } from '../node-source.ts'
import { digestOf, isWellFormedKey } from './key.ts'
import { isValidAt, type KeyEntry, KeyFileError, MAX_KEY_FILE_BYTES, parseKeyList } from './key-list.ts'

export interface KeyFileOptions {
  /** Milliseconds between two checks of the file, at least 1. Default: 1000. */
  readonly interval?: number | undefined
  /** The plans that there are. A file with a key of another plan is refused. Default: any. */
  readonly plans?: readonly string[] | undefined
  /** Is called once for each state of the file that cannot be used. The previous keys stay valid. */
  readonly onError?: ((error: KeyFileError) => void) | undefined
  /** Is called when the file was read again, with the number of its keys. */
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
  const file = new FollowedKeys(resolve(path), interval, options)
  await file.open()
  return {
    authenticate: (key) => file.owner(key),
    get size() {
      return file.size
    },
    close: () => file.close(),
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
    // Who can write the file can make keys. Windows has no such bits.
    if (process.platform !== 'win32' && (mode & WRITABLE_BY_OTHERS) !== 0) {
      throw new KeyFileError(`other users can write it: run chmod 600 ${path}`)
    }
    if (size > MAX_KEY_FILE_BYTES) throw new KeyFileError(`it has more than ${MAX_KEY_FILE_BYTES} bytes`)
    return parseKeyList(await readFile(path, 'utf8'))
  } catch (error) {
    throw new KeyFileError(`${path}: ${messageOf(error)}`, { cause: error })
  }
}

class FollowedKeys {
  readonly #path: string
  readonly #intervalMs: number
  readonly #options: KeyFileOptions
  /** By the digest as Latin-1 text, which is the fastest to make. */
  #byDigest: ReadonlyMap<string, { readonly entry: KeyEntry; readonly digest: Buffer }> = new Map()
  /** The state of the file when it was last read, whether it could be used or not. */
  #seen: FileState = ''
  #timer: NodeJS.Timeout | undefined
  #isClosed = false

  constructor(path: string, intervalMs: number, options: KeyFileOptions) {
    this.#path = path
    this.#intervalMs = intervalMs
    this.#options = options
  }

  get size(): number {
    return this.#byDigest.size
  }

  async open(): Promise<void> {
    this.#seen = await fileState(this.#path)
    await this.#read()
    this.#schedule()
  }

  close(): void {
    this.#isClosed = true
    clearTimeout(this.#timer)
  }

  /**
   * The time that this takes reveals nothing about keys: it compares digests, and nobody can choose a text by its
   * digest.
   */
  owner(key: string): { readonly plan: string; readonly id: string } | null {
    if (!isWellFormedKey(key)) return null
    const digest = digestOf(key)
    const known = this.#byDigest.get(digest.toString('latin1'))
    if (known === undefined || !timingSafeEqual(known.digest, digest)) return null
    const { entry } = known
    return isValidAt(entry, Date.now()) ? { plan: entry.plan, id: entry.id } : null
  }

  /** @throws KeyFileError, and then keeps the keys as they are */
  async #read(): Promise<void> {
    const entries = await readKeyFile(this.#path)
    const { plans } = this.#options
    const strange = entries.find(({ plan }) => plans !== undefined && !plans.includes(plan))
    if (strange !== undefined) {
      throw new KeyFileError(
        `${this.#path}: the key ${strange.id} has the plan ${strange.plan}, which is not defined`,
      )
    }
    this.#byDigest = new Map(
      entries.map((entry) => {
        const digest = Buffer.from(entry.digest, 'hex')
        return [digest.toString('latin1'), { entry, digest }]
      }),
    )
  }

  #schedule(): void {
    if (!this.#isClosed) this.#timer = setTimeout(() => void this.#poll(), this.#intervalMs).unref()
  }

  async #poll(): Promise<void> {
    const state = await fileState(this.#path)
    if (state !== this.#seen && !this.#isClosed) {
      this.#seen = state
      try {
        await this.#read()
        this.#options.onReload?.(this.#byDigest.size)
      } catch (error) {
        if (!(error instanceof KeyFileError)) throw error
        this.#options.onError?.(error)
      }
    }
    this.#schedule()
  }
}
