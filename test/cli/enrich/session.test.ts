import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { setImmediate, setTimeout } from 'node:timers/promises'
import { describe, expect, it, vi } from 'vitest'
import { Interruption, SignalWatch } from '../../../src/cli/enrich/session.ts'
import { temporaryFolder } from '../../temporary.ts'
import { ndjson, workspace } from './command-line.ts'

const { enrich: withDatabase } = workspace()
const folder = temporaryFolder()
const STATUSES = [
  ['SIGHUP', 129],
  ['SIGINT', 130],
  ['SIGTERM', 143],
] as const

/** The listeners that a watch adds, and no others: the process is that of the tests. */
function watched(last: () => void = () => {}) {
  const before = new Map(STATUSES.map(([signal]) => [signal, process.listeners(signal)]))
  const watch = new SignalWatch(last)
  const send = (signal: NodeJS.Signals): void => {
    const others = before.get(signal as 'SIGINT') ?? []
    for (const listener of process.listeners(signal)) {
      if (!others.includes(listener)) Reflect.apply(listener, process, [signal])
    }
  }
  return { watch, send }
}

describe('SignalWatch', () => {
  it.each(STATUSES)('reports the first %s, with status %d', async (signal, status) => {
    const { watch, send } = watched()
    send(signal)
    const interruption = await watch.signalled.catch((error: unknown) => error)
    expect(interruption).toBeInstanceOf(Interruption)
    expect(interruption).toMatchObject({ message: `interrupted by ${signal}`, status })
    watch.stop()
  })

  it('ends the process at the second signal, after the last action', () => {
    const calls: unknown[] = []
    vi.spyOn(process, 'exit').mockImplementation((status) => {
      calls.push(status)
      throw new Error('the process has ended')
    })
    const { watch, send } = watched(() => calls.push('last'))
    send('SIGINT')
    expect(calls).toEqual([])
    expect(() => send('SIGTERM')).toThrow('the process has ended')
    expect(calls).toEqual(['last', 143])
    watch.stop()
  })

  it('removes its listeners when it is stopped', () => {
    const before = STATUSES.map(([signal]) => process.listenerCount(signal))
    const { watch } = watched()
    expect(STATUSES.map(([signal]) => process.listenerCount(signal))).toEqual(
      before.map((count) => count + 1),
    )
    watch.stop()
    expect(STATUSES.map(([signal]) => process.listenerCount(signal))).toEqual(before)
  })
})

describe('geofix enrich, interrupted', () => {
  it('says that it had not started', async () => {
    const before = process.listenerCount('SIGHUP')
    const running = withDatabase(['--quiet', '-o', join(folder, 'out')], ndjson(3))
    while (process.listenerCount('SIGHUP') === before) await setImmediate()
    const own = process.listeners('SIGHUP').at(-1)
    if (own !== undefined) Reflect.apply(own, process, ['SIGHUP'])
    expect(await running).toEqual({
      status: 129,
      out: '',
      err: 'geofix: interrupted by SIGHUP before the first line\n',
    })
    await setTimeout(200)
    expect(readdirSync(folder)).toEqual([])
  })
})
