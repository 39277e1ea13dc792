import { existsSync, readFileSync, rmSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { buildWorker } from '../../../scripts/build-worker.ts'
import { runCampaign, writeFinding } from '../../../scripts/fuzz/campaign.ts'
import { type TargetRun, watchedRun } from '../../../scripts/fuzz/watched-run.ts'
import { decodeSeed, type Seed } from '../../fuzz/seed.ts'
import type { Target } from '../../fuzz/target.ts'
import { temporaryFolder } from '../../temporary.ts'
import { FAULTY_TARGETS } from './faulty-targets.ts'

const folder = temporaryFolder()
const CACHE = join(import.meta.dirname, '../../../.cache')
const LIMITS = { hangMs: 20_000, memory: 2 ** 32 }
const never = new AbortController().signal

let script: string
beforeAll(async () => {
  script = await buildWorker(`faulty-${process.pid}`, join(import.meta.dirname, 'faulty-worker.ts'), CACHE)
})
afterAll(() => rmSync(script))

function targetNamed(name: string): Target {
  const target = FAULTY_TARGETS.find((each) => each.name === name)
  if (target === undefined) throw new Error(`no target ${name}`)
  return target
}

function run(name: string, time = 50_000, hangMs = LIMITS.hangMs): Promise<TargetRun> {
  return watchedRun(script, targetNamed(name), { seed: 7, time }, never, { ...LIMITS, hangMs })
}

function seedOf({ found }: TargetRun): Seed {
  if (found === null) throw new Error('nothing was found')
  return decodeSeed(found.seed)
}

describe('watchedRun', () => {
  it('finds an input that breaks a property, and minimises it', async () => {
    const result = await run('fails')
    expect(seedOf(result).input).toEqual([700])
    expect(seedOf(result).note).toContain('a number is too large')
    expect(result.found?.failure).toContain('a number is too large')
    expect(result.executions).toBeGreaterThan(1)
  })

  it('finds the same with the same seed', async () => {
    const [one, other] = [await run('fails'), await run('fails')]
    expect(one.executions).toBe(other.executions)
  })

  it('finds an input that takes forever', async () => {
    const result = await run('hangs', 50_000, 1500)
    expect(result.found?.failure).toBe('it takes more than 1500 ms')
    expect(seedOf(result).input).toBeGreaterThan(500)
  })

  it('finds an input that takes all memory', { timeout: 600_000 }, async () => {
    // However long a busy machine takes to fill the memory.
    const result = await run('eats', 600_000, 600_000)
    expect(seedOf(result)).toEqual({ note: expect.stringContaining('memory'), input: 'all memory' })
  })

  it('ends with its time, and with a signal', async () => {
    expect(await run('is sound', 300)).toMatchObject({ found: null, target: 'is sound' })
    const stop = new AbortController()
    setTimeout(() => stop.abort(), 300)
    const endless = { seed: 7, time: 3_600_000 }
    expect(await watchedRun(script, targetNamed('is sound'), endless, stop.signal, LIMITS)).toMatchObject({
      found: null,
    })
  })
})

describe('runCampaign', () => {
  it('continues after a finding, writes it and says how to repeat it', async () => {
    const said: string[] = []
    const runs = await runCampaign(
      {
        targets: ['fails', 'is sound'].map(targetNamed),
        script,
        time: 20_000,
        seed: 7,
        seeds: folder,
        limits: LIMITS,
        say: (text) => {
          said.push(text)
          // Stop: the rest of the time is not needed.
          if (text.startsWith('\n')) stop.abort()
        },
      },
      stop.signal,
    )
    expect(runs.map(({ found }) => found !== null)).toEqual([true])
    const [, path = ''] = /--replay (\S+)/.exec(said.join('\n')) ?? []
    expect(dirname(path)).toBe(join(folder, 'fails'))
    const { input } = decodeSeed(readFileSync(path, 'utf8'))
    expect(() => targetNamed('fails').check(input)).toThrow('a number is too large')
  })
  const stop = new AbortController()

  it('gives the same finding the same name', () => {
    const paths = [1, 1, 2].map((each) => writeFinding(folder, 'x', `{"note":"","input":${each}}`))
    expect(paths[0]).toBe(paths[1])
    expect(paths[0]).not.toBe(paths[2])
    expect(paths.every((path) => existsSync(path))).toBe(true)
  })
})
