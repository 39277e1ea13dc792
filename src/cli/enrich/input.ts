import { constants, fstatSync, type Stats } from 'node:fs'
import { access, open, stat } from 'node:fs/promises'
import { pipeline, Readable } from 'node:stream'
import { CommandFailure, type Terminal } from '../terminal.ts'
import { type Compression, decompressor, MAGIC_BYTES, recogniseCompression } from './compression.ts'
import { codeOf, directoryError, unreadable } from './system-error.ts'
import { ZstdFrames } from './zstd-frames.ts'

/** What is read from a file at a time. Bytes. */
const CHUNK = 1024 * 1024

const LINE_FEED = 0x0a

/** An input that is open. */
interface Opened {
  readonly stream: Readable
  /** What it is now; `null` where that says nothing of how much there is to read. */
  readonly facts: (() => Facts | Promise<Facts>) | null
  readonly close: () => void | Promise<void>
}

/** A file or standard input. A file is opened when it is read: a run may have more of them than can be open. */
export class Input {
  /** For messages. */
  readonly name: string
  /** Bytes as they are stored, compressed or not; `null` where that is not known: a pipe, a device. */
  readonly size: number | null
  /** Device and file number, by which a file is known under all its names; `null` for others. */
  readonly identity: string | null
  /** Whether it is a file, whose bytes are all there: nothing else can pause. */
  readonly isFile: boolean
  #bytesRead = 0
  readonly #open: () => Promise<Opened>
  #source: Readable | null = null
  #isClosed = false

  private constructor(name: string, open: () => Promise<Opened>, facts: Facts | null) {
    this.name = name
    this.#open = open
    this.isFile = facts?.isFile() ?? false
    this.size = facts?.isFile() ? facts.size : null
    this.identity = facts?.isFile() ? identityOf(facts) : null
  }

  /**
   * Looks at an input without reading it.
   *
   * @param path `-` is standard input
   * @throws CommandFailure when it is not there, may not be read, or is a directory
   */
  static async find(path: string, terminal: Terminal): Promise<Input> {
    if (path === '-') {
      const { stdin } = terminal
      const facts = stdin.fd === undefined ? null : fstatSync(stdin.fd)
      // Node gives an empty stream for it.
      if (facts?.isDirectory()) throw unreadable('standard input', directoryError())
      const { fd } = stdin
      const factsNow = fd === undefined ? null : () => fstatSync(fd)
      return new Input('standard input', async () => ({ ...streamed(stdin), facts: factsNow }), facts)
    }
    try {
      const facts = await stat(path)
      if (facts.isDirectory()) throw directoryError()
      await access(path, constants.R_OK)
      return new Input(path, () => openPath(path, facts), facts)
    } catch (cause) {
      throw unreadable(path, cause)
    }
  }

  /** Bytes read so far, as they are stored. */
  get bytesRead(): number {
    return this.#bytesRead
  }

  /**
   * The content, decompressed. To be called once.
   *
   * @throws CommandFailure when it cannot be read further, or is damaged
   */
  async *chunks(): AsyncGenerator<Uint8Array, void, undefined> {
    const raw = this.#raw()
    const first: Uint8Array[] = []
    let held = 0
    // No mark has a line feed, and a short line of a live input is not to wait for the next one.
    for (let hasLine = false; held < MAGIC_BYTES && !hasLine; ) {
      const { value, done } = await raw.next()
      if (done) break
      first.push(value)
      held += value.length
      hasLine = value.includes(LINE_FEED)
    }
    const compression = recogniseCompression(Buffer.concat(first).subarray(0, MAGIC_BYTES))
    if (compression === null) {
      yield* first
      yield* raw
      return
    }
    const plain = decompressor(compression, this.name)
    const stored = joined(first, raw)
    const checked = compression === 'zstd' ? wholeFrames(stored, this.name) : stored
    // Without a callback an error would end the process; the loop below meets it again.
    pipeline(Readable.from(checked, { objectMode: false }), plain, () => {})
    try {
      for await (const chunk of plain) yield bytesOf(chunk)
    } catch (cause) {
      if (cause instanceof CommandFailure) throw cause
      throw unreadableData(this.name, compression, codeOf(cause) === 'Z_BUF_ERROR', cause)
    }
  }

