import { readFileSync } from 'node:fs'
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { setTimeout } from 'node:timers/promises'
import { promisify } from 'node:util'
import { gunzip, gunzipSync } from 'node:zlib'
import { Reader } from 'mmdb-lib'
import { Resolver } from '../../../src/index.ts'
import { answer, each, readAddresses } from './pass.ts'

/** Measures once how long a compressed database takes until its first lookup, or decompression alone. */
export async function measureOpening(how = '', path = '', address = ''): Promise<void> {
  if (how === 'open') {
    const started = performance.now()
    const geo = await Resolver.open(path)
    geo.lookup(address)
    answer({ milliseconds: performance.now() - started })
    return
  }
  const bytes = readFileSync(path)
  const started = performance.now()
  if (how === 'gunzipSync') gunzipSync(bytes)
  else await promisify(gunzip)(bytes)
  answer({ milliseconds: performance.now() - started })
}

/**
 * Measures the first pass over a list, with empty caches. Another reader of the same bytes warms up the compiler with
 * other addresses.
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

/** Before and after opening, to warm up the clocks and to include what follows. */
const MARGIN_MS = 200

/**
 * Measures how long the event loop was blocked at most while a database was opened, or while idle; and the duration of
 * the first lookup, when the platform loads its time zones.
 */
export async function measureEventLoop(how = '', path = '', address = ''): Promise<void> {
  const histogram = monitorEventLoopDelay({ resolution: 1 })
  let longest = 0
  let last = performance.now()
  let running = true
  const look = (): void => {
    const now = performance.now()
    longest = Math.max(longest, now - last)
    last = now
    if (running) setImmediate(look)
  }
  await setTimeout(MARGIN_MS)
  histogram.enable()
  last = performance.now()
  look()
  await setTimeout(MARGIN_MS)
  const geo = how === 'open' ? await Resolver.open(path) : null
  await setTimeout(MARGIN_MS)
  running = false
  histogram.disable()
  const started = performance.now()
  geo?.lookup(address)
  answer({ longest, histogram: histogram.max / 1e6, firstLookup: performance.now() - started })
}

const WARM_UP_PASSES = 20

/**
 * Measures the bytes that a lookup allocates after warm-up. Needs `--expose-gc`, and room for young objects, so that the
 * garbage collector does not run in between.
 */
export async function measureAllocation(database = '', list = ''): Promise<void> {
  const collect = globalThis.gc
  if (collect === undefined) throw new Error('start node with --expose-gc')
  const geo = await Resolver.open(database)
  const addresses = readAddresses(list)
  const { pass } = each(addresses, (ip) => geo.lookup(ip))
  for (let time = 0; time < WARM_UP_PASSES; time++) pass(0, addresses.length)
  collect()
  const before = process.memoryUsage().heapUsed
  const found = pass(0, addresses.length)
  answer({ bytes: (process.memoryUsage().heapUsed - before) / addresses.length, found })
}
