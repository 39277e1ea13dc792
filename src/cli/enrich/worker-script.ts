import { Worker } from 'node:worker_threads'

/**
 * Starts a worker. In the built command line its script stands beside this file's; in the source it is
 * TypeScript, which a thread of Node 20 learns to read only once it runs.
 */
export function startWorker(): Worker {
  if (!import.meta.url.endsWith('.ts')) {
    return new Worker(new URL('./cli-enrich-worker.js', import.meta.url))
  }
  const script = JSON.stringify(new URL('./worker.ts', import.meta.url).href)
  const learn = `import('tsx/esm/api').then(({ register }) => { register(); return import(${script}) })`
  return new Worker(learn, { eval: true })
}
