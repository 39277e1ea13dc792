import { createRequire } from 'node:module'
import proxyAddr from '@fastify/proxy-addr'
import { createClientAddress } from '../../../src/index.ts'
import { each, type Work } from './pass.ts'

const trustedProxies = ['10.0.0.0/8']
const TIMES = 100

/** What callers can make a trusted proxy hand on, each of 8 KB: all of it must cost microseconds. */
const FIELDS: Readonly<Record<string, string>> = {
  'no proxy': '1.1.1.1, '.repeat(900),
  'text left of the answer': `${'1.1.1.1, '.repeat(900)}8.8.8.8`,
  'trusted hops': `${'10.0.0.2, '.repeat(800)}10.0.0.3`,
  'no comma': `${'1:'.repeat(4000)}1`,
  commas: ','.repeat(8191),
}

/**
 * How long a hostile field keeps `detect` busy, before any database is asked.
 *
 * @param name `hostile:`, the implementation, `:` and the field
 */
export function hostileField(name: string): { version: string | null; work: Work } {
  const [, implementation = '', field = ''] = name.split(':')
  const remoteAddress = field === 'no proxy' ? '8.8.8.8' : '10.0.0.1'
  const socket = { remoteAddress }
  const request = { headers: { 'x-forwarded-for': FIELDS[field] }, socket, connection: socket }
  const requests = Array.from({ length: TIMES }, () => request)
  if (implementation === 'geofix') {
    const clientAddress = createClientAddress({ trustedProxies })
    return { version: null, work: each(requests, (given) => clientAddress(given)) }
  }
  const { version }: { version: string } = createRequire(import.meta.url)('@fastify/proxy-addr/package.json')
  const ask = (given: unknown) => Reflect.apply(proxyAddr, undefined, [given, trustedProxies])
  return { version: `@fastify/proxy-addr ${version}`, work: each(requests, ask) }
}
