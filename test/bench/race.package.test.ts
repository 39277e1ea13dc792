import { describe, expect, it } from 'vitest'
import { race } from '../../scripts/bench/race.ts'

/** A process that runs a script. */
function script(name: string, text: string) {
  return { name, file: process.execPath, args: ['-e', text] }
}

/** A contender that reports a rate without any work. */
function claims(name: string, items: number) {
  const text = `console.log('{"version":"${name} 1.0"}')
    require('node:readline').createInterface(process.stdin)
      .on('line', () => console.log('{"items":${items},"seconds":0.5,"found":${items / 2}}'))`
  return { ...script(name, text), hasCache: false }
}

describe('race', () => {
  const course = { rounds: 3, milliseconds: 1 }

  it('runs the rounds of each contender, and leaves out those that fail', async () => {
    const failures: string[] = []
    const runners = [claims('fast', 100), claims('slow', 10), { ...script('broken', ''), hasCache: true }]
    const finishes = await race(runners, course, ({ message }) => failures.push(message))
    expect([...finishes.keys()]).toEqual(['fast', 'slow'])
    expect(finishes.get('fast')).toEqual({
      version: 'fast 1.0',
      figure: {
        unit: 'a second',
        median: 200,
        lowest: 200,
        highest: 200,
        rounds: [200, 200, 200],
        found: 0.5,
      },
    })
    expect(failures).toEqual(['broken: it exited without a message'])
  })
})
