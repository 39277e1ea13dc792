// Runs in a process of its own, bundled to plain JavaScript as the package is: `worker.js JOB ARGUMENT...`. A job
// loads nothing of the others, which would count as its memory.

type Job = (...texts: string[]) => Promise<void>

const JOBS: Readonly<Record<string, () => Promise<Job>>> = {
  allocation: async () => (await import('./allocation.ts')).measureAllocation,
  'event-loop': async () => (await import('./event-loop.ts')).measureEventLoop,
  'first-pass': async () => (await import('./first-pass.ts')).measureFirstPass,
  memory: async () => (await import('./memory.ts')).measureMemory,
  opening: async () => (await import('./opening.ts')).measureOpening,
  rounds: async () => (await import('./rounds.ts')).serveRounds,
}

const [name = '', ...texts] = process.argv.slice(2)
const load = JOBS[name]
if (load === undefined) throw new Error(`there is no job "${name}"`)
const job = await load()
await job(...texts)

export {}
