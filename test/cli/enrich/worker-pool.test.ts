import { expect, it, onTestFinished } from 'vitest'
import { openDatabases } from '../../../src/cli/databases.ts'
import { WorkerPool } from '../../../src/cli/enrich/worker-pool.ts'
import '../../../src/enrich/formats/all-formats.ts'
import { BadLineError } from '../../../src/enrich/errors.ts'
import { makePlan } from '../../../src/enrich/formats/formats.ts'
import { shareDatabases } from '../../../src/location/shared-databases.ts'
import { ndjson, workspace } from './command-line.ts'

const { DB } = workspace()

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

it('a pool of worker threads fails with the class and the line of a bad line, and goes on', async () => {
  const { plan } = makePlan(Buffer.from(ndjson(1)), true, {
    format: 'ndjson',
    field: 'ip',
    onBadLine: 'fail',
  })
  const memory = new SharedArrayBuffer(100_000)
  const pool = new WorkerPool(1)
  onTestFinished(() => pool.stop())
  pool.usePlan(plan, shareDatabases(await openDatabases([DB], false, { isWhole: true })).shared)
  const enrich = (content: string) => {
    const bytes = new Uint8Array(Buffer.from(content))
    return pool.enrich({ bytes, isHead: false, oversized: false, startsLine: true }, memory)
  }
  const bad = enrich(`${ndjson(2)}bad`)
  await expect(bad).rejects.toBeInstanceOf(BadLineError)
  await expect(bad).rejects.toMatchObject({ line: 3 })
  expect((await enrich(ndjson(1))).counts.resolved).toBe(1)
})
