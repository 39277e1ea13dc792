// npm run fuzz: random inputs for every part of the library that reads untrusted input. Exit status: 0 nothing found, 1
// something found, 2 wrong usage.
import { readFileSync, rmSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { decodeSeed } from '../../test/fuzz/seed.ts'
import { TARGETS } from '../../test/fuzz/targets.ts'
import { buildWorker } from '../build-worker.ts'
import { optionsOrUsage } from '../usage.ts'
import { runCampaign } from './campaign.ts'
import { type FuzzOptions, parseOptions, USAGE } from './options.ts'

// At the same depth in the project as the tests, which use relative paths.
const CACHE = join(import.meta.dirname, '../../.cache')
const SEEDS = join(import.meta.dirname, '../../test/fuzz/seeds')

async function fuzz({ minutes, only, seed }: FuzzOptions): Promise<void> {
  const targets = TARGETS.filter(({ name }) => only === null || name === only)
  const stop = new AbortController()
  process.once('SIGINT', () => stop.abort())
  console.log(`${minutes} minutes, ${targets.length} targets, --seed ${seed}`)
  const script = await buildWorker(`fuzz-${process.pid}`, join(import.meta.dirname, 'worker.ts'), CACHE)
  try {
    const runs = await runCampaign(
      {
        targets,
        script,
        time: minutes * 60_000,
        seed,
        seeds: SEEDS,
        say: (text) => console.log(text),
      },
      stop.signal,
    )
    const total = runs.reduce((sum, { executions }) => sum + executions, 0)
    const found = runs.filter((run) => run.found !== null).length
    console.log(`${total} executions, ${found} ${found === 1 ? 'finding' : 'findings'}`)
    if (found > 0) process.exitCode = 1
  } finally {
    rmSync(script)
  }
}

/** Runs one seed. Its folder names the target. */
function replay(path: string): void {
  const name = basename(dirname(path))
  const target = TARGETS.find((each) => each.name === name)
  if (target === undefined) throw new TypeError(`--replay: ${path} is not in the folder of a target`)
  const { note, input } = decodeSeed(readFileSync(path, 'utf8'))
  console.log(note)
  try {
    target.check(input)
    console.log('no property is broken')
  } catch (error) {
    console.error(error)
    process.exitCode = 1
  }
}

const NAMES = TARGETS.map(({ name }) => name)
const options = optionsOrUsage((args) => parseOptions(args, NAMES), USAGE)
if (options?.replay != null) replay(options.replay)
else if (options !== null) await fuzz(options)
