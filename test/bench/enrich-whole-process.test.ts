import { describe, expect, it } from 'vitest'
import { runWhole, takeTurns } from '../../scripts/bench/enrich/whole-process.ts'

/** A process that runs a script. */
function script(name: string, text: string) {
  return { name, file: process.execPath, args: ['-e', text] }
}

describe('runWhole', () => {
  it('measures the whole process, and reads no output', async () => {
    const text = 'process.stdout.write("x".repeat(1e6)); setTimeout(() => {}, 300)'
    const { seconds, peak } = await runWhole(script('idle', text))
    expect(seconds).toBeGreaterThan(0.3)
    if (process.platform === 'linux') expect(peak).toBeGreaterThan(10e6)
    else expect(peak).toBeNull()
  })

  it.each([
    [
      'the error that ended it',
      script('bad', 'throw new RangeError("too much")'),
      'bad: RangeError: too much',
    ],
    [
      'that there is no such program',
      { name: 'none', file: 'geofix-no-such-program', args: [] },
      /^none: .*ENOENT/,
    ],
  ])('reports %s', async (_, command, message) => {
    await expect(runWhole(command)).rejects.toThrow(message)
  })
})

describe('takeTurns', () => {
  it('runs each process in turns, and leaves out those that fail', async () => {
    const failures: string[] = []
    const commands = [script('one', ''), script('broken', 'process.exit(3)'), script('two', '')]
    const runs = await takeTurns(commands, 2, ({ message }) => failures.push(message))
    expect([...runs].map(([name, done]) => [name, done.length])).toEqual([
      ['one', 2],
      ['two', 2],
    ])
    expect(failures).toEqual(['broken: it exited without a message'])
  })
})
