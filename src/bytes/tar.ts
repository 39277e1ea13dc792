import { InvalidDatabaseError } from '../errors.ts'

const BLOCK = 512
const MAGIC_OFFSET = 257
const REGULAR_FILE = new Set(['0', '\0', '7'])

/** Entries that say something about the file behind them: pax's `x` and `g`, GNU's `L` (its name) and `K`. */
const ABOUT_NEXT = new Set(['x', 'g', 'L', 'K'])

/** Where systems end paths. Bytes. */
const MAX_NAME = 4096

/** How much a message quotes: names, and characters of each. */
const MAX_NAMED = 3
const MAX_QUOTED = 80

const latin1 = (bytes: Uint8Array): string => String.fromCharCode(...bytes)

/**
 * Whether the bytes start with a tar header: POSIX.1-1988 ustar, and pax and GNU tar which build on it, by its magic
 * bytes; that of Unix version 7, which has none, by its checksum.
 */
export function isTar(bytes: Uint8Array): boolean {
  if (bytes.length < BLOCK) return false
  const magic = latin1(bytes.subarray(MAGIC_OFFSET, MAGIC_OFFSET + 5))
  return magic === 'ustar' || hasValidChecksum(bytes)
}

/**
 * Finds the one file ending in `.mmdb` in a tar archive, as vendors pack their databases.
 *
 * @returns a view of the archive's bytes, without a copy
 * @throws InvalidDatabaseError when the archive is damaged, or holds no `.mmdb` file or several
 */
export function findDatabaseInTar(bytes: Uint8Array, path?: string): Uint8Array {
  const found: { name: string; content: Uint8Array }[] = []
  /** Of the next file, where its header has no room for it. */
  let longName: string | undefined
  for (let offset = 0; offset + BLOCK <= bytes.length && found.length <= MAX_NAMED; ) {
    const header = bytes.subarray(offset, offset + BLOCK)
    if (header[0] === 0 && header.every((byte) => byte === 0)) break
    if (!hasValidChecksum(header)) throw damaged('a header does not match its checksum', offset, path)
    const size = octal(header, 124, 12)
    const start = offset + BLOCK
    if (!(size <= bytes.length - start)) throw damaged('a file in it is cut short', offset, path)
    const content = bytes.subarray(start, start + size)
    const type = latin1(header.subarray(156, 157))
    if (type === 'L') longName = text(content, 0, MAX_NAME)
    if (type === 'x') longName = paxPath(content) ?? longName
    if (!ABOUT_NEXT.has(type)) {
      const name = longName ?? text(header, 0, 100)
      longName = undefined
      // macOS puts a "._name" file with attributes beside each file.
      if (REGULAR_FILE.has(type) && /(^|\/)(?!\._)[^/]*\.mmdb$/i.test(name)) found.push({ name, content })
    }
    offset = start + Math.ceil(size / BLOCK) * BLOCK
  }
  const [only, second] = found
  if (only === undefined) throw new InvalidDatabaseError('the archive holds no .mmdb file', { path })
  if (second !== undefined) {
    const names = found.slice(0, MAX_NAMED).map(({ name }) => quotedEnd(name))
    if (found.length > MAX_NAMED) names.push('...')
    throw new InvalidDatabaseError(`the archive holds several databases, extract one: ${names.join(', ')}`, {
      path,
    })
  }
  return only.content
}

/** The end of a path for a message, in printable ASCII, so that no name can hide or forge lines. */
function quotedEnd(name: string): string {
  return JSON.stringify(name.slice(-MAX_QUOTED)).replace(/[^\x20-\x7e]/g, '?')
}

function damaged(fault: string, offset: number, path?: string): InvalidDatabaseError {
  return new InvalidDatabaseError(`${fault}; the tar archive is damaged: get it again`, { offset, path })
}

function text(header: Uint8Array, start: number, length: number): string {
  const field = latin1(header.subarray(start, start + length))
  const end = field.indexOf('\0')
  return end < 0 ? field : field.slice(0, end)
}

/** The name in a pax extended header: lines of a length, a space, `path=` and the value. */
function paxPath(content: Uint8Array): string | undefined {
  return /^\d+ path=(.+)$/m.exec(text(content, 0, MAX_NAME))?.[1]
}

/** A number in octal digits; NaN for anything else, such as GNU's base-256 for files over 8 GB. */
function octal(header: Uint8Array, start: number, length: number): number {
  const digits = text(header, start, length).trim()
  return /^[0-7]+$/.test(digits) ? Number.parseInt(digits, 8) : Number.NaN
}

/** The sum of the header's bytes, its own eight counted as spaces. */
function hasValidChecksum(header: Uint8Array): boolean {
  let sum = 8 * 0x20
  // By index: an archive can be of millions of headers.
  for (let index = 0; index < BLOCK; index++) if (index < 148 || index >= 156) sum += header[index] ?? 0
  return sum === octal(header, 148, 8)
}
