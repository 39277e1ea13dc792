// Descriptors that the program that started this one left open or closed, and the paths that lead to them.
import {
  fstatSync,
  promises,
  readdirSync,
  readFileSync,
  readlinkSync,
  readSync,
  type Stats,
  statSync,
  writeSync,
} from 'node:fs'
import { dirname, isAbsolute, resolve } from 'node:path'
import { codeOf } from '../../node/file-state.ts'
import { directoryError, ExitStatus, type Terminal, unreadableInput } from '../terminal.ts'

/** Descriptors up to this are the standard ones. */
export const STANDARD_ERROR = 2
const NULL_DEVICE = '/dev/null'

/**
 * The status of a descriptor. `null` when Windows does not tell it, as for a handle that may be read or written and nothing
 * else. Reading or writing then says whether it is open.
 *
 * @throws Error with the code `EBADF` if it is not open, on other systems
 */
export function descriptorStatus(fd: number): Stats | null {
  try {
    return fstatSync(fd)
  } catch (error) {
    if (process.platform === 'win32') return null
    throw error
  }
}

/**
 * Whether the program that started this process gave it no such descriptor.
 *
 * At its start, Node opens `/dev/null` for reading and writing as each standard descriptor that is closed. Shells open it
 * for one of them (`> /dev/null`). A program that opens it for both, as Python's `subprocess.DEVNULL`, looks as if it had
 * closed the descriptor. Other descriptors can be Node's own: to write to one of these makes Node crash.
 */
function isClosed(fd: number): boolean {
  // Node opens nothing for a standard descriptor that is closed there.
  if (process.platform === 'win32' && fd <= STANDARD_ERROR) return false
  try {
    return fd <= STANDARD_ERROR ? isNullForBoth(fd) : isOwn(fd)
  } catch (error) {
    return codeOf(error) === 'EBADF'
  }
}

/** @throws Error with the code `EBADF` if it is not open */
function isNullForBoth(fd: number): boolean {
  const status = fstatSync(fd)
  if (!status.isCharacterDevice() || status.rdev !== statSync(NULL_DEVICE).rdev) return false
  const bytes = new Uint8Array(1)
  try {
    // Neither has an effect on this device, except to fail if the descriptor is not open for it.
    readSync(fd, bytes)
    writeSync(fd, bytes)
    return true
  } catch {
    return false
  }
}

/** Whether it is Node's own: for events, or a pipe with both ends in this process. Linux. */
function isOwn(fd: number): boolean {
  fstatSync(fd)
  if (process.platform !== 'linux') return false
  const target = targetOf(fd)
  if (target.startsWith('anon_inode:')) return true
  if (!target.startsWith('pipe:')) return false
  return readdirSync(FOLDER).some((other) => targetOf(other) === target && accessOf(other) !== accessOf(fd))
}

const FOLDER = '/proc/self/fd'

/** What a descriptor leads to; '' if it is closed, as the one that lists the folder is. */
function targetOf(fd: number | string): string {
  try {
    return readlinkSync(`${FOLDER}/${fd}`)
  } catch {
    return ''
  }
}

/** Whether a descriptor is for reading (0), writing (1) or both (2). */
function accessOf(fd: number | string): number {
  const flags = /^flags:\s*([0-7]+)$/m.exec(readFileSync(`/proc/self/fdinfo/${fd}`, 'utf8'))?.[1] ?? '0'
  return Number.parseInt(flags, 8) & 3
}

/**
 * @param remedy what to do if a standard descriptor is closed
 * @throws Error when the program that started this process gave it no such descriptor
 */
export function checkOpen(fd: number, remedy: string): void {
  if (!isClosed(fd)) return
  if (fd > STANDARD_ERROR) throw Object.assign(new Error('it is not open'), { code: 'EBADF' })
  throw new Error(
    `it is closed, or ${NULL_DEVICE} that is open for reading and writing, which looks the same: ${remedy}`,
  )
}

/**
 * Checks that standard input can be read.
 *
 * @param remedy what to do if it is closed; `null` if that does not matter
 * @returns its status; `null` for a stream without a descriptor
 * @throws Error when it is closed, or a directory
 */
export function checkInput({ fd }: Terminal['stdin'], remedy: string | null): Stats | null {
  if (fd === undefined) return null
  if (remedy !== null && fd <= STANDARD_ERROR) checkOpen(fd, remedy)
  const status = descriptorStatus(fd)
  // Node reads a directory as an empty stream.
  if (status?.isDirectory()) throw directoryError()
  return status
}

/**
 * The chunks of standard input.
 *
 * @param remedy see {@link checkInput}
 * @throws CommandFailure when it cannot be read
 */
export async function* standardInput(
  { stdin }: Terminal,
  remedy: string | null,
  status: ExitStatus = ExitStatus.input,
): AsyncGenerator<unknown> {
  try {
    checkInput(stdin, remedy)
    for await (const chunk of stdin) yield chunk
  } catch (cause) {
    throw unreadableInput('standard input', cause, status)
  }
}

/** A chunk of a stream. One that the caller supplied can have strings. */
export function bytesOf(chunk: unknown): Uint8Array {
  return chunk instanceof Uint8Array ? chunk : Buffer.from(String(chunk))
}

/** The most symbolic links that are followed, as in Linux. */
const MAX_LINKS = 40

const STANDARD_DESCRIPTORS: Readonly<Record<string, number>> = {
  '/dev/stdin': 0,
  '/dev/stdout': 1,
  '/dev/stderr': 2,
}

/** Paths of the process's open descriptors. */
const DESCRIPTOR_PATH = new RegExp(`^(?:/dev/fd|/proc/(?:self|thread-self|${process.pid})/fd)/(\\d{1,9})$`)

/**
 * Resolves the symbolic links of a path, which need not exist yet. Stops at the path of a descriptor: it links to
 * the descriptor's file, which must not be replaced while other processes write to it.
 *
 * @returns the descriptor's number, or a path that is not a link
 * @throws Error with the code `ELOOP` when the links form a cycle
 */
export async function resolveLinks(name: string): Promise<number | string> {
  let path = name
  for (let links = 0; links <= MAX_LINKS; links++) {
    const absolute = resolve(path)
    const descriptor = STANDARD_DESCRIPTORS[absolute] ?? DESCRIPTOR_PATH.exec(absolute)?.[1]
    if (descriptor !== undefined) return Number(descriptor)
    // `null` for a path that is not a link, or cannot be read.
    const link = await promises.readlink(path).catch(() => null)
    if (link === null) return path
    // A relative link starts at the real folder of the link.
    path = isAbsolute(link) ? link : `${await promises.realpath(dirname(path))}/${link}`
  }
  throw Object.assign(new Error('the symbolic links form a cycle'), { code: 'ELOOP' })
}
