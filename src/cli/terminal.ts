import { once } from 'node:events'
import type { Readable, Writable } from 'node:stream'
import { printable } from './printable.ts'

/** Where a command reads from and writes to. `fd` is that of the process, where the stream stands for one. */
export interface Terminal {
  readonly stdin: Readable & { readonly isTTY?: boolean; readonly fd?: number }
  readonly stdout: Writable & { readonly isTTY?: boolean; readonly fd?: number }
  readonly stderr: Writable & { readonly isTTY?: boolean; readonly fd?: number }
}

/** The statuses that the command line ends with. Those of signals are 128 and the signal's number. */
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

/** Writes a line, and waits where the reader is slower: output of any size takes little memory. */
export async function writeLine(stream: Writable, line: string): Promise<void> {
  if (!stream.write(`${line}\n`)) await once(stream, 'drain')
}

/** Writes a message to people. */
export async function writeMessage(stream: Writable, message: string): Promise<void> {
  if (!stream.write(messageLine(message))) await once(stream, 'drain')
}

/** A message to people, in one line whatever it tells of: names of files are foreign text too. */
export function messageLine(message: string): string {
  return `geofix: ${printable(message)}\n`
}
