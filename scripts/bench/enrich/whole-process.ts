import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { type Command, causeIn } from '../child.ts'
import { peakBytes } from '../worker/peak.ts'

/** Interval between reads of the peak memory. The system keeps the peak, so only the very end can be missed. */
const MEMORY_POLL_MS = 50

/** Time and memory of a process. */
export interface WholeRun {
  readonly seconds: number
  /** Peak resident memory in bytes; `null` if the system does not report it. */
  readonly peak: number | null
}

/**
 * Runs a process and discards its output.
 *
 * @throws Error if the program does not exist or fails
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
  }, MEMORY_POLL_MS)
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
 * Runs processes in turns, so that noise of the machine affects all of them.
 *
 * @returns results by name, without processes that fail; `onFailure` gets their errors
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
