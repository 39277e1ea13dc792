// Lines of hundreds of megabytes, through processes of the built command line.
import { closeSync, createReadStream, openSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { outcomeOf, start } from './child.ts'
import { workspace } from './command-line.ts'

const { folder, DB } = workspace()

/** Makes a process write its largest resident memory, in KiB, at its end. */
const PEAK =
  "import{isMainThread}from'node:worker_threads';if(isMainThread)process.on('exit',()=>console.error('peak',process.resourceUsage().maxRSS))"

const MEGABYTES = 2 ** 20

/** Writes lines with addresses, a line of a size without its line end, and lines again. */
function writeLog(name: string, megabytes: number): string {
  const path = join(folder, name)
  const fd = openSync(path, 'w')
  const lines = '{"ip":"81.2.69.142"}\n'.repeat(30_000)
  writeSync(fd, lines)
  const piece = Buffer.alloc(MEGABYTES, 'a')
  for (let written = 0; written < megabytes; written++) writeSync(fd, piece)
  writeSync(fd, `\n${lines}`)
  closeSync(fd)
  return path
}

/** @returns the largest resident memory, in megabytes */
async function peakOf(path: string, isPiped: boolean, threads: number, action: string): Promise<number> {
  const args = ['enrich', '--db', DB, '--quiet', '--stats', 'json', '--threads', String(threads)]
  const child = start([...args, '--on-bad-line', action, ...(isPiped ? [] : [path])], {
    ...process.env,
    NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(PEAK)}`,
  })
  if (isPiped) createReadStream(path).pipe(child.stdin)
  const { status, err } = await outcomeOf(child)
  const [statistics = '', peak = ''] = err.trim().split('\n')
  expect({ status, ...JSON.parse(statistics) }).toMatchObject({
    status: 0,
    resolved: 60_000,
    bad: 1,
    threads,
  })
  return Number(peak.split(' ')[1]) / 1024
}

describe('an overlong line', () => {
  const short = writeLog('short', 3)
  const long = writeLog('long', 300)
  const ways = [1, 2, 4].flatMap((threads) =>
    [false, true].flatMap((isPiped) => ['raw', 'keep'].map((action) => ({ threads, isPiped, action }))),
  )
  it.each(ways)(
    'is never held in memory: $threads threads, piped $isPiped, $action',
    async ({ threads, isPiped, action }) => {
      const few = await peakOf(short, isPiped, threads, action)
      const many = await peakOf(long, isPiped, threads, action)
      // 300 MB more would be the line; what remains is garbage that is not collected yet.
      expect(many).toBeLessThan(few + 120)
    },
    120_000,
  )
})
