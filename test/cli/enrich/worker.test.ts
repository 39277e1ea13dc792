// The script of a worker thread, in this thread: what it answers to each order. Whole runs: pool.test.ts.
import { setImmediate } from 'node:timers/promises'
import { expect, it, vi } from 'vitest'
import { openDatabases } from '../../../src/cli/databases.ts'
import type { WorkerReply, WorkerRequest } from '../../../src/cli/enrich/worker-pool.ts'
import { emptyCounts } from '../../../src/enrich/counting/counts.ts'
import '../../../src/enrich/formats/all-formats.ts'
import { makePlan } from '../../../src/enrich/formats/formats.ts'
import type { Block } from '../../../src/enrich/reading/splitter.ts'
import { shareDatabases } from '../../../src/location/shared-databases.ts'
import { temporaryFolder } from '../../temporary.ts'
import { ndjson, writeDatabase } from './command-line.ts'

/** The worker's end of the line to the main thread. */
const port = vi.hoisted(() => ({ listen: (_: unknown): void => {}, sent: [] as unknown[][] }))

vi.mock('node:worker_threads', () => ({
  parentPort: {
    on: (_: string, listener: (order: unknown) => void) => {
      port.listen = listener
    },
    postMessage: (...message: unknown[]) => port.sent.push(message),
  },
}))

await import('../../../src/cli/enrich/worker.ts')

async function give(order: WorkerRequest): Promise<WorkerReply | undefined> {
  port.sent.length = 0
  port.listen(order)
  await setImmediate()
  return port.sent[0]?.[0] as WorkerReply | undefined
}

const memory = new SharedArrayBuffer(10_000)

function blockOf(text: string): Block {
  const bytes = new Uint8Array(Buffer.from(text))
  return { bytes, isHead: false, oversized: false, startsLine: true }
}

it('answers each plan, block and request for counts, in order', async () => {
  const block = blockOf(ndjson(3))
  expect(await give({ kind: 'block', block, memory })).toEqual({
    kind: 'failed',
    message: 'a block came before its plan',
  })

  // It has no locations either.
  expect(await give({ kind: 'location-counts' })).toMatchObject({ kind: 'enriched', counts: emptyCounts() })

  const set = await openDatabases([writeDatabase(temporaryFolder())], false, { isWhole: true })
  const databases = shareDatabases(set).shared
  const plan = (onBadLine: 'keep' | 'fail') =>
    makePlan(block.bytes, true, { format: 'ndjson', field: 'ip', onBadLine }).plan
  expect(await give({ kind: 'plan', plan: plan('fail'), databases })).toEqual({ kind: 'ready' })

  const answer = await give({ kind: 'block', block, memory })
  expect(answer).toMatchObject({ kind: 'enriched', counts: { lines: 3, resolved: 2 } })
  if (answer?.kind !== 'enriched') throw new Error('not enriched')
  expect(Buffer.from(answer.output).toString()).toContain('London')
  // The output goes to the main thread without a copy.
  expect(answer.output.buffer).toBe(memory)
  expect(answer.rest).toBeNull()
  // One that is larger than its memory goes in memory of its own.
  const longer = await give({ kind: 'block', block, memory: new SharedArrayBuffer(10) })
  expect(longer).toEqual({ ...answer, output: new Uint8Array(answer.output) })
  // The locations of both, once.
  const locations = await give({ kind: 'location-counts' })
  if (locations?.kind !== 'enriched') throw new Error('not counted')
  const linesOf = (answer: WorkerReply | undefined) =>
    answer?.kind === 'enriched' ? answer.counts.parts?.map(({ counts }) => [...counts]) : null
  expect([locations.counts.lines, linesOf(locations)]).toEqual([0, [[2, 2]]])
  expect(linesOf(await give({ kind: 'location-counts' }))).toEqual([[]])

  expect(await give({ kind: 'block', block: blockOf('{"ip":"1.2.3.4"}\nrubbish\n'), memory })).toEqual({
    kind: 'bad-line',
    line: 2,
    fault: 'it is not a JSON object',
  })
  await give({ kind: 'plan', plan: plan('keep'), databases })
  expect(await give({ kind: 'block', block: blockOf('rubbish\n'), memory })).toMatchObject({
    kind: 'enriched',
    counts: { bad: 1 },
  })
})

it('sends errors as text, because they lose their class between threads', async () => {
  const broken = Object.defineProperty({ ...blockOf('') }, 'bytes', {
    get: () => {
      throw new RangeError('a fault of its own')
    },
  })
  const answer = await give({ kind: 'block', block: broken, memory })
  expect(answer).toMatchObject({ kind: 'failed', message: expect.stringContaining('a fault of its own') })
})
