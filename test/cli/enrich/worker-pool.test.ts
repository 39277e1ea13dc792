import { expect, it, onTestFinished } from 'vitest'
import { openDatabases } from '../../../src/cli/databases.ts'
import { WorkerPool } from '../../../src/cli/enrich/worker-pool.ts'
import '../../../src/enrich/formats/all-formats.ts'
import { BadLineError } from '../../../src/enrich/errors.ts'
import { makePlan, type Plan } from '../../../src/enrich/formats/formats.ts'
import type { Block } from '../../../src/enrich/reading/splitter.ts'
import { shareDatabases } from '../../../src/location/shared-databases.ts'
import { ndjson, workspace } from './command-line.ts'

const { DB } = workspace()
const memory = new SharedArrayBuffer(100_000)

function blockOf(text: string): Block {
  return { bytes: Buffer.from(text), isHead: false, oversized: false, startsLine: true }
}

function planOf(onBadLine: 'keep' | 'fail'): Plan {
  return makePlan(
    { bytes: Buffer.from(ndjson(1)), isWhole: true },
    { format: 'ndjson', field: 'ip', onBadLine },
  ).plan
}

function poolOf(threads: number): WorkerPool {
  const pool = new WorkerPool(threads)
  onTestFinished(() => pool.stop())
  return pool
}

it.each([
  ['a block comes before its plan', false, 'a block came before its plan'],
  ['it cannot open the database', true, 'x.mmdb: '],
])('a pool of worker threads fails if a thread ends, because %s', async (_, isPlanned, message) => {
  const pool = poolOf(2)
  const damaged = { bytes: new Uint8Array(new SharedArrayBuffer(10)), path: 'x.mmdb' }
  if (isPlanned) pool.usePlan(planOf('keep'), { geofix: 1, databases: [damaged] })
  const failure = expect.objectContaining({
    message: expect.stringContaining(`a worker thread failed: ${message}`),
  })
  await expect(pool.enrich(blockOf(ndjson(3)), memory)).rejects.toEqual(failure)
  // Not busy, or the caller would enrich all further blocks itself.
  expect(pool.isBusy).toBe(false)
  await expect(pool.enrich(blockOf(ndjson(3)), memory)).rejects.toEqual(failure)
})

it('a worker thread answers each plan, block and request for counts, in order', async () => {
  const { shared } = shareDatabases(await openDatabases([DB], false, { isWhole: true }))
  const pool = poolOf(1)
  pool.usePlan(planOf('fail'), shared)
  const answer = await pool.enrich(blockOf(ndjson(3)), memory)
  expect(answer).toMatchObject({ counts: { lines: 3, resolved: 2 }, rest: null })
  const { output } = answer
  expect(Buffer.from(output).toString()).toContain('London')
  // The output is in the memory that was given for it.
  expect(output.buffer).toBeInstanceOf(SharedArrayBuffer)
  expect(new Uint8Array(memory, 0, output.length)).toEqual(output)
  // One that is larger than its memory comes in memory of its own.
  for (let times = 0; times < 2; times++) {
    const longer = await pool.enrich(blockOf(ndjson(3)), new SharedArrayBuffer(10))
    expect(longer).toEqual({ ...answer, output: new Uint8Array(output) })
  }
  // The locations of all three, once.
  const counted = async () =>
    (await pool.locationCounts()).map(({ lines, parts }) => [lines, parts?.map(({ counts }) => [...counts])])
  expect(await counted()).toEqual([[0, [[3, 3]]]])
  expect(await counted()).toEqual([])

  const bad = pool.enrich(blockOf(`${ndjson(2)}bad`), memory)
  await expect(bad).rejects.toBeInstanceOf(BadLineError)
  await expect(bad).rejects.toMatchObject({ line: 3 })
  pool.usePlan(planOf('keep'), shared)
  expect((await pool.enrich(blockOf('bad\n'), memory)).counts.bad).toBe(1)
})