  /** Stops reading. */
  close(): void {
    this.#isClosed = true
    this.#source?.destroy()
  }

  async *#raw(): AsyncGenerator<Uint8Array, void, undefined> {
    try {
      const opened = await this.#open()
      this.#source = opened.stream
      if (this.#isClosed) this.#source.destroy()
      try {
        yield* this.#stored(opened)
      } finally {
        await opened.close()
      }
    } catch (cause) {
      throw unreadable(this.name, cause)
    }
  }

  /** @throws Error when it is a file that has lost bytes, as logs do that are emptied to begin anew */
  async *#stored({ stream, facts }: Opened): AsyncGenerator<Uint8Array, void, undefined> {
    const before = facts === null ? null : await facts()
    for await (const chunk of stream) {
      const bytes = bytesOf(chunk)
      this.#bytesRead += bytes.length
      yield bytes
    }
    if (facts === null || !before?.isFile()) return
    // It may have shrunk before it was opened, or be another one by now.
    const found = identityOf(before) === this.identity ? (this.size ?? 0) : 0
    const { size } = await facts()
    if (size < Math.max(found, before.size, this.#bytesRead)) {
      throw new Error('it became shorter while it was read, and lines may be missing')
    }
  }
}

/** Opens what has a name. What can keep its reader waiting is read by the event loop, see `polled-file.ts`. */
async function openPath(path: string, found: Stats): Promise<Opened> {
  if (found.isFIFO() || found.isCharacterDevice()) {
    const { openPipeToRead, openTerminal } = await import('./polled-file.ts')
    const stream = found.isFIFO() ? await openPipeToRead(path) : openTerminal(path)
    if (stream !== null) return streamed(stream)
  }
  const handle = await open(path)
  return {
    stream: handle.createReadStream({ highWaterMark: CHUNK, autoClose: false }),
    facts: () => handle.stat(),
    close: () => handle.close(),
  }
}

/** What closes itself. */
function streamed(stream: Readable): Opened {
  return { stream, facts: null, close: () => {} }
}

/** Bytes of all of them, as they are stored; `null` when that is not known of one. */
export function sizeOf(inputs: readonly Input[]): number | null {
  let sum = 0
  for (const { size } of inputs) {
    if (size === null) return null
    sum += size
  }
  return sum
}

/** What is asked of a file's status. */
interface Facts {
  readonly size: number
  readonly dev: number
  readonly ino: number
  isFile(): boolean
}

/** The same for two names of one file. */
export function identityOf({ dev, ino }: { readonly dev: number; readonly ino: number }): string {
  return `${dev}:${ino}`
}

async function* joined(first: Iterable<Uint8Array>, rest: AsyncIterable<Uint8Array>) {
  yield* first
  yield* rest
}

/** Passes Zstandard data on, and sees whether it is whole. */
async function* wholeFrames(stored: AsyncIterable<Uint8Array>, name: string) {
  const frames = new ZstdFrames()
  for await (const bytes of stored) {
    if (!frames.push(bytes)) throw unreadableData(name, 'zstd', false)
    yield bytes
  }
  if (!frames.isWhole) throw unreadableData(name, 'zstd', true)
}

function unreadableData(
  name: string,
  compression: Compression,
  isShort: boolean,
  cause?: unknown,
): CommandFailure {
  const fault = `its ${compression} data is ${isShort ? 'cut short' : 'damaged'}`
  return unreadable(name, new Error(fault, { cause }))
}

/** A stream that somebody made may give texts. */
function bytesOf(chunk: unknown): Uint8Array {
  if (chunk instanceof Uint8Array) return chunk
  return Buffer.from(String(chunk))
}
