import { expect, it, onTestFinished } from 'vitest'
import { WorkerPool } from '../../../src/cli/enrich/worker-pool.ts'
import '../../../src/enrich/formats/all-formats.ts'
import { makePlan } from '../../../src/enrich/formats/formats.ts'
import { ndjson } from './command-line.ts'

it('a pool of worker threads fails with a clear error when a thread does, or dies', async () => {
  const bytes = new Uint8Array(Buffer.from(ndjson(100)))
  const { plan } = makePlan(bytes, true, {})
  const block = { bytes, isHead: false, oversized: false, startsLine: true }
  const memory = new SharedArrayBuffer(100_000)
  const pool = new WorkerPool(2)
  onTestFinished(() => pool.stop())
  const early = 'a worker thread failed: a block came before its plan'
  await expect(pool.enrich(block, memory)).rejects.toThrow(early)
  // A thread ends when it cannot open the database.
  const damaged = { bytes: new Uint8Array(new SharedArrayBuffer(10)), path: 'x.mmdb' }
  pool.usePlan(plan, { geofix: 1, databases: [damaged] })
  const failure = expect.objectContaining({
    message: expect.stringMatching(/^a worker thread failed: x\.mmdb/),
  })
  await expect(pool.enrich(block, memory)).rejects.toEqual(failure)
  // Not busy, or the caller would enrich all further blocks itself.
  expect(pool.isBusy).toBe(false)
  await expect(pool.enrich(block, memory)).rejects.toEqual(failure)
})
