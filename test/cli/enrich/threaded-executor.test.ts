import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { openDatabases } from '../../../src/cli/databases.ts'
import { ThreadedExecutor, workersFor } from '../../../src/cli/enrich/threaded-executor.ts'
import { BlockEnricher } from '../../../src/enrich/block-enricher.ts'
import { emptyCounts, mergeCounts } from '../../../src/enrich/counting/counts.ts'
import { BadLineError } from '../../../src/enrich/errors.ts'
import { LocalExecutor, OrderedQueue } from '../../../src/enrich/executor.ts'
import '../../../src/enrich/formats/all-formats.ts'
import { type EnrichOptions, layoutOf, makePlan } from '../../../src/enrich/formats/formats.ts'
import { Splitter, sampleBlocks } from '../../../src/enrich/reading/splitter.ts'
import { DatabaseSet } from '../../../src/location/database-set.ts'
import { shareDatabases } from '../../../src/location/shared-databases.ts'
import { Database } from '../../../src/mmdb/database.ts'
import { pack } from '../../../src/packed/pack.ts'
import { sampled } from '../../effort.ts'
import { counted } from '../../enrich/counted.ts'
import { LONG_ANSWERS } from '../../enrich/long-answers.ts'
import { makeFile } from '../../temporary.ts'
import { failure, ndjson, words, workspace } from './command-line.ts'

const { folder, DB, enrich } = workspace()

/** What differs between formats is where lines and records end. */
const INPUTS = {
  ndjson: `${ndjson(3000)}bad\n\n${ndjson(2000, 3000).trimEnd()}`,
  csv: `n,ip,text\r\n${Array.from({ length: 3000 }, (_, n) => `${n},1.2.3.${n % 256},"a ""b""\r\n, ${n}"\r\n`).join('')}1,2\r\n`,
}

/** Sends an input through an executor in blocks of a size. */
async function enriched(
  database: string,
  input: string,
  options: EnrichOptions,
  threads: number,
  blockBytes: number,
) {
  const bytes = new TextEncoder().encode(input)
  const { plan } = makePlan({ bytes, isWhole: true }, { at: 0, ...options })
  const workers = await workersFor(threads, new AbortController().signal)
  const set = await openDatabases([database], false, { isWhole: true })
  const executor = new ThreadedExecutor(shareDatabases(set).shared, workers)
  let linesBefore = 0
  try {
    executor.usePlan(plan, new BlockEnricher(plan, set))
    // Wait until the thread is ready; this thread would otherwise do all the work before.
    while (workers?.isBusy) await new Promise((resolve) => setTimeout(resolve, 5))
    const pieces: Uint8Array[] = []
    const counts = emptyCounts()
    const queue = new OrderedQueue(executor, async (result) => {
      // Some results are slow to be taken: the order must not change.
      if (pieces.length % 3 === 0) await new Promise((resolve) => setImmediate(resolve))
      pieces.push(result.output.slice())
      mergeCounts(counts, result.counts, linesBefore)
      linesBefore += result.lines
    })
    const splitter = new Splitter(layoutOf(plan), blockBytes, executor.allocate)
    for (const block of sampleBlocks({ bytes, isWhole: true }, layoutOf(plan), splitter))
      await queue.add(block)
    await queue.drain()
    const [own, ...threads] = await executor.locationCounts()
    counted(plan, counts, { locationCounts: () => own ?? emptyCounts() }, ...threads)
    const { threads: used, capacity } = executor
    const largest = Math.max(...pieces.map(({ length }) => length))
    return { output: Buffer.concat(pieces).toString(), counts, threads: used, largest, capacity }
  } catch (error) {
    throw error instanceof BadLineError ? new BadLineError(error.line + linesBefore, error.fault) : error
  } finally {
    executor.stop()
  }
}

it('refuses a block before a plan', async () => {
  const executor = new ThreadedExecutor(null, null)
  const block = { bytes: new Uint8Array(1), isHead: false, oversized: false, startsLine: true }
  await expect(executor.enrich(block)).rejects.toThrow('a block came before its plan')
})

