// Decompresses one file and prints the memory it took: `tsx unpack-child.ts <way> <file> <maxBytes>`.
import { readFileSync } from 'node:fs'
import { waysToUnpack } from './ways-to-unpack.ts'

const [way, path = '', maxBytes] = process.argv.slice(2)
const unpack = waysToUnpack(path).find(([name]) => name === way)?.[1]
if (unpack === undefined) throw new TypeError(`no way is called ${way}`)
const packed = readFileSync(path)

/** Peak resident memory in bytes; the system counts in KiB. */
const peak = (): number => process.resourceUsage().maxRSS * 1024

const before = peak()
const refused = await unpack(packed, Number(maxBytes)).then(
  () => null,
  (error: unknown) => String(error),
)
console.log(JSON.stringify({ refused, memory: peak() - before }))
