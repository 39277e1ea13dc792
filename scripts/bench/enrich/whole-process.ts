import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { type Command, causeIn } from '../child.ts'
import { peakBytes } from '../worker/peak.ts'

/** How often the memory of a process is looked at. The system keeps the peak, so only the very end is missed. ms */
const WATCH = 50

/** What a process needed from its start to its end. */
export interface WholeRun {
  readonly seconds: number
  /** The most memory that it had resident; `null` where the system does not tell. Bytes. */
  readonly peak: number | null
}

/**
 * Runs a process whose output nobody reads.
 *
 * @throws Error when there is no such program or it fails
 */
export async function runWhole({ name, file, args }: Command): Promise<WholeRun> {
  const begin = performance.now()
  const child = spawn(file, args, { stdio: ['ignore', 'ignore', 'pipe'] })
  let [end, errors]: [number, string] = [begin, '']
  let peak: number | null = null
  child.once('exit', () => {
    end = performance.now()
  })
  child.stderr.on('data', (chunk: Buffer) => {
    errors += chunk.toString()
  })
  const watch = setInterval(() => {
    if (child.pid !== undefined) peak = peakBytes(child.pid) ?? peak
  }, WATCH)
  try {
    await once(child, 'close')
  } catch (error) {
    throw new Error(`${name}: ${error instanceof Error ? error.message : String(error)}`)
  } finally {
    clearInterval(watch)
  }
  if (child.exitCode !== 0) throw new Error(`${name}: ${causeIn(errors)}`)
  return { seconds: (end - begin) / 1e3, peak }
}

/**
 * Lets whole processes take turns, so that noise of the machine meets them all alike.
 *
 * @returns by name; one that cannot run is handed to `onFailure` and left out
 */
export async function takeTurns(
  commands: readonly Command[],
  turns: number,
  onFailure: (error: Error) => void,
): Promise<Map<string, readonly WholeRun[]>> {
  const runs = new Map<string, WholeRun[]>(commands.map(({ name }) => [name, []]))
  for (let turn = 0; turn < turns; turn++) {
    for (const command of commands) {
      const done = runs.get(command.name)
      if (done === undefined) continue
      try {
        done.push(await runWhole(command))
      } catch (error) {
        runs.delete(command.name)
        onFailure(error instanceof Error ? error : new Error(String(error)))
      }
    }
  }
  return runs
}
