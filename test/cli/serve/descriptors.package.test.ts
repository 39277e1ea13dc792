import { spawn } from 'node:child_process'
import { renameSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { keyListText } from '../../../src/node/keys/key-list.ts'
import { ROOT } from '../../package/project.ts'
import { temporaryFolder } from '../../temporary.ts'
import { entryOf, KEYS, writeFiles } from './running.ts'

describe.skipIf(process.platform === 'win32')('a service with 64 descriptors', () => {
  it('learns of a revoked key although anyone opens 200 connections', async () => {
    const folder = temporaryFolder()
    const { database, keys } = writeFiles(folder)
    const args = `serve --port 0 --metrics-port 0 --keys '${keys}' --db '${database}'`
    const child = spawn('sh', [
      '-c',
      `ulimit -n 64; exec '${process.execPath}' '${join(ROOT, 'dist/cli.js')}' ${args}`,
    ])
    try {
      let out = ''
      child.stdout.on('data', (chunk) => {
        out += chunk
      })
      const line = async (event: string): Promise<Record<string, unknown>> => {
        for (;;) {
          const found = out.split('\n').find((each) => each.includes(`"event":"${event}"`))
          if (found !== undefined) return JSON.parse(found)
          await delay(20)
        }
      }
      const { port, metricsPort } = await line('listening')
      const sockets = Array.from({ length: 200 }, () =>
        connect(Number(port), '127.0.0.1').on('error', () => {}),
      )
      await delay(300)
      writeFileSync(`${keys}.new`, keyListText([entryOf(KEYS.business, 'business')]), { mode: 0o600 })
      renameSync(`${keys}.new`, keys)
      expect(await line('keys')).toMatchObject({ count: 1 })
      const metrics = await (await fetch(`http://127.0.0.1:${metricsPort}/metrics`)).text()
      expect(metrics).toMatch(/^geofix_keys_refused 0$/m)
      expect(metrics).toMatch(/^geofix_keys_age_seconds [\d.]+$/m)
      expect(metrics).toMatch(/^geofix_log_lines_dropped_total 0$/m)
      for (const socket of sockets) socket.destroy()
      await delay(100)
      const authorization = `Bearer ${KEYS.developer}`
      const { status } = await fetch(`http://127.0.0.1:${port}/v1/ip`, { headers: { authorization } })
      expect(status).toBe(401)
    } finally {
      child.kill('SIGKILL')
    }
  })
})
