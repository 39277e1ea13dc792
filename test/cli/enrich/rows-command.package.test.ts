// `geofix enrich --rows`: what programs that run it depend on.
import { describe, expect, it, onTestFinished } from 'vitest'
import { outcomeOf, start } from './child.ts'
import { workspace } from './command-line.ts'

const { DB } = workspace()
const LIST = ['enrich', '--rows', '--db', DB, '--format', 'list', '--append', '--at', '2026-07-01']
const TSV = [
  ...['enrich', '--rows', '--db', DB, '--format', 'tsv', '--quoting', 'none', '--field', '1'],
  ...['--at', '2026-07-01', '--fields', 'country_code,city'],
]

/** The median time of a round trip is 0.2 ms, and was 100 ms before there were rows. */
const GENEROUS_MS = 30

describe('the process', () => {
  it('answers each row at once', async () => {
    const child = start(TSV)
    onTestFinished(() => void child.kill('SIGKILL'))
    const answer = (): Promise<string> =>
      new Promise((resolve) => child.stdout.once('data', (bytes) => resolve(String(bytes))))
    const times: number[] = []
    for (let row = 0; row < 50; row++) {
      const begin = performance.now()
      const answered = answer()
      child.stdin.write('81.2.69.142\n')
      expect(await answered).toBe('81.2.69.142\tGB\tLondon\n')
      times.push(performance.now() - begin)
    }
    // A row that waited for a timer would wait that long each time. The fastest row waits for no other program.
    expect(Math.min(...times)).toBeLessThan(GENEROUS_MS)
    child.stdin.end()
    const outcome = await outcomeOf(child)
    expect(outcome).toMatchObject({ status: 0, err: '' })
  })

  it('ends quietly when its reader does', async () => {
    const child = start(LIST)
    onTestFinished(() => void child.kill('SIGKILL'))
    child.stdout.once('data', () => child.stdout.destroy())
    const timer = setInterval(() => child.stdin.write('81.2.69.142\n'.repeat(1000)), 5)
    const status = await new Promise((resolve) => child.on('close', resolve))
    clearInterval(timer)
    expect(status).toBe(0)
  })
})
