import { once } from 'node:events'
import type { Readable, Writable } from 'node:stream'

/** Where a command reads from and writes to. */
export interface Terminal {
  readonly stdin: Readable & { readonly isTTY?: boolean }
  readonly stdout: Writable
  readonly stderr: Writable
}

/** The statuses that the command line ends with. */
export const ExitStatus = { ok: 0, failed: 1, usage: 2 } as const

export type ExitStatus = (typeof ExitStatus)[keyof typeof ExitStatus]

/** Writes a line, and waits where the reader is slower: output of any size takes little memory. */
export async function writeLine(stream: Writable, line: string): Promise<void> {
  if (!stream.write(`${line}\n`)) await once(stream, 'drain')
}
