// Runs the bombs of one group through the library or the commands, in a separate process to measure its memory.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { BOMBS } from './bombs.ts'
import { commandOrdeal } from './command-ordeal.ts'
import { ordeal } from './ordeal.ts'

/** The cost of one bomb. */
export interface Toll {
  readonly name: string
  /** How far the library could be used; for commands, that they all ended. */
  readonly stage: string
  /** CPU time in milliseconds, because the machine may be busy. */
  readonly cpu: number
  /** Of the database. */
  readonly bytes: number
  /** Peak increase of resident memory, in bytes; commands read the file, which is no part of it. */
  readonly memory: number
}

const [, , group = '', user = 'library'] = process.argv
const folder = mkdtempSync(join(tmpdir(), 'geofix-bombs-'))
process.on('exit', () => rmSync(folder, { recursive: true }))

const peak = (): number => process.resourceUsage().maxRSS * 1024

for (const [name, make] of BOMBS[group] ?? []) {
  const bytes = make()
  globalThis.gc?.()
  const [before, start] = [peak(), process.cpuUsage()]
  // A full check of 16 MB of separate values takes seconds, so only small or shared databases are verified.
  const isVerified = group === 'sharing' || bytes.length < 2_000_000
  const stage =
    user === 'library'
      ? ordeal(bytes, undefined, isVerified)
      : await commandOrdeal(bytes, folder, isVerified).then(() => 'ended')
  const used = process.cpuUsage(start)
  const toll: Toll = {
    name,
    stage,
    cpu: (used.user + used.system) / 1000,
    bytes: bytes.length,
    memory: peak() - before - (user === 'library' ? 0 : bytes.length),
  }
  console.log(JSON.stringify(toll))
}
