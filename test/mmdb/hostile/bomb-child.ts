// Puts the bombs of one group through the library or the commands, in a process whose memory is nobody else's.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { BOMBS } from './bombs.ts'
import { commandOrdeal } from './command-ordeal.ts'
import { ordeal } from './ordeal.ts'

/** What one bomb took. */
export interface Toll {
  readonly name: string
  /** How far the library let itself be used; of commands, that they all ended. */
  readonly stage: string
  /** CPU time in milliseconds: the machine may do other things meanwhile. */
  readonly cpu: number
  /** Of the database. */
  readonly bytes: number
  /** The most memory that was resident so far, over what was before it was used. Bytes. */
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
  // Of 16 MB of single values a full check takes seconds: it is linear, and asked of what is small or shared.
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
    memory: peak() - before,
  }
  console.log(JSON.stringify(toll))
}
