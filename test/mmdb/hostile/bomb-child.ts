// Puts the bombs of one group through the ordeal, in a process whose memory is nobody else's.
import { BOMBS } from './bombs.ts'
import { ordeal } from './ordeal.ts'

/** What one bomb took. */
export interface Toll {
  readonly name: string
  readonly stage: string
  /** CPU time in milliseconds: the machine may do other things meanwhile. */
  readonly cpu: number
  /** Of the database. */
  readonly bytes: number
  /** The most memory that was resident so far, over what was before it was used. Bytes. */
  readonly memory: number
}

const [, , group = ''] = process.argv

const peak = (): number => process.resourceUsage().maxRSS * 1024

for (const [name, make] of BOMBS[group] ?? []) {
  const bytes = make()
  globalThis.gc?.()
  const [before, start] = [peak(), process.cpuUsage()]
  // Of 16 MB of single values a full check takes seconds: it is linear, and asked of what is small or shared.
  const isVerified = group === 'sharing' || bytes.length < 2_000_000
  const stage = ordeal(bytes, undefined, isVerified)
  const { user, system } = process.cpuUsage(start)
  const toll: Toll = {
    name,
    stage,
    cpu: (user + system) / 1000,
    bytes: bytes.length,
    memory: peak() - before,
  }
  console.log(JSON.stringify(toll))
}
