import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { type Program, runWhole, takeTurns } from '../../scripts/bench/enrich/whole-process.ts'
import { temporaryFolder } from '../temporary.ts'

const folder = temporaryFolder()

/** A program of processes that run a script each. */
function script(name: string, ...texts: readonly string[]): Program {
  const processes = texts.map((text, index) => ({
    command: { name, file: process.execPath, args: ['-e', text] },
    output: join(folder, `${name}-${index}`),
  }))
  return { name, processes }
}

describe('runWhole', () => {
  it('measures all processes, and deletes their outputs', async () => {
    const idle = 'setTimeout(() => {}, 300)'
    const busy = 'process.stdout.write("x"); while (process.cpuUsage().user < 200_000);'
    const program = script('two', idle, busy)
    const { seconds, processorSeconds, peak } = await runWhole(program)
    expect(seconds).toBeGreaterThan(0.3)
    expect(program.processes.map(({ output }) => existsSync(output))).toEqual([false, false])
    if (process.platform === 'linux') {
      expect(processorSeconds).toBeGreaterThan(0.19)
      // An empty process has 30 MB.
      expect(peak).toBeGreaterThan(40e6)
    } else {
      expect([processorSeconds, peak]).toEqual([null, null])
    }
  })
})

describe('takeTurns', () => {
  it('runs each process in turns, and leaves out those that fail, with their error', async () => {
    const failures: string[] = []
    const commands = [
      script('one', ''),
      script('broken', 'throw new RangeError("too much")'),
      script('two', ''),
    ]
    const runs = await takeTurns(commands, 2, ({ message }) => failures.push(message))
    expect([...runs].map(([name, done]) => [name, done.length])).toEqual([
      ['one', 2],
      ['two', 2],
    ])
    expect(failures).toEqual(['broken: RangeError: too much'])
  })
})
