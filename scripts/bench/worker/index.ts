// Runs in its own process, bundled to plain JavaScript: `worker.mjs JOB ARGUMENT...`. Jobs are imported dynamically, so
// that the code of other jobs does not count as memory.

type Job = (...texts: string[]) => Promise<void>

const JOBS: Readonly<Record<string, () => Promise<Job>>> = {
  allocation: async () => (await import('./single-runs.ts')).measureAllocation,
  'event-loop': async () => (await import('./single-runs.ts')).measureEventLoop,
  'first-pass': async () => (await import('./single-runs.ts')).measureFirstPass,
  memory: async () => (await import('./memory.ts')).measureMemory,
  opening: async () => (await import('./single-runs.ts')).measureOpening,
  rounds: async () => (await import('./contender.ts')).serveRounds,
}

const [name = '', ...texts] = process.argv.slice(2)
const load = JOBS[name]
if (load === undefined) throw new Error(`unknown job "${name}"`)
const job = await load()
await job(...texts)

export {}
