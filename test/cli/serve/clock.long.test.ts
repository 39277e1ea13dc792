import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { makeFile, temporaryFolder } from '../../temporary.ts'
import { words } from '../enrich/command-line.ts'
import { startServeIn } from './process.ts'
import { ask, LONDON, writeFiles } from './running.ts'

const LIBRARY = ['x86_64-linux-gnu', 'aarch64-linux-gnu']
  .map((machine) => `/usr/lib/${machine}/faketime/libfaketimeMT.so.1`)
  .find(existsSync)
if (LIBRARY === undefined) console.warn('faketime is not installed: tests that change the clock are skipped')

describe.skipIf(LIBRARY === undefined)(
  'geofix serve, where faketime is not installed this is skipped,',
  () => {
    it.each(['1', '2'])(
      'with %s processes makes nobody wait for longer than a window after the clock changed',
      async (workers) => {
        const folder = temporaryFolder()
        const { database, keys } = writeFiles(folder)
        const clock = makeFile(join(folder, 'clock'), '+0')
        const env = {
          ...process.env,
          LD_PRELOAD: LIBRARY,
          FAKETIME_TIMESTAMP_FILE: clock,
          FAKETIME_NO_CACHE: '1',
          FAKETIME_DONT_FAKE_MONOTONIC: '1',
        }
        const plans = words`--plan free=1,1,0 --plan developer=0.1,3,1 --plan business=1,1,1`
        const files = words`--keys ${keys} --db ${database} --workers ${workers}`
        const { origin } = await startServeIn({ env }, ...files, ...plans)
        for (let index = 0; index < 3; index++) expect((await ask(origin + LONDON)).status).toBe(200)
        for (const change of ['-3h', '+3h', '-400d']) {
          writeFileSync(clock, change)
          const { status, headers } = await ask(origin + LONDON)
          expect(Number(headers['retry-after'] ?? 0)).toBeLessThanOrEqual(30)
          // The processes share a limiter whose budget can be full early.
          if (workers === '1') expect(status).toBe(429)
        }
      },
    )
  },
)
