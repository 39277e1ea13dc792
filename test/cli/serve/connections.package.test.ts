import { connect } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { keyListText } from '../../../src/node/keys/key-list.ts'
import { replaceFile, temporaryFolder } from '../../temporary.ts'
import { startServeWith } from './process.ts'
import { ask, entryOf, KEYS, writeFiles } from './running.ts'

describe.skipIf(process.platform === 'win32')('a service with 64 descriptors', () => {
  it('learns of a revoked key although anyone opens 200 connections', async () => {
    const { database, keys } = writeFiles(temporaryFolder())
    const args = ['--metrics-port', '0', '--keys', keys, '--db', database]
    const service = await startServeWith(64, ...args)
    const sockets = Array.from({ length: 200 }, () =>
      connect(service.port, '127.0.0.1').on('error', () => {}),
    )
    await delay(300)
    replaceFile(keys, keyListText([entryOf(KEYS.business, 'business')]))
    expect(await service.until('keys')).toMatchObject({ count: 1 })
    const { text: metrics } = await ask(`${service.metrics}/metrics`)
    expect(metrics).toMatch(/^geofix_keys_refused 0$/m)
    expect(metrics).toMatch(/^geofix_keys_age_seconds [\d.]+$/m)
    expect(metrics).toMatch(/^geofix_log_lines_dropped_total 0$/m)
    for (const socket of sockets) socket.destroy()
    await delay(100)
    expect((await ask(`${service.origin}/v1/ip`)).status).toBe(401)
  })
})
