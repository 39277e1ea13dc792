import { spawn } from 'node:child_process'
import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { ROOT } from '../../package/project.ts'
import { temporaryFolder } from '../../temporary.ts'
import { KEYS, writeFiles } from './running.ts'

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
        const clock = join(folder, 'clock')
        writeFileSync(clock, '+0')
        const env = {
          ...process.env,
          LD_PRELOAD: LIBRARY,
          FAKETIME_TIMESTAMP_FILE: clock,
          FAKETIME_NO_CACHE: '1',
          FAKETIME_DONT_FAKE_MONOTONIC: '1',
        }
        const plans = ['free=1,1,0', 'developer=0.1,3,1', 'business=1,1,1'].flatMap((plan) => [
          '--plan',
          plan,
        ])
        const args = [
          'serve',
          '--port',
          '0',
          '--keys',
          keys,
          '--db',
          database,
          '--workers',
          workers,
          ...plans,
        ]
        const child = spawn(process.execPath, [join(ROOT, 'dist/cli.js'), ...args], { env })
        try {
          let out = ''
          child.stdout.on('data', (chunk) => {
            out += chunk
          })
          while (!out.includes('"event":"listening"')) await delay(20)
          const [, port = ''] = /"port":(\d+)/.exec(out) ?? []
          const authorization = `Bearer ${KEYS.developer}`
          const ask = () =>
            fetch(`http://127.0.0.1:${port}/v1/ip/81.2.69.142`, { headers: { authorization } })
          for (let index = 0; index < 3; index++) expect((await ask()).status).toBe(200)
          for (const change of ['-3h', '+3h', '-400d']) {
            writeFileSync(clock, change)
            const answer = await ask()
            const wait = answer.headers.get('retry-after')
            if (wait !== null) expect(Number(wait)).toBeLessThanOrEqual(30)
            // The processes share a limiter whose budget can be full early.
            if (workers === '1') expect(answer.status).toBe(429)
            await answer.text()
          }
        } finally {
          child.kill('SIGKILL')
        }
      },
    )
  },
)
