import { createHash } from 'node:crypto'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Target } from '../../test/fuzz/target.ts'
import { LIMITS, type Limits, type TargetRun, watchedRun } from './watched-run.ts'

export interface Campaign {
  readonly targets: readonly Target[]
  /** Path of a worker with the same targets. */
  readonly script: string
  /** For all targets together. Milliseconds. */
  readonly time: number
  readonly seed: number
  /** Folder for findings, with a folder for each target. */
  readonly seeds: string
  readonly limits?: Limits
  readonly say: (text: string) => void
}

/** Runs the targets in order, each for its share of the time, until `stop`. */
export async function runCampaign(campaign: Campaign, stop: AbortSignal): Promise<TargetRun[]> {
  const { targets, script, time, say, limits = LIMITS } = campaign
  const runs: TargetRun[] = []
  const end = performance.now() + time
  for (const [index, target] of targets.entries()) {
    if (stop.aborted) break
    // Time that one target does not use is shared by the others.
    const share = Math.max(0, end - performance.now()) / (targets.length - index)
    const seed = campaign.seed + index
    const run = await watchedRun(script, target, { time: share, seed }, stop, limits)
    runs.push(run)
    say(lineOf(run))
    if (run.found !== null)
      say(report(run.found.failure, writeFinding(campaign.seeds, target.name, run.found.seed)))
  }
  return runs
}

/** @returns the path of the seed */
export function writeFinding(seeds: string, target: string, seed: string): string {
  const folder = join(seeds, target)
  mkdirSync(folder, { recursive: true })
  const name = createHash('sha256').update(seed).digest('hex').slice(0, 8)
  const path = join(folder, `found-${name}.json`)
  writeFileSync(path, seed)
  return path
}

function report(failure: string, path: string): string {
  return `\n${failure}\n\nwritten to ${path}; to repeat it: npm run fuzz -- --replay ${path}\n`
}

function lineOf({ target, executions, time, found }: TargetRun): string {
  const rate = Math.round(executions / time)
  return `${target.padEnd(10)} ${String(executions).padStart(9)} executions ${String(rate).padStart(7)}/s  ${found === null ? 'nothing found' : 'FOUND'}`
}
