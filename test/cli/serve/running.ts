import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { PassThrough, type Readable } from 'node:stream'
import { setTimeout as delay } from 'node:timers/promises'
import { Agent, request } from 'undici'
import { onTestFinished } from 'vitest'
import { type ServeSettings, serveSettings } from '../../../src/cli/serve/flags.ts'
import { JsonLog } from '../../../src/cli/serve/log.ts'
import { type Running, type StopSignal, startService } from '../../../src/cli/serve/service.ts'
import { digestOf, type KeyEntry, keyListText, makeKey } from '../../../src/node/keys/key-list.ts'
import { AMPLE, DATABASE } from '../../http/service.ts'

/** A key of each plan. */
export const KEYS = { free: makeKey(), developer: makeKey(), business: makeKey() }

/** An address with a location. */
export const LONDON = '/v1/ip/81.2.69.142'
export const authorization = `Bearer ${KEYS.developer}`
/** The line of a request with this key. */
export const KEY = `Authorization: ${authorization}\r\n`

const dispatcher = new Agent()

/** Asks over a socket, with a key of the plan developer unless the header fields are others. */
export async function ask(url: string, options: Parameters<typeof request>[1] = {}) {
  const { statusCode, headers, body } = await request(url, {
    headers: { authorization },
    dispatcher,
    ...options,
  })
  return { status: statusCode, headers, text: await body.text() }
}

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

type Line = Readonly<Record<string, unknown>>

/** What a log has got so far, and waits for the line of an event that comes for the `count`th time. */
export interface LogReader {
  readonly lines: () => Line[]
  readonly until: (event: string, count?: number) => Promise<Line>
}

/** A log that tests read. */
export function readableLog(): LogReader & { readonly log: JsonLog } {
  const stream = new PassThrough()
  const log = new JsonLog(stream)
  return { log, ...readLog(stream, () => log.flush()) }
}

/** @param flush is called before each look at the lines */
export function readLog(stream: Readable, flush: () => void = () => {}): LogReader {
  let text = ''
  stream.setEncoding('utf8').on('data', (chunk) => {
    text += chunk
  })
  const lines = (): Line[] => {
    flush()
    return text
      .split('\n')
      .slice(0, -1)
      .map((line) => JSON.parse(line))
  }
  const until = async (event: string, count = 1): Promise<Line> => {
    for (const start = performance.now(); performance.now() - start < 120_000; await delay(5)) {
      const found = lines().filter((line) => line.event === event)[count - 1]
      if (found !== undefined) return found
    }
    throw new Error(`no ${event} in: ${text}`)
  }
  return { lines, until }
}

export interface Service extends Omit<Running, 'stop'>, LogReader {
  readonly stop: (signal?: StopSignal) => Promise<void>
  readonly origin: string
}

/** Starts a service in this process. It is stopped at the end of the test, or of the file with `afterAll`. */
export async function serve(
  folder: string,
  settings: Partial<ServeSettings> = {},
  atEnd: (stop: () => Promise<void>) => void = onTestFinished,
): Promise<Service> {
  const { database, keys } = writeFiles(folder)
  const { log, ...reader } = readableLog()
  const running = await startService(
    {
      ...serveSettings({ port: 0, db: [database], keys, plan: AMPLE, trustedProxies: ['loopback'] }),
      drainSeconds: 0,
      graceSeconds: 1,
      ...settings,
    },
    log,
  )
  atEnd(() => running.stop('SIGINT'))
  return {
    ...running,
    stop: (signal = 'SIGINT') => running.stop(signal),
    origin: `http://127.0.0.1:${running.port}`,
    ...reader,
  }
}
