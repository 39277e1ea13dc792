import { constants, createReadStream, readSync, type Stats } from 'node:fs'
import { access, open, stat } from 'node:fs/promises'
import type { Readable } from 'node:stream'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { LINE_FEED } from '../../enrich/ascii.ts'
import type { Plan } from '../../enrich/formats/formats.ts'
import type { RunInput } from '../../enrich/run.ts'
import { codeOf } from '../../node/file-state.ts'
import { CommandFailure, directoryError, type Terminal, unreadableInput } from '../terminal.ts'
import { bytesOf, checkInput, checkOpen, descriptorStatus, resolveLinks } from './descriptors.ts'
import {
  type ByteChunks,
  type Compression,
  decompressor,
  MAGIC_BYTES,
  PARQUET_MAGIC,
  recogniseCompression,
  zstdFrames,
} from './file-forms.ts'
import type { ParquetFile } from './parquet/parquet-file.ts'

/** The size of one read from a file. What is read stays in the cache of the processor. Bytes. */
const CHUNK_BYTES = 512 * 1024
/** How long reading a file may hold up other work, such as signals. */
const MAX_HOLD_MS = 10

const CLOSED_REMEDY = 'name a file, or pipe lines into it'

/** An open input. */
interface OpenInput {
  /** Each chunk is valid until the next one is asked for. */
  readonly chunks: AsyncIterable<unknown>
  /** Reads on without waiting, between two chunks; see `ChunkSource`. `null` if it cannot. */
  readonly fill: ((memory: Uint8Array) => number) | null
  /** Stops reading. */
  readonly stop: () => void
  /** Reads the current status. `null` for paths of pipes and terminals, and for streams without a descriptor. */
  readonly status: (() => Stats | null | Promise<Stats>) | null
  readonly close: () => void | Promise<void>
}

/** A file or standard input. Opened when it is read: a run can have more files than the process may open. */
export class Input implements RunInput {
  /** Bytes on disk, compressed or not. `null` when unknown: a pipe or a device. */
  readonly size: number | null
  /** Device and inode, equal for all names of one file. `null` for pipes and devices. */
  readonly identity: string | null
  readonly isLive: boolean
  /** When the file was last written, in milliseconds since 1970. `undefined` for pipes and devices. */
  readonly writtenAt: number | undefined
  /** Reads a Parquet file as lines: first without a plan, and once it is planned, from its start. Default: all columns, once. */
  readRows: ((file: ParquetFile, plan: Plan | null) => AsyncGenerator<Uint8Array>) | null = null
  /** Bytes read so far, before decompression. */
  bytesRead = 0
  #chunks = this.#content()
  #hasRows = false
  #stop: (() => void) | null = null
  #isClosed = false
  #fill: OpenInput['fill'] = null
  /** Whether the next chunk can be read straight from the input: it is not compressed, and no byte was read ahead to find that out. */
  #isDirect = false

  private constructor(
    readonly name: string,
    private readonly open: () => Promise<OpenInput>,
    status: Stats | null,
    /** Whether it is standard input, which has no path. */
    private readonly isStream = false,
  ) {
    const file = status?.isFile() ? status : null
    this.isLive = file === null
    this.size = file?.size ?? null
    this.writtenAt = file?.mtimeMs
    this.identity = file && identityOf(file)
  }

  /**
   * Checks an input without reading it.
   *
   * @param path `-` is standard input
   * @throws CommandFailure when it does not exist, is not readable, or is a directory
   */
  static async find(path: string, terminal: Terminal): Promise<Input> {
    const name = path === '-' ? 'standard input' : path
    try {
      if (path === '-') {
        const { stdin } = terminal
        const found = checkInput(stdin, CLOSED_REMEDY)
        const { fd } = stdin
        const status = fd === undefined ? null : () => descriptorStatus(fd)
        return new Input(name, async () => ({ ...fromStream(stdin), status }), found, true)
      }
      const target = await resolveLinks(path)
      if (typeof target === 'number') checkOpen(target, CLOSED_REMEDY)
      const found = await stat(path)
      if (found.isDirectory()) throw directoryError()
      await access(path, constants.R_OK)
      return new Input(name, () => openPath(path, found), found)
    } catch (cause) {
      throw unreadableInput(name, cause)
    }
  }

