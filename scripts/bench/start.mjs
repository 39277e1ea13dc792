// What it costs to start with a library, in a new process each time: `start.mjs JOB LIBRARY MODULE DATABASE`. Plain
// JavaScript on the built package, as programs use it.
import { readFileSync } from 'node:fs'
import { memoryUsage } from 'node:process'
import { setTimeout as delay } from 'node:timers/promises'
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads'
import { load, open, randomAddresses } from './libraries.mjs'

const ADDRESS = '81.2.69.142'
const WORKERS = 4
const MARGIN_MS = 200
const SETTLE_MS = 1000

const JOBS = {
  /** Processor time of loading the code, in milliseconds. */
  async import(library, module) {
    const before = process.cpuUsage()
    await load(library, module)
    const { user, system } = process.cpuUsage(before)
    return (user + system) / 1e3
  },

  /** The longest turn of the event loop until the first answer, in milliseconds. */
  async block(...args) {
    let [longest, last, isRunning] = [0, performance.now(), true]
    const look = () => {
      const now = performance.now()
      longest = Math.max(longest, now - last)
      last = now
      if (isRunning) setImmediate(look)
    }
    look()
    await delay(MARGIN_MS)
    const find = await open(...args)
    await find(ADDRESS)
    await delay(MARGIN_MS)
    isRunning = false
    return longest
  },

  /** Resident memory that a worker thread adds with some random lookups, in megabytes. */
  async worker(library, module, database, lookups) {
    const shared = library === 'geofix' ? (await open(library, module, database)).share() : undefined
    await delay(SETTLE_MS)
    const before = memoryUsage.rss()
    for (let seed = 0; seed < WORKERS; seed++) {
      const worker = new Worker(new URL(import.meta.url), {
        workerData: { library, module, database, lookups: Number(lookups), seed, shared },
      })
      await new Promise((resolve, reject) => worker.once('message', resolve).once('error', reject))
    }
    await delay(SETTLE_MS)
    return (memoryUsage.rss() - before) / WORKERS / 1e6
  },

  /**
   * Heap and buffers after some random lookups, in megabytes: what the limit of an isolate at the edge counts. As there,
   * the database is given as bytes to the module without Node. Needs `--expose-gc`.
   */
  async isolate(_, module, database, lookups, cacheBytes) {
    // V8 does not count shared memory. Without it, all of a database is in buffers that count.
    delete globalThis.SharedArrayBuffer
    const { Resolver } = await load('geofix', module)
    const geo = await Resolver.open(readFileSync(database), { cacheBytes: Number(cacheBytes) })
    const next = randomAddresses(0)
    for (let count = 0; count < lookups; count++) geo.find(next())
    // The buffers of a collection are freed after it, by another thread.
    for (let turn = 0; turn < 3; turn++) {
      globalThis.gc()
      await delay(MARGIN_MS)
    }
    const { heapUsed, external } = memoryUsage()
    if (geo.find(ADDRESS) === null) throw new Error(`${ADDRESS} is not found`)
    return (heapUsed + external) / 1e6
  },
}

async function work({ library, module, database, lookups, seed, shared }) {
  const next = randomAddresses(seed)
  // An empty worker has no library.
  const find = library === 'none' ? null : await open(library, module, database, shared)
  for (let count = 0; count < lookups; count++) {
    await find?.(next())
  }
  parentPort.postMessage('done')
  // Stays until the process ends.
  setInterval(() => find, 1e9)
}

if (isMainThread) {
  const [job, ...args] = process.argv.slice(2)
  console.log(JSON.stringify(await JOBS[job](...args)))
  process.exit()
} else {
  await work(workerData)
}
