import { PassThrough, Writable } from 'node:stream'
import { setTimeout as delay } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { JsonLog } from '../../../src/cli/serve/log.ts'

describe('the log', () => {
  it('has all lines in their order, and knows when they are written', async () => {
    const stream = new PassThrough()
    const log = new JsonLog(stream)
    const label = 'x'.repeat(900)
    for (let index = 0; index < 20; index++) log.write('event', { index, label })
    stream.resume()
    expect(await log.end(10_000)).toBe(0)
    expect(log.dropped).toBe(0)
    const written = new PassThrough()
    const other = new JsonLog(written)
    for (let index = 0; index < 3; index++) other.write('event', { index })
    await other.end(10_000)
    const lines = String(written.read()).trimEnd().split('\n')
    expect(lines.map((line) => JSON.parse(line).index)).toEqual([0, 1, 2])
  })

  it('counts the lines of a reader that has gone', async () => {
    const stream = new PassThrough()
    stream.on('error', () => {})
    stream.destroy()
    const log = new JsonLog(stream)
    for (let index = 0; index < 3; index++) log.write('event')
    expect(await log.end(10_000)).toBe(0)
    expect(log.dropped).toBe(3)
  })

  it('does not wait for a reader that is stuck', async () => {
    const stuck = new Writable({ write: () => {} })
    const log = new JsonLog(stuck)
    for (let index = 0; index < 3; index++) log.write('event')
    expect(await log.end(20, 1_000_000)).toBe(3)
    const nowhere = new JsonLog(null)
    nowhere.write('event')
    expect(await nowhere.end(0)).toBe(0)
  })

  it('waits for a reader that is slow, up to the second limit', async () => {
    const lines = (): JsonLog => {
      const log = new JsonLog(new Writable({ write: (_, __, done) => void setTimeout(done, 30) }))
      for (let index = 0; index < 8; index++) log.write('event', { label: 'x'.repeat(3990) })
      return log
    }
    expect(await lines().end(200, 1_000_000)).toBe(0)
    expect(await lines().end(40, 40)).toBeGreaterThan(0)
  })

  it('drops lines if its reader is too slow, and says how many', async () => {
    const stream = new PassThrough({ highWaterMark: 1 })
    const log = new JsonLog(stream)
    const label = 'x'.repeat(3000)
    for (let index = 0; index < 2000; index++) log.write('event', { label })
    expect(stream.writableLength + stream.readableLength).toBeLessThan(5 * 2 ** 20)
    let text = ''
    stream.on('data', (chunk) => {
      text += chunk
    })
    await delay(50)
    log.write('later')
    log.flush()
    await delay(50)
    expect(text).toMatch(/"event":"lines-dropped","count":[1-9]\d+\}\n.*"event":"later"\}\n$/)
  })
})
