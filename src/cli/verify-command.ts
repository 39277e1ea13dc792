import { isGeofixError } from '../errors.ts'
import type { DatabaseFault } from '../mmdb/verify/fault-list.ts'
import { openDatabases } from '../node/node-source.ts'
import { printable } from './printable.ts'
import { ExitStatus, type Terminal, writeLine, writeMessage } from './terminal.ts'

/** Checks whole database files: a line for each fault, and one of what was checked. */
export async function runVerify(files: readonly string[], terminal: Terminal): Promise<ExitStatus> {
  let status: ExitStatus = ExitStatus.ok
  for (const file of files) if (!(await isSound(file, terminal))) status = ExitStatus.failed
  return status
}

async function isSound(file: string, { stdout, stderr }: Terminal): Promise<boolean> {
  const say = (text: string): Promise<void> => writeLine(stdout, printable(`${file}: ${text}`))
  try {
    for (const database of await openDatabases([file])) {
      const { faults, faultCount, nodeCount, recordCount, valueCount } = database.verify()
      for (const fault of faults) await say(textOf(fault))
      const checked = `${count(nodeCount, 'node')}, ${count(recordCount, 'record')}, ${count(valueCount, 'value')}`
      if (faultCount > faults.length) {
        await say(`and ${count(faultCount - faults.length, 'fault')} more`)
      }
      await say(`${faultCount === 0 ? 'sound' : count(faultCount, 'fault')}; ${checked}`)
      if (faultCount > 0) return false
    }
    return true
  } catch (error) {
    if (!isGeofixError(error)) throw error
    await writeMessage(stderr, error.message)
    return false
  }
}

function textOf({ message, offset }: DatabaseFault): string {
  return offset === null ? message : `${message} (at byte ${offset})`
}

function count(number: number, noun: string): string {
  return `${number.toLocaleString('en')} ${noun}${number === 1 ? '' : 's'}`
}
