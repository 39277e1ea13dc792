import { join } from 'node:path'
import type { Command } from '../child.ts'
import type { TrafficFormat } from './traffic.ts'

const SCRIPT = join(import.meta.dirname, 'script.mjs')

/** Names of contenders. */
export const ONE = 'one thread'
export const TWO = 'two threads'
export const PEER = 'script with maxmind, same record'
export const RAW = 'script with maxmind, its answer as it is'

/** What contenders have to do, and where what they need is. */
export interface Task {
  readonly format: TrafficFormat
  /** Path of the uncompressed database. */
  readonly database: string
  /** Path of the command. */
  readonly cli: string
  /** Folder that has maxmind in its node_modules. */
  readonly peers: string
}

export function geofix(
  { format, database, cli }: Task,
  file: string,
  name: typeof ONE | typeof TWO,
): Command {
  const threads = name === ONE ? '1' : '2'
  const fields = format === 'ndjson' ? ['--field', 'client_ip', '--time-field', 'ts'] : []
  const how = ['--db', database, '--threads', threads, '--quiet', '--stats', 'none', ...fields]
  return { name, file: process.execPath, args: [cli, 'enrich', file, ...how] }
}

export function script(
  { format, database, peers }: Task,
  file: string,
  name: typeof PEER | typeof RAW,
): Command {
  const answer = name === PEER ? 'record' : 'raw'
  return { name, file: process.execPath, args: [SCRIPT, database, file, format, answer, peers] }
}
