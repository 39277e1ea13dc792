// What a whole process takes until its last answer: `whole.mjs LIBRARY MODULE DATABASE LOOKUPS [CACHE_BYTES]`. Prints its processor time
// in milliseconds, how much of it came after the first answer, and its peak memory in megabytes. Without a library it is an empty process.
import { readFileSync } from 'node:fs'
import { cpuUsage, resourceUsage } from 'node:process'

const ADDRESS = '81.2.69.142'

/** Resident. What the system counts for the process includes its parent's memory at the start, where it forks. */
function peak() {
  try {
    return Number(/^VmHWM:\s+(\d+) kB$/m.exec(readFileSync('/proc/self/status', 'utf8'))[1])
  } catch {
    return resourceUsage().maxRSS
  }
}

let first = cpuUsage()
const [library, module, database, lookups, cacheBytes] = process.argv.slice(2)
if (library !== 'none') {
  const { open, randomAddresses } = await import('./libraries.mjs')
  const find = await open(library, module, database, undefined, cacheBytes && Number(cacheBytes))
  const next = randomAddresses(0)
  if ((await find(ADDRESS)) === null) throw new Error(`${library} does not know ${ADDRESS}`)
  first = cpuUsage()
  for (let count = 1; count < Number(lookups); count++) await find(next())
}
const milliseconds = ({ user, system }) => (user + system) / 1e3
const [processor, later] = [milliseconds(cpuUsage()), milliseconds(cpuUsage(first))]
console.log(JSON.stringify({ processor, later, peak: (peak() * 1024) / 1e6 }))
process.exit()
