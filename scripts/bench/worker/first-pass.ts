import { readFileSync } from 'node:fs'
import { Reader } from 'mmdb-lib'
import { Resolver } from '../../../src/index.ts'
import { readAddresses } from './address-file.ts'
import { answer } from './answer.ts'
import { each } from './pass.ts'

/**
 * Times the first pass over a list, when nothing is remembered of the database yet. The compiler is warmed by
 * another reader of the same bytes, which is asked for other addresses.
 */
export async function measureFirstPass(contender = '', database = '', list = '', warmUp = ''): Promise<void> {
  const addresses = readAddresses(list)
  const others = readAddresses(warmUp)
  const bytes = readFileSync(database)
  const open = (): ((ip: string) => unknown) => {
    if (contender === 'mmdb-lib') {
      const reader = new Reader(bytes)
      return (ip) => reader.get(ip)
    }
    const geo = Resolver.openSync(bytes)
    return (ip) => geo.lookup(ip)
  }
  each(others, open()).pass(0, others.length)
  const { pass } = each(addresses, open())
  const started = performance.now()
  const found = pass(0, addresses.length)
  answer({ items: addresses.length, seconds: (performance.now() - started) / 1e3, found })
}