  /**
   * @returns a chunk of the decompressed content, or `null` at the end
   * @throws CommandFailure when reading fails, or the compressed data is damaged
   */
  async read(): Promise<Uint8Array | null> {
    return (await this.#chunks.next()).value ?? null
  }

  fill(memory: Uint8Array): number {
    if (!this.#isDirect || this.#fill === null) return 0
    try {
      const size = this.#fill(memory)
      this.bytesRead += size
      return size
    } catch (cause) {
      throw unreadableInput(this.name, cause)
    }
  }

  async restart(plan: Plan): Promise<boolean> {
    if (!this.#hasRows || this.readRows === null) return false
    await this.#chunks.return()
    this.#chunks = this.#rows(plan)
    return true
  }

  async *#content(): AsyncGenerator<Uint8Array, void, undefined> {
    const raw = this.#raw()
    const first: Uint8Array[] = []
    let held = 0
    // Stop at a line feed: no magic number has one, and a short line of a live input must not wait for more.
    for (let hasLine = false; held < MAGIC_BYTES && !hasLine; ) {
      const { value, done } = await raw.next()
      if (done) break
      first.push(new Uint8Array(value))
      held += value.length
      hasLine = value.includes(LINE_FEED)
    }
    const head = Buffer.concat(first).subarray(0, MAGIC_BYTES)
    if (head.equals(PARQUET_MAGIC)) {
      await raw.return()
      this.#hasRows = true
      yield* this.#rows(null)
      return
    }
    const compression = recogniseCompression(head)
    if (compression === null) {
      yield* first
      this.#isDirect = true
      yield* raw
      return
    }
    yield* this.#decompressed(compression, joined(first, raw))
  }

  async *#decompressed(
    compression: Compression,
    stored: ByteChunks,
  ): AsyncGenerator<Uint8Array, void, undefined> {
    const plain = decompressor(compression, this.name)
    const failure = (isTruncated: boolean, cause?: unknown): CommandFailure => {
      const reason = `its ${compression} data is ${isTruncated ? 'truncated' : 'damaged'}`
      return unreadableInput(this.name, new Error(reason, { cause }))
    }
    const source = compression === 'zstd' ? zstdFrames(stored, failure) : stored
    let given = 0
    /** Gives it one chunk at a time, which stays as it is until it is taken. */
    const feed = async (): Promise<void> => {
      for (let next = await source.next(); next.value !== undefined; next = await source.next()) {
        let rest = next.value
        if (given === plain.bytesWritten) {
          given += rest.length
          await new Promise<void>((resolve, reject) => {
            plain.write(rest, (error) => (error ? reject(error) : resolve()))
          })
          rest = rest.subarray(rest.length - (given - plain.bytesWritten))
        }
        // zlib ends at a zero byte after a member. Such bytes can fill a file up, but nothing else may follow them.
        if (rest.some((byte) => byte !== 0)) throw failure(false)
      }
      plain.end()
    }
    // Without a listener, an error would end the process. The loop below throws it again.
    plain.on('error', () => {})
    const fed = feed()
    fed.catch((error) => plain.destroy(error))
    try {
      for await (const chunk of plain.iterator({ destroyOnReturn: false })) yield bytesOf(chunk)
      await fed
    } catch (cause) {
      if (cause instanceof CommandFailure) throw cause
      throw failure(codeOf(cause) === 'Z_BUF_ERROR', cause)
    } finally {
      plain.destroy()
      void source.return(undefined).catch(() => {})
    }
  }

  /** Whether it is a Parquet file, which is read by position. @throws CommandFailure when it cannot be read */
  async isParquet(): Promise<boolean> {
    if (this.size === null || this.isStream) return false
    try {
      const file = await open(this.name)
      const { buffer } = await file.read({ buffer: Buffer.alloc(MAGIC_BYTES) }).finally(() => file.close())
      return buffer.equals(PARQUET_MAGIC)
    } catch (cause) {
      throw unreadableInput(this.name, cause)
    }
  }

  /** The rows of a Parquet file as lines. */
  async *#rows(plan: Plan | null): AsyncGenerator<Uint8Array, void, undefined> {
    if (this.size === null || this.isStream)
      throw unreadableInput(this.name, new Error('Parquet is read by position: name the file'))
    const { ParquetFile } = await import('./parquet/parquet-file.ts')
    const file = await ParquetFile.open(this.name)
    try {
      yield* this.readRows?.(file, plan) ?? file.lines()
      this.bytesRead = this.size
    } finally {
      await file.close()
    }
  }

