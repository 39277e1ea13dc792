import { createWriteStream, existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { gunzipSync } from 'node:zlib'
import { beforeAll, describe, expect, it } from 'vitest'
import { effort } from '../../effort.ts'
import { outcomeOf, start } from './child.ts'
import { ndjson, workspace } from './command-line.ts'

const { folder: base, DB, freshFolder } = workspace()
/** Large enough that a run is still under way when it is killed. */
const LARGE = join(base, 'large.ndjson')
const LINES = 400_000
/** Runs that are killed. */
const KILLS = effort({ short: 4, long: 12 })

beforeAll(async () => {
  const file = createWriteStream(LARGE)
  for (let from = 0; from < LINES; from += 20_000) file.write(ndjson(20_000, from))
  await new Promise<void>((resolve) => file.end(resolve))
})

/** Waits until a run has begun its output. */
async function untilBegun(folder: string): Promise<void> {
  const end = Date.now() + 20_000
  while (readdirSync(folder).length === 0) {
    if (Date.now() > end) throw new Error('nothing was written')
    await pause(5)
  }
}

describe('geofix enrich, on a signal', () => {
  it.each([
    ['SIGINT', 130, '1'],
    ['SIGINT', 130, '2'],
    ['SIGTERM', 143, '2'],
    ['SIGHUP', 129, '1'],
  ] as const)(
    '%s ends it with %i, on %s threads: it prints its progress, and leaves no file',
    async (signal, status, threads) => {
      const folder = freshFolder()
      // Standard input stays open: the run is under way for as long as it is left alone.
      const output = ['-o', join(folder, 'out.ndjson')]
      const child = start(['enrich', '--db', DB, '--threads', threads, '--quiet', ...output])
      const ended = outcomeOf(child)
      child.stdin.write(ndjson(60_000))
      await untilBegun(folder)
      await pause(300)
      child.kill(signal)
      const outcome = await ended
      expect(outcome.status).toBe(status)
      expect(outcome.err).toMatch(
        new RegExp(`^geofix: interrupted by ${signal} after [\\d,]+ lines?, .* read\\n$`),
      )
      expect(readdirSync(folder)).toEqual([])
    },
  )

  it('stops while nobody reads its output', async () => {
    const child = start(['enrich', '--db', DB, '--quiet', LARGE])
    // The first bytes show that it is under way; then nobody reads on.
    await new Promise((resolve) => child.stdout.once('readable', resolve))
    child.kill('SIGINT')
    const status = await new Promise((resolve) => child.on('exit', resolve))
    child.stdout.destroy()
    expect(status).toBe(130)
  })

  it('ends at once on a second signal', async () => {
    const folder = freshFolder()
    const child = start(['enrich', '--db', DB, '--quiet', '-o', join(folder, 'out.gz')])
    const ended = outcomeOf(child)
    child.stdin.write(ndjson(1000))
    await untilBegun(folder)
    child.kill('SIGINT')
    child.kill('SIGINT')
    expect((await ended).status).toBe(130)
    expect(readdirSync(folder)).toEqual([])
  })

  it('leaves a complete output file or none after SIGKILL at any moment', async () => {
    let whole = 0
    for (let attempt = 0; attempt < KILLS; attempt++) {
      const folder = freshFolder()
      const output = join(folder, attempt % 2 === 0 ? 'out.ndjson' : 'out.ndjson.gz')
      const child = start(['enrich', '--db', DB, '--quiet', '-o', output, LARGE])
      const ended = outcomeOf(child)
      // At once, and then from before the first byte to some time past the last, at random and over the whole of it.
      const moment = pause(attempt === 0 ? 0 : ((attempt + Math.random()) * 2400) / KILLS)
      await Promise.race([moment, ended])
      child.kill('SIGKILL')
      const { status } = await ended
      // The file gets its name when it is whole; the process can still be killed then.
      if (status === 0 || existsSync(output)) {
        whole++
        const bytes = readFileSync(output)
        const text = (attempt % 2 === 0 ? bytes : gunzipSync(bytes)).toString()
        expect(text.endsWith('\n')).toBe(true)
        expect(text.split('\n').length - 1).toBe(LINES)
      }
    }
    // Not all of them came too late.
    expect(whole).toBeLessThan(KILLS)
  })
})
