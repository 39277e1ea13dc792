import { describe, expect, it, onTestFinished } from 'vitest'
import { openForThreads } from '../../../src/cli/databases.ts'
import { WorkerPool } from '../../../src/cli/enrich/worker-pool.ts'
import { BadLineError } from '../../../src/enrich/errors.ts'
import '../../../src/enrich/formats/all-formats.ts'
import { layoutOf, makePlan } from '../../../src/enrich/formats/formats.ts'
import { Splitter } from '../../../src/enrich/reading/splitter.ts'
import { shareDatabases } from '../../../src/location/shared-databases.ts'
import { ndjson, workspace } from './command-line.ts'

const { DB } = workspace()
const memory = new SharedArrayBuffer(100_000)

const plan = makePlan(Buffer.from(ndjson(1)), true, { format: 'ndjson', field: 'ip', onBadLine: 'fail' }).plan
const blockOf = (content: string) => {
  const bytes = new Uint8Array(Buffer.from(content))
  return { bytes, isHead: false, oversized: false, startsLine: true }
}

describe('a pool of worker threads', () => {
  it('restores the classes of errors', async () => {
    const pool = new WorkerPool(1)
    onTestFinished(() => pool.stop())
    await expect(pool.enrich(blockOf(ndjson(1)), memory)).rejects.toThrow(
      'a worker thread failed: a block came before its plan',
    )
    pool.usePlan(plan, shareDatabases(await openForThreads([DB])).shared)
    const bad = pool.enrich(blockOf('bad'), memory)
    await expect(bad).rejects.toBeInstanceOf(BadLineError)
    await expect(bad).rejects.toMatchObject({ line: 1 })
    expect((await pool.enrich(blockOf(ndjson(1)), memory)).counts.resolved).toBe(1)
  })

  it('fails with a clear error when a thread dies', async () => {
    const bytes = new TextEncoder().encode(ndjson(100))
    const { plan } = makePlan(bytes, true, {})
    // A thread ends when it cannot open the database.
    const pool = new WorkerPool(2)
    onTestFinished(() => pool.stop())
    const damaged = { bytes: new Uint8Array(new SharedArrayBuffer(10)), path: 'x.mmdb' }
    pool.usePlan(plan, { geofix: 1, databases: [damaged] })
    const [block] = new Splitter(layoutOf(plan), 1000).push(bytes)
    if (block === undefined) throw new Error('there is no block')
    const failure = expect.objectContaining({
      message: expect.stringMatching(/^a worker thread failed: x\.mmdb/),
    })
    await expect(pool.enrich(block, memory)).rejects.toEqual(failure)
    // Not busy, or the caller would enrich all further blocks itself.
    expect(pool.isBusy).toBe(false)
    await expect(pool.enrich(block, memory)).rejects.toEqual(failure)
  })
})
