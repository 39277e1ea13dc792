// The databases that the command line names: their age, whether they have locations, and `geofix verify`.
import { isGeofixError, ReadFailure } from '../errors.ts'
import type { DatabaseInfo } from '../location/database-info.ts'
import type { DatabaseSet } from '../location/database-set.ts'
import type { DatabaseFault } from '../mmdb/verify.ts'
import { NODE, pathOrBytes } from '../node/node-source.ts'
import { CommandFailure, ExitStatus, printable, type Terminal, writeLine, writeMessage } from './terminal.ts'

/** @throws CommandFailure when a database has no locations, such as an ASN database */
export function checkLocations({ locationErrors }: DatabaseSet): void {
  const [error] = locationErrors
  if (error !== undefined) {
    throw new CommandFailure(`${error.message}, or leave this one out`, ExitStatus.failed, error)
  }
}

const DAY_MS = 24 * 60 * 60 * 1000

/** How old a database is. */
export interface DatabaseAge {
  /** Age in whole days since the database was built; `null` if the file does not say when. */
  readonly days: number | null
  /** Whether it is older than the limit, or has no build date. */
  readonly isStale: boolean
  /** `2026-06-05, 20 days ago`, and whether it is stale. */
  readonly text: string
}

/** @param staleAfter days: the greatest age of a database that is not stale */
export function ageOf({ buildDate }: Pick<DatabaseInfo, 'buildDate'>, staleAfter: number): DatabaseAge {
  if (buildDate === null) return { days: null, isStale: true, text: 'unknown, which counts as stale' }
  const age = Date.now() - buildDate.getTime()
  const days = Math.floor(age / DAY_MS)
  const isStale = age > staleAfter * DAY_MS
  const limit = `stale: older than ${count(staleAfter, 'day')}`
  const built = `${buildDate.toISOString().slice(0, 10)}, ${count(days, 'day')} ago`
  return { days, isStale, text: isStale ? `${built}, ${limit}` : built }
}

/** Checks whole database files: `geofix verify`. Prints a line per fault and a summary. */
export async function runVerify(files: readonly string[], terminal: Terminal): Promise<ExitStatus> {
  const statuses: ExitStatus[] = []
  for (const file of files) statuses.push(await verifyFile(file, terminal))
  return statuses.find((status) => status === ExitStatus.input) ?? statuses.find(Boolean) ?? ExitStatus.ok
}

async function verifyFile(file: string, { stdout, stderr }: Terminal): Promise<ExitStatus> {
  const say = (text: string): Promise<void> => writeLine(stdout, printable(`${file}: ${text}`))
  try {
    const database = await NODE.open(pathOrBytes(file), {})
    const { faults, faultCount, nodeCount, recordCount, valueCount } = database.verify()
    for (const fault of faults) await say(textOf(fault))
    const checked = `${count(nodeCount, 'node')}, ${count(recordCount, 'record')}, ${count(valueCount, 'value')}`
    if (faultCount > faults.length) await say(`and ${count(faultCount - faults.length, 'more fault')}`)
    await say(`${faultCount === 0 ? 'valid' : count(faultCount, 'fault')}; ${checked}`)
    return faultCount > 0 ? ExitStatus.failed : ExitStatus.ok
  } catch (error) {
    if (!isGeofixError(error)) throw error
    await writeMessage(stderr, error.message)
    return error instanceof ReadFailure ? ExitStatus.input : ExitStatus.failed
  }
}

function textOf({ message, offset }: DatabaseFault): string {
  return offset === null ? message : `${message} (at byte ${offset})`
}

function count(number: number, noun: string): string {
  return `${number.toLocaleString('en')} ${noun}${number === 1 ? '' : 's'}`
}
