import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { setImmediate, setTimeout } from 'node:timers/promises'
import { expect, it } from 'vitest'
import { temporaryFolder } from '../../temporary.ts'
import { ndjson, workspace } from './command-line.ts'

const { enrich: withDatabase } = workspace()
const folder = temporaryFolder()

// The other signals, and a second one: signals.package.test.ts.
it('geofix enrich, interrupted, says that it had not started, and listens for signals no more', async () => {
  const before = process.listenerCount('SIGHUP')
  const running = withDatabase(['--quiet', '-o', join(folder, 'out')], ndjson(3))
  while (process.listenerCount('SIGHUP') === before) await setImmediate()
  const own = process.rawListeners('SIGHUP').at(-1)
  if (own !== undefined) Reflect.apply(own, process, ['SIGHUP'])
  expect(await running).toEqual({
    status: 129,
    out: '',
    err: 'geofix: interrupted by SIGHUP before the first line\n',
  })
  expect(process.listenerCount('SIGHUP')).toBe(before)
  await setTimeout(200)
  expect(readdirSync(folder)).toEqual([])
})
