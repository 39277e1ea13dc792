import proxyAddr from '@fastify/proxy-addr'
import { createClientAddress, isGeofixError } from '../../src/index.ts'
import { compare } from './compare.ts'

const TIMES = 5_000
const trustedProxies = ['10.0.0.0/8']
const remoteAddress = '10.0.0.1'

/** What callers can make a trusted proxy hand on, each of 8 KB: all of it must cost microseconds. */
const HOSTILE: Record<string, string> = {
  'no proxy, 8 KB of header': '1.1.1.1, '.repeat(900),
  "8 KB of the caller's text left of the answer": `${'1.1.1.1, '.repeat(900)}8.8.8.8`,
  '8 KB of trusted hops': `${'10.0.0.2, '.repeat(800)}10.0.0.3`,
  '8 KB without a comma': `${'1:'.repeat(4000)}1`,
  '8 KB of commas': ','.repeat(8191),
}

/** How long hostile fields keep `detect` busy, before any database is asked. */
export function benchDetect(): void {
  const ours = createClientAddress({ trustedProxies })
  for (const [title, field] of Object.entries(HOSTILE)) {
    const peer = title.startsWith('no proxy') ? '8.8.8.8' : remoteAddress
    const headers = { 'x-forwarded-for': field }
    const socket = { remoteAddress: peer }
    const request = { headers, socket, connection: socket }
    compare(title, TIMES, [
      { name: 'createClientAddress', run: () => repeat(() => ours(request)) },
      {
        name: '@fastify/proxy-addr',
        run: () => repeat(() => Reflect.apply(proxyAddr, undefined, [request, trustedProxies])),
      },
    ])
  }
}

function repeat(ask: () => unknown): void {
  for (let i = 0; i < TIMES; i++) {
    try {
      ask()
    } catch (error) {
      if (!isGeofixError(error) && !(error instanceof TypeError)) throw error
    }
  }
}
