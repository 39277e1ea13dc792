import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, openSync, readFileSync, rmSync } from 'node:fs'
import { type Command, causeIn } from '../child.ts'
import { peakBytes } from '../worker/peak.ts'

/** Interval between reads of the peak memory. The system keeps the peak, so only the very end can be missed. */
const MEMORY_POLL_MS = 50

/** Time and memory of a program. */
export interface WholeRun {
  readonly seconds: number
  /** Processor time of all its threads, in user and in system mode, in seconds; `null` if the system is not Linux. */
  readonly processorSeconds: number | null
  /** Peak resident memory in bytes; `null` if the system does not report it. */
  readonly peak: number | null
}

/** Processes that run at the same time, each with the path of the file for its standard output. */
export interface Program {
  readonly name: string
  readonly processes: readonly { readonly command: Command; readonly output: string }[]
}

/**
 * Runs a program. Standard output goes to files, as in a shell, which are deleted afterwards. No other child of this
 * process may run at the same time, because its processor time would count.
 *
 * @throws Error if a process does not exist or fails
 */
export async function runWhole({ processes }: Program): Promise<WholeRun> {
  const before = childrenSeconds()
  const begin = performance.now()
  const running = processes.map(({ command, output }) => runProcess(command, output))
  try {
    const ended = await Promise.all(running)
    const after = childrenSeconds()
    const peaks = ended.map(({ peak }) => peak)
    return {
      seconds: (Math.max(...ended.map(({ end }) => end)) - begin) / 1e3,
      processorSeconds: before === null || after === null ? null : after - before,
      peak: peaks.reduce((sum, peak) => (sum === null || peak === null ? null : sum + peak), 0),
    }
  } finally {
    await Promise.allSettled(running)
    for (const { output } of processes) rmSync(output, { force: true })
  }
}

async function runProcess(
  { name, file, args }: Command,
  output: string,
): Promise<{ end: number; peak: number | null }> {
  const standardOutput = openSync(output, 'w')
  const child = spawn(file, args, { stdio: ['ignore', standardOutput, 'pipe'] })
  closeSync(standardOutput)
  let [end, errors]: [number, string] = [0, '']
  let peak: number | null = null
  child.once('exit', () => {
    end = performance.now()
  })
  child.stderr?.on('data', (chunk: Buffer) => {
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
  return { end, peak }
}

/** Ticks of the processor's time in a second, the same on all systems that Node supports. */
const TICKS = 100

/** Processor time of this process's children that have ended, in seconds; `null` if the system is not Linux. */
function childrenSeconds(): number | null {
  try {
    // proc(5): cutime and cstime are fields 16 and 17; the name in field 2 can contain spaces.
    const fields = readFileSync('/proc/self/stat', 'latin1')
      .replace(/^.*\) /s, '')
      .split(' ')
    return (Number(fields[13]) + Number(fields[14])) / TICKS
  } catch {
    return null
  }
}

/**
 * Runs programs in turns, so that noise of the machine affects all of them.
 *
 * @returns results by name, without programs that fail; `onFailure` gets their errors
 */
export async function takeTurns(
  programs: readonly Program[],
  turns: number,
  onFailure: (error: Error) => void,
): Promise<Map<string, readonly WholeRun[]>> {
  const runs = new Map<string, WholeRun[]>(programs.map(({ name }) => [name, []]))
  for (let turn = 0; turn < turns; turn++) {
    for (const program of programs) {
      const done = runs.get(program.name)
      if (done === undefined) continue
      try {
        done.push(await runWhole(program))
      } catch (error) {
        runs.delete(program.name)
        onFailure(error instanceof Error ? error : new Error(String(error)))
      }
    }
  }
  return runs
}
