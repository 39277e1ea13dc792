// What it costs to start with a library, in a new process each time: `start.mjs JOB LIBRARY MODULE DATABASE`. Plain
// JavaScript on the built package, as programs use it.
import { createRequire } from 'node:module'
import { memoryUsage } from 'node:process'
import { setTimeout as delay } from 'node:timers/promises'
import { pathToFileURL } from 'node:url'
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads'

const ADDRESS = '81.2.69.142'
const WORKERS = 4
const MARGIN_MS = 200
const SETTLE_MS = 1000

/** Loads a library. Those of CommonJS are loaded as their programs do. */
const load = (library, module) =>
  library === 'geofix' ? import(pathToFileURL(module)) : createRequire(import.meta.url)(module)

/** Opens a library, and gives its function for one address. */
async function open(library, module, database, shared) {
  const loaded = await load(library, module)
  switch (library) {
    case 'geofix': {
      const geo = shared === undefined ? await loaded.Resolver.open(database) : loaded.Resolver.attach(shared)
      return Object.assign((ip) => geo.find(ip), { share: () => geo.share() })
    }
    case 'maxmind': {
      const reader = await loaded.open(database)
      return (ip) => reader.get(ip)
    }
    default:
      return (ip) => loaded.lookup(ip)
  }
}

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
}

async function work({ library, module, database, lookups, seed, shared }) {
  let state = seed + 1
  const octet = () => {
    state = (Math.imul(state, 1103515245) + 12345) >>> 0
    return (state >>> 16) & 255
  }
  // An empty worker has no library.
  const find = library === 'none' ? null : await open(library, module, database, shared)
  for (let count = 0; count < lookups; count++) {
    await find?.(`${(octet() % 223) + 1}.${octet()}.${octet()}.${octet()}`)
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
