// The file with the key of `--pseudonym`.
import { linkSync, lstatSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { CommandFailure, codeOf, ExitStatus, UsageError, unreadableInput, unwritable } from '../terminal.ts'
import { forgetTemporary, temporaryPath } from './atomic-file.ts'
import type { EnrichFlags } from './flags.ts'

/** A key: 256 bits as hexadecimal digits, as `openssl rand -hex 32` writes them. */
const KEY = /^[0-9a-f]{64}$/i
const KEY_BYTES = 32

/**
 * The key of `--pseudonym`. Reads it, or makes the file with a new one that only its owner can read.
 *
 * @throws UsageError when a file is to be made that exists, or is missing
 * @throws CommandFailure when the file cannot be read or written, or has no key
 */
export function keyOf({
  pseudonymKey: file,
  newKey = false,
}: Pick<EnrichFlags, 'pseudonymKey' | 'newKey'>): Uint8Array | undefined {
  if (file === undefined) return undefined
  return newKey ? madeKey(file) : keyIn(file)
}

function madeKey(file: string): Uint8Array {
  const key = crypto.getRandomValues(new Uint8Array(KEY_BYTES))
  // A full disk or a signal must leave no file without its key.
  const temporary = temporaryPath(file)
  try {
    writeFileSync(temporary, `${Buffer.from(key).toString('hex')}\n`, {
      flag: 'wx',
      mode: 0o600,
      flush: true,
    })
    giveName(temporary, file)
  } catch (cause) {
    if (codeOf(cause) === 'EEXIST')
      throw new UsageError(`${file} exists already: leave out --new-key to use the key in it.`)
    throw unwritable(file, cause)
  } finally {
    rmSync(temporary, { force: true })
    forgetTemporary(temporary)
  }
  return key
}

/** Never replaces a file or a link: a lost key cannot be made again. @throws Error with the code `EEXIST` */
function giveName(temporary: string, file: string): void {
  try {
    linkSync(temporary, file)
  } catch (cause) {
    if (codeOf(cause) === 'EEXIST') throw cause
    // The file system has no links, such as FAT.
    if (lstatSync(file, { throwIfNoEntry: false }) !== undefined)
      throw Object.assign(new Error('it exists'), { code: 'EEXIST' })
    renameSync(temporary, file)
  }
}

function keyIn(file: string): Uint8Array {
  let text: string
  try {
    text = readFileSync(file, 'latin1').trim()
  } catch (cause) {
    if (codeOf(cause) === 'ENOENT')
      throw new UsageError(
        `The file of --pseudonym, ${file}, does not exist: add --new-key to make it, with a new key.`,
      )
    throw unreadableInput(file, cause)
  }
  if (KEY.test(text)) return new Uint8Array(Buffer.from(text, 'hex'))
  throw new CommandFailure(
    `${file} has no key: a key is 64 hexadecimal digits, as --new-key or openssl rand -hex 32 makes it`,
    ExitStatus.input,
  )
}
