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
  const listeners = () =>
    (['SIGHUP', 'SIGINT', 'SIGTERM'] as const).map((each) => process.listenerCount(each))
  const before = listeners()
  const running = withDatabase(['--quiet', '-o', join(folder, 'out')], ndjson(3))
  while (listeners()[0] === before[0]) await setImmediate()
  const own = process.rawListeners('SIGHUP').at(-1)
  if (own !== undefined) Reflect.apply(own, process, ['SIGHUP'])
  expect(await running).toEqual({
    status: 129,
    out: '',
    err: 'geofix: interrupted by SIGHUP before the first line\n',
  })
  expect(listeners()).toEqual(before)
  await setTimeout(200)
  expect(readdirSync(folder)).toEqual([])
})
