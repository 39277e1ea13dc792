// The streams of a command, how it ends, and what it says to its user.
import { once } from 'node:events'
import type { Readable, Writable } from 'node:stream'
import { isGeofixError, ReadFailure } from '../errors.ts'
import { reasonOf } from '../node/file-state.ts'

/** The streams of a command. `fd` is the file descriptor of a stream, if it has one. */
export interface Terminal {
  readonly stdin: Readable & { readonly isTTY?: boolean; readonly fd?: number }
  readonly stdout: Writable & { readonly isTTY?: boolean; readonly fd?: number; readonly columns?: number }
  readonly stderr: Writable & { readonly isTTY?: boolean; readonly fd?: number; readonly columns?: number }
}

/** Exit statuses of the command line. After a signal: 128 plus its number. */
export const ExitStatus = {
  ok: 0,
  failed: 1,
  usage: 2,
  output: 3,
  input: 4,
  hangup: 129,
  interrupted: 130,
  terminated: 143,
} as const

export type ExitStatus = (typeof ExitStatus)[keyof typeof ExitStatus]

/** Ends a command with a message for the user and an exit status. */
export class CommandFailure extends Error {
  override readonly name = 'CommandFailure'
  readonly status: ExitStatus

  constructor(message: string, status: ExitStatus, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause })
    this.status = status
  }
}

/** Prints the error that ended a command. @returns its exit status. @throws an error of the program itself */
export async function statusOf(error: unknown, { stderr }: Terminal): Promise<ExitStatus> {
  if (!isGeofixError(error) && !(error instanceof CommandFailure)) throw error
  await writeMessage(stderr, error.message)
  if (error instanceof CommandFailure) return error.status
  return error instanceof ReadFailure ? ExitStatus.input : ExitStatus.failed
}

/** An option has an invalid value. The message says what to write instead. */
export class UsageError extends Error {
  override readonly name = 'UsageError'
}

/** The error for an input that cannot be read. */
export function unreadableInput(
  name: string,
  cause: unknown,
  status: ExitStatus = ExitStatus.input,
): CommandFailure {
  return new CommandFailure(`${name} cannot be read: ${reasonOf(cause)}`, status, cause)
}

/** The error for an output that cannot be written. */
export function unwritable(name: string, cause: unknown): CommandFailure {
  return new CommandFailure(`${name} cannot be written: ${reasonOf(cause)}`, ExitStatus.output, cause)
}

/** The error for a directory in place of a file. */
export function directoryError(): Error {
  return Object.assign(new Error('it is a directory'), { code: 'EISDIR' })
}

/** Writes a line, and waits for a slow reader: output of any size takes little memory. */
export async function writeLine(stream: Writable, line: string): Promise<void> {
  if (!stream.write(`${line}\n`)) await once(stream, 'drain')
}

/** `writeLine` for standard error. Nothing fails if that is full or closed: the command did its work. */
export async function writeNote(stderr: Writable, line: string): Promise<void> {
  await writeLine(stderr, line).catch(() => {})
}

/** Writes a message for the user. Messages can quote untrusted text, such as file names. */
export async function writeMessage(stderr: Writable, message: string): Promise<void> {
  await writeNote(stderr, `geofix: ${printable(message)}`)
}

/** A message for the user as one printable line. */
export function messageLine(message: string): string {
  return `geofix: ${printable(message)}\n`
}

/** Control characters, and bidirectional controls that reverse the text after them. */
const NOT_PRINTABLE = /[\p{Cc}\u202a-\u202e\u2066-\u2069]/gu

/** `JSON.stringify` with escapes for these characters too. The value of the JSON is the same. */
export function jsonText(value: unknown, indent?: number): string {
  return JSON.stringify(value, null, indent).replace(NOT_PRINTABLE, (character) =>
    character === '\n' ? character : `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
}

/** Makes untrusted text safe for a terminal: it can neither move the cursor nor hide the text after it. */
export function printable(line: string): string {
  return line.replace(NOT_PRINTABLE, '\ufffd')
}

/** Values are wrapped to no fewer columns. */
const LEAST_WIDTH = 16

/**
 * Rows of a label and a value in two columns. A value can have several lines. A row without a value is left out.
 *
 * @param columns of the terminal, 0 if it does not say; longer values are wrapped between words
 */
export function labelledRows(
  rows: readonly (readonly [label: string, value: string | null])[],
  columns = 0,
): string {
  const shown = rows.filter((row): row is readonly [string, string] => row[1] !== null)
  const indent = Math.max(...rows.map(([label]) => label.length)) + 2
  const width = columns === 0 ? Number.POSITIVE_INFINITY : Math.max(columns - indent, LEAST_WIDTH)
  return shown
    .map(([label, value]) => {
      const lines = value.split('\n').flatMap((line) => wrapped(printable(line), width))
      return label.padEnd(indent) + lines.join(`\n${' '.repeat(indent)}`)
    })
    .join('\n')
}

function wrapped(line: string, width: number): string[] {
  const lines = ['']
  for (const word of line.split(' ')) {
    const last = lines.at(-1) ?? ''
    if (last === '') lines[lines.length - 1] = word
    else if (last.length + 1 + word.length <= width) lines[lines.length - 1] = `${last} ${word}`
    else lines.push(word)
  }
  return lines
}