it.each([new ThreadedExecutor(null, null), new LocalExecutor()])(
  'gives the memory of a block again for one of its size, and not while it has a rest: %o',
  async (executor) => {
    const memory = executor.allocate(executor.blockBytes)
    const size = memory.length - (memory.length % 8)
    memory.set(Buffer.from('1.2.3.4\n'.repeat(size / 8)))
    const bytes = memory.subarray(0, size)
    const { plan } = makePlan({ bytes: bytes.subarray(0, 800), isWhole: false }, { format: 'list', at: 0 })
    const set = new DatabaseSet([new Database(LONG_ANSWERS)])
    executor.usePlan(plan, new BlockEnricher(plan, set))
    const { rest } = await executor.enrich({ bytes, isHead: false, oversized: false, startsLine: true })
    expect(rest).not.toBe(null)
    const other = executor.allocate(executor.blockBytes)
    expect(other.buffer).not.toBe(memory.buffer)
    const done = { bytes: other.subarray(0, 0), isHead: false, oversized: false, startsLine: true }
    expect((await executor.enrich(done)).rest).toBe(null)
    const [once, again] = [1, 2].map(() => executor.allocate(executor.blockBytes).buffer)
    expect([once === other.buffer, again === other.buffer]).toEqual([true, false])
    expect((await executor.enrich(done)).rest).toBe(null)
    expect(executor.allocate(executor.blockBytes + 1)).toHaveLength(executor.blockBytes + 1)
  },
)

describe('several threads', () => {
  it.each(Object.entries(INPUTS))(
    'give the same output and counts as one, for %s in blocks of any size',
    async (_, input) => {
      const alone = await enriched(DB, input, { details: true }, 1, 1 << 20)
      expect(alone.threads).toBe(1)
      expect(alone.counts.resolved).toBeGreaterThan(1000)
      const ways = [
        [2, 1 << 20],
        [2, 1000],
        [3, 7777],
      ] as const
      for (const [count, blockBytes] of sampled(ways, 1)) {
        const many = await enriched(DB, input, { details: true }, count, blockBytes)
        expect(many.threads).toBe(count)
        expect(many.output).toBe(alone.output)
        expect(many.counts).toEqual(alone.counts)
      }
    },
  )

  it('give the same with a packed database, whose decoded blocks they share', async () => {
    const path = makeFile(join(folder, 'a.packed'), pack(readFileSync(DB)))
    const input = ndjson(3000)
    const alone = await enriched(DB, input, {}, 1, 20_000)
    const many = await enriched(path, input, {}, 3, 20_000)
    expect([many.threads, many.output]).toEqual([3, alone.output])
  })

  it('write blocks with long answers in several parts, in order', async () => {
    const file = makeFile(join(folder, 'long-answers.mmdb'), LONG_ANSWERS)
    const input = Array.from({ length: 4000 }, (_, n) => `1.2.${n >> 8}.${n % 256}\n`).join('')
    for (const count of sampled([3, 1], 1)) {
      const run = await enriched(file, input, {}, count, 20_000)
      expect(run.threads).toBe(count)
      expect(run.counts).toMatchObject({ lines: 4000, resolved: 4000 })
      expect(run.largest).toBeGreaterThan(16_000_000)
      expect(run.largest).toBeLessThan(17_000_000)
      // One for each thread, and one that is written.
      expect(run.capacity).toBe(count + 1)
      const addresses = [...run.output.matchAll(/^\{"ip":"([\d.]+)"/gm)].map(([, ip]) => `${ip}\n`)
      expect(addresses.join('')).toBe(input)
    }
  })

  it('fail at the first bad line, even if another thread finds a later one first', async () => {
    const input = `${ndjson(500)}bad\n${ndjson(500)}bad\n`
    const run = enriched(DB, input, { onBadLine: 'fail' }, 3, 500)
    await expect(run).rejects.toThrow(BadLineError)
    await expect(run).rejects.toMatchObject({ line: 501 })
  })

  it('have the number of --threads, which --stats prints', async () => {
    for (const threads of [1, 2]) {
      const { err } = await enrich(words`--quiet --stats json --threads ${String(threads)}`, ndjson(10))
      expect(JSON.parse(err).threads).toBe(threads)
    }
  })

  it('fail as one does if a database has no locations', async () => {
    const ran = await enrich(words`--db /dev/null --threads 2`, ndjson(1))
    expect(ran).toEqual(failure(1, '/dev/null'))
  })
})
