// The memory of `geofix serve` while its database is replaced again and again.
import { copyFileSync, existsSync, readFileSync, renameSync } from 'node:fs'
import { join } from 'node:path'
import { Agent } from 'undici'
import { describe, expect, it } from 'vitest'
import { randomIPv4, seeded } from '../../../scripts/bench/addresses.ts'
import { measurement } from '../../../scripts/bench/row.ts'
import { ROOT } from '../../package/project.ts'
import { temporaryFolder } from '../../temporary.ts'
import { startServe } from './process.ts'
import { ask } from './running.ts'

const ROUNDS = 80
const MEGABYTE = 1024

describe.skipIf(!existsSync('/proc/self/status'))('memory, outside of Linux this is skipped,', () => {
  it('stays as it is, however often the database is replaced', { timeout: 1_800_000 }, async () => {
    const database = join(temporaryFolder(), 'city.mmdb.packed')
    const replace = (): void => {
      copyFileSync(join(ROOT, 'data/city.mmdb.packed'), `${database}.new`)
      renameSync(`${database}.new`, database)
    }
    replace()
    const plan = ['--plan', 'developer=100000,1000000,1000']
    const service = await startServe('--open', '--db', database, ...plan)
    const dispatcher = new Agent({ connections: 2 })
    const resident: number[] = []
    for (let round = 0; round < ROUNDS; round++) {
      for (let batch = 0; batch < 8; batch++) {
        const { status } = await ask(`${service.origin}/v1/ip/batch`, {
          method: 'POST',
          dispatcher,
          headers: { 'content-type': 'application/json' },
          body: JSON.stringify(randomIPv4(1000, seeded(round * 8 + batch))),
        })
        expect(status).toBe(200)
      }
      replace()
      service.child.kill('SIGHUP')
      expect(await service.until('reload-done', round + 1)).toMatchObject({ databases: 'replaced' })
      const status = readFileSync(`/proc/${service.child.pid}/status`, 'utf8')
      resident.push(Number(/^VmRSS:\s+(\d+)/m.exec(status)?.[1]) / MEGABYTE)
    }
    // The first rounds fill the caches. Garbage that is not collected yet moves a value by tens of megabytes, and a median by
    // up to 10. Between the medians are 40 rounds: databases that are kept would add 17 MB in each, answers 2 MB.
    const { median: before } = measurement(resident.slice(ROUNDS / 8, ROUNDS / 2))
    const { median: after } = measurement(resident.slice(ROUNDS / 2))
    expect(after - before, resident.map(Math.round).join(' ')).toBeLessThan(20)
  })
})
