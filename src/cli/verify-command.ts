import { basename } from 'node:path'
import { isGeofixError } from '../errors.ts'
import type { DatabaseFault } from '../mmdb/fault-list.ts'
import { openDatabases } from '../node/node-source.ts'
import { ExitStatus, type Terminal, writeLine } from './terminal.ts'

/** Checks whole database files: a line for each fault, and one of what was checked. */
export async function runVerify(files: readonly string[], terminal: Terminal): Promise<ExitStatus> {
  let status: ExitStatus = ExitStatus.ok
  for (const file of files) if (!(await isSound(file, terminal))) status = ExitStatus.failed
  return status
}

async function isSound(file: string, { stdout, stderr }: Terminal): Promise<boolean> {
  try {
    for (const database of await openDatabases([file])) {
      const { faults, faultCount, nodeCount, recordCount, valueCount } = database.verify()
      for (const fault of faults) await writeLine(stdout, `${file}: ${textOf(fault)}`)
      const checked = `${count(nodeCount, 'node')}, ${count(recordCount, 'record')}, ${count(valueCount, 'value')}`
      if (faultCount > faults.length) {
        await writeLine(stdout, `${file}: and ${count(faultCount - faults.length, 'fault')} more`)
      }
      await writeLine(
        stdout,
        `${basename(file)}: ${faultCount === 0 ? 'sound' : count(faultCount, 'fault')}; ${checked}`,
      )
      if (faultCount > 0) return false
    }
    return true
  } catch (error) {
    if (!isGeofixError(error)) throw error
    await writeLine(stderr, `geofix: ${error.message}`)
    return false
  }
}

function textOf({ message, offset }: DatabaseFault): string {
  return offset === null ? message : `${message} (at byte ${offset})`
}

function count(number: number, noun: string): string {
  return `${number.toLocaleString('en')} ${noun}${number === 1 ? '' : 's'}`
}