  /** Stops reading. */
  close(): void {
    this.#isClosed = true
    this.#stop?.()
  }

  /** @throws CommandFailure when it cannot be read, or became shorter, as a log does when logrotate truncates it */
  async *#raw(): AsyncGenerator<Uint8Array, void, undefined> {
    try {
      const { chunks, fill, stop, status, close } = await this.open()
      this.#stop = stop
      this.#fill = fill
      if (this.#isClosed) stop()
      try {
        const before = status === null ? null : await status()
        for await (const chunk of chunks) {
          const bytes = bytesOf(chunk)
          this.bytesRead += bytes.length
          yield bytes
        }
        if (status === null || !before?.isFile()) return
        // The file can have been truncated, or replaced, between find() and opening it.
        const sizeFound = identityOf(before) === this.identity ? (this.size ?? 0) : 0
        const size = (await status())?.size ?? 0
        if (size < Math.max(sizeFound, before.size, this.bytesRead))
          throw new Error('the file was truncated while it was read; lines may be missing')
      } finally {
        this.#fill = null
        await close()
      }
    } catch (cause) {
      throw unreadableInput(this.name, cause)
    }
  }
}

/**
 * Opens a path. Pipes and terminals are read on the event loop, see `pipe-stream.ts`. A file is read on this thread: no other thread
 * has to hand its bytes over, and the system reads ahead from the disk.
 */
async function openPath(path: string, found: Stats): Promise<OpenInput> {
  if (found.isFIFO() || found.isCharacterDevice()) {
    const { openPipeToRead, openTerminal } = await import('./pipe-stream.ts')
    const stream = found.isFIFO() ? await openPipeToRead(path) : openTerminal(path)
    if (stream !== null) return fromStream(stream)
  }
  if (!found.isFile()) return fromStream(createReadStream(path, { highWaterMark: CHUNK_BYTES }))
  const handle = await open(path)
  const read = (memory: Uint8Array): number => readSync(handle.fd, memory, 0, memory.length, null)
  let isStopped = false
  /** The time from which nothing else could run. */
  let since = performance.now()
  const mustWait = (): boolean => performance.now() - since > MAX_HOLD_MS
  async function* chunks(): AsyncGenerator<Uint8Array> {
    const buffer = new Uint8Array(CHUNK_BYTES)
    for (;;) {
      if (mustWait()) {
        await nextTurn()
        since = performance.now()
      }
      const size = isStopped ? 0 : read(buffer)
      if (size === 0) return
      yield buffer.subarray(0, size)
    }
  }
  return {
    chunks: chunks(),
    // The next chunk lets other work run.
    fill: (memory) => (isStopped || mustWait() ? 0 : read(memory)),
    stop: () => {
      isStopped = true
      // Close it here: if no further chunk is asked for, nothing else does.
      handle.close().catch(() => {})
    },
    status: () => handle.stat(),
    close: () => handle.close(),
  }
}

/** An input of a stream that closes itself, without a status. */
function fromStream(stream: Readable): OpenInput {
  return { chunks: stream, fill: null, stop: () => stream.destroy(), status: null, close: () => {} }
}

/** Device and inode, equal for all names of one file. */
export function identityOf({ dev, ino }: { readonly dev: number; readonly ino: number }): string {
  return `${dev}:${ino}`
}

async function* joined(first: Iterable<Uint8Array>, rest: AsyncIterable<Uint8Array>): ByteChunks {
  yield* first
  yield* rest
}
