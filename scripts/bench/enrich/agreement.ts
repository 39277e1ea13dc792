import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
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

/** Compares the output of `geofix enrich --append` with that of a script that writes six fields after tabs. */
export async function agreement(geofix: Command, script: Command): Promise<Agreement> {
  const [ours, theirs] = await Promise.all([outputOf(geofix), outputOf(script)])
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
    const [fields, otherFields] = [fieldsOfLocation(text), otherText.split('\t').slice(-6).join('\t')]
    const [isLocated, isOtherLocated] = [fields !== NOTHING, otherFields !== NOTHING]
    if (isLocated !== isOtherLocated) onlyOne++
    if (!isLocated || !isOtherLocated) continue
    located++
    if (fields === otherFields) same++
    else difference ??= `${text} and ${otherText}`
  }
  return { located, same, onlyOne, difference }
}

const NOTHING = '\t'.repeat(5)

interface AppendedLocation {
  readonly country: { readonly code: string | null }
  readonly region: { readonly code: string | null }
  readonly city: string | null
  readonly coordinates: { readonly latitude: number | null; readonly longitude: number | null }
  readonly timezone: { readonly id: string | null }
}

/** The six fields of the script, from the location after the last tab. */
function fieldsOfLocation(line: string): string {
  const location: AppendedLocation | null = JSON.parse(line.slice(line.lastIndexOf('\t') + 1))
  if (location === null) return NOTHING
  const { country, region, city, coordinates, timezone } = location
  const { latitude, longitude } = coordinates
  // `US-CA` is `CA` in the database.
  const fields = [country.code, region.code?.replace(/^..-/, ''), city, latitude, longitude, timezone.id]
  return fields.map((field) => field ?? '').join('\t')
}

async function outputOf({ file, args }: Command): Promise<string[]> {
  const { stdout } = await promisify(execFile)(file, [...args], { maxBuffer: MAX_OUTPUT_BYTES })
  return stdout.trimEnd().split('\n')
}
