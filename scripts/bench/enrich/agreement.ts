import { execFile } from 'node:child_process'
import { isDeepStrictEqual, promisify } from 'node:util'
import type { Command } from '../child.ts'

const MOST_OUTPUT = 64 * 2 ** 20

/** How far two agree on what they write. */
export interface Agreement {
  /** Lines that have a location from both. */
  readonly located: number
  /** Of those, lines that are the same, numbers however they are written. */
  readonly same: number
  /** Lines that only one has a location for. */
  readonly onlyOne: number
  /** Two that are not the same; `null` when all are. */
  readonly difference: string | null
}

/** Compares the NDJSON that two processes write. */
export async function agreement(one: Command, other: Command): Promise<Agreement> {
  const [ours, theirs] = await Promise.all([outputOf(one), outputOf(other)])
  return compareLines(ours, theirs)
}

/** @throws Error when there is not a line for each line */
export function compareLines(ours: readonly string[], theirs: readonly string[]): Agreement {
  if (ours.length !== theirs.length) throw new Error(`${ours.length} lines beside ${theirs.length}`)
  let [located, same, onlyOne]: [number, number, number] = [0, 0, 0]
  let difference: string | null = null
  for (const [index, text] of ours.entries()) {
    const otherText = theirs[index] ?? ''
    const [line, otherLine]: Record<string, unknown>[] = [JSON.parse(text), JSON.parse(otherText)]
    const [isLocated, isOtherLocated] = [hasLocation(line), hasLocation(otherLine)]
    if (isLocated !== isOtherLocated) onlyOne++
    if (!isLocated || !isOtherLocated) continue
    located++
    if (isDeepStrictEqual(line, otherLine)) same++
    else difference ??= `${text} beside ${otherText}`
  }
  return { located, same, onlyOne, difference }
}

function hasLocation(line: Record<string, unknown> | undefined): boolean {
  return line?.location !== null && line?.location !== undefined
}

async function outputOf({ file, args }: Command): Promise<string[]> {
  const { stdout } = await promisify(execFile)(file, [...args], { maxBuffer: MOST_OUTPUT })
  return stdout.trimEnd().split('\n')
}
