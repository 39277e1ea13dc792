import { execFile } from 'node:child_process'
import { isDeepStrictEqual, promisify } from 'node:util'
import type { Command } from '../child.ts'

const MAX_OUTPUT_BYTES = 64 * 2 ** 20

/** The agreement of two outputs. */
export interface Agreement {
  /** Lines with a location in both. */
  readonly located: number
  /** Of those, lines with equal values. */
  readonly same: number
  /** Lines with a location in only one of them. */
  readonly onlyOne: number
  /** The first pair of different lines; `null` if there is none. */
  readonly difference: string | null
}

/** Compares the NDJSON output of two processes. */
export async function agreement(one: Command, other: Command): Promise<Agreement> {
  const [ours, theirs] = await Promise.all([outputOf(one), outputOf(other)])
  return compareLines(ours, theirs)
}

/** @throws Error if the numbers of lines differ */
export function compareLines(ours: readonly string[], theirs: readonly string[]): Agreement {
  if (ours.length !== theirs.length)
    throw new Error(`${ours.length} lines, but ${theirs.length} in the other output`)
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
    else difference ??= `${text} and ${otherText}`
  }
  return { located, same, onlyOne, difference }
}

function hasLocation(line: Record<string, unknown> | undefined): boolean {
  return line?.location !== null && line?.location !== undefined
}

async function outputOf({ file, args }: Command): Promise<string[]> {
  const { stdout } = await promisify(execFile)(file, [...args], { maxBuffer: MAX_OUTPUT_BYTES })
  return stdout.trimEnd().split('\n')
}
