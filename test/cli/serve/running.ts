import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { PassThrough } from 'node:stream'
import type { ServeSettings } from '../../../src/cli/serve/flags.ts'
import { JsonLog } from '../../../src/cli/serve/log.ts'
import { type Running, type StopSignal, startService } from '../../../src/cli/serve/service.ts'
import { digestOf, makeKey } from '../../../src/node/keys/key.ts'
import { type KeyEntry, keyListText } from '../../../src/node/keys/key-list.ts'
import { AMPLE, DATABASE } from '../../http/service.ts'

/** A key of each plan. */
export const KEYS = { free: makeKey(), developer: makeKey(), business: makeKey() }

export function entryOf(key: string, plan: string, more: Partial<KeyEntry> = {}): KeyEntry {
  return {
    id: `key_${plan}`,
    plan,
    label: plan,
    created: '2026-11-22T10:00:00.000Z',
    expires: null,
    digest: digestOf(key),
    ...more,
  }
}

/** Writes a database and a file of keys. */
export function writeFiles(folder: string): { database: string; keys: string } {
  const [database, keys] = [join(folder, 'sample.mmdb'), join(folder, 'keys.json')]
  writeFileSync(database, DATABASE)
  const entries = Object.entries(KEYS).map(([plan, key]) => entryOf(key, plan))
  writeFileSync(keys, keyListText(entries), { mode: 0o600 })
  return { database, keys }
}

export interface Service extends Omit<Running, 'stop'> {
  readonly stop: (signal?: StopSignal) => Promise<void>
  readonly origin: string
  /** What was logged so far. */
  readonly lines: () => Record<string, unknown>[]
}

/** Starts a service in this process. */
export async function serve(folder: string, settings: Partial<ServeSettings> = {}): Promise<Service> {
  const { database, keys } = writeFiles(folder)
  const stream = new PassThrough()
  let text = ''
  stream.setEncoding('utf8').on('data', (chunk) => {
    text += chunk
  })
  const log = new JsonLog(stream)
  const running = await startService(
    {
      socket: null,
      host: '127.0.0.1',
      port: 0,
      basePath: '',
      cors: undefined,
      databases: [database],
      cityNames: 'en',
      asn: false,
      watch: false,
      staleAfter: 45,
      keys,
      plans: AMPLE,
      limits: null,
      trustedProxies: ['loopback'],
      forwardedHeader: undefined,
      workers: 1,
      log: 'json',
      logClient: 'address',
      metricsPort: null,
      keyMetrics: false,
      clientConnections: undefined,
      drainSeconds: 0,
      graceSeconds: 1,
      ...settings,
    },
    log,
  )
  return {
    ...running,
    stop: (signal = 'SIGINT') => running.stop(signal),
    origin: `http://127.0.0.1:${running.port}`,
    lines: () => {
      log.flush()
      return text
        .split('\n')
        .filter((line) => line !== '')
        .map((line) => JSON.parse(line))
    },
  }
}
