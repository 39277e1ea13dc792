// What the tests of streams share: test/engines/spark/stream.py, whose driver is killed.
import { execFileSync } from 'node:child_process'
import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { expect } from 'vitest'
import { failureOf, killed, processesOf, SparkCluster } from '../../scripts/spark-cluster.ts'
import { ROOT } from '../package/project.ts'

const EVENTS = 50_000
/** Of the whole stream. */
const BATCHES = 25

/** A cluster with two workers, and the module and the archive of geofix in a folder. */
export async function startCluster(python: string | null, folder: string): Promise<SparkCluster> {
  const command = [join(ROOT, 'dist/cli.cjs'), 'engine', 'spark', folder]
  execFileSync(process.execPath, command, { stdio: 'ignore' })
  return SparkCluster.start(python ?? '', folder, ['one', 'two'])
}

export type Step = 'produce' | 'stream' | 'drain'

/** @param source `kafka:SERVERS`, or `files:FOLDER` */
export function streamArguments(step: Step, source: string, folder: string): string[] {
  return [
    ...['--py-files', ['geofix_locator.py', 'geofix_spark.py'].map((name) => join(folder, name)).join(',')],
    ...['--archives', `${join(folder, 'geofix-worker.tgz')}#geofix`],
    ...[join(import.meta.dirname, 'spark/stream.py'), step, source, folder, String(EVENTS)],
  ]
}

/** Runs a stream, and kills its driver in the middle of a batch, when it has written a share of all batches. */
export async function runUntilKilled(
  cluster: SparkCluster,
  args: readonly string[],
  folder: string,
  share: number,
): Promise<void> {
  const { process, done } = cluster.submit(args)
  while (batchesIn(folder) < share * BATCHES) {
    if (process.exitCode !== null) throw failureOf(await done)
    await wait(100)
  }
  await wait(500)
  for (const pid of processesOf(process.pid ?? -1)) killed(pid)
  await done
  expect(batchesIn(folder)).toBeLessThan(BATCHES)
}

/** Runs the rest of a stream, and checks that its output has each event once, with the right location. */
export async function expectExactlyOnce(
  cluster: SparkCluster,
  args: readonly string[],
  folder: string,
): Promise<void> {
  const before = batchesIn(folder)
  const report = await cluster.run(args)
  expect(batchesIn(folder)).toBeGreaterThan(before)
  const { found, late } = JSON.parse(report.slice(report.indexOf('{"found')))
  expect(found).toEqual([EVENTS, EVENTS, 0, EVENTS - 1, EVENTS])
  expect(late).toEqual(['+01:00'])
}

/** How many batches are in the output. */
function batchesIn(folder: string): number {
  const metadata = join(folder, 'located/_spark_metadata')
  return existsSync(metadata)
    ? readdirSync(metadata).filter((name) => /^\d+(\.compact)?$/.test(name)).length
    : 0
}
