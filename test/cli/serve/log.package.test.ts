import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { describe, expect, it, onTestFinished } from 'vitest'
import { sampled } from '../../effort.ts'
import { ROOT } from '../../package/project.ts'
import { temporaryFolder } from '../../temporary.ts'
import { makePipe, untilTakesHangup } from '../enrich/child.ts'
import { writeFiles } from './running.ts'

/** Starts a command in a shell. */
function shell(command: string) {
  const child = spawn('sh', ['-c', command], { stdio: ['ignore', 'pipe', 'pipe'] })
  onTestFinished(() => void child.kill('SIGKILL'))
  return child
}

describe.skipIf(process.platform === 'win32')('geofix serve', () => {
  const folder = temporaryFolder()
  const { database, keys } = writeFiles(folder)
  const command = `exec '${process.execPath}' '${join(ROOT, 'dist/cli.cjs')}' serve --port 0 --drain 0 --grace 3600`

  it.each(sampled(['1', '2'], 1))(
    'with %s processes ends after a signal although the reader of its log is stuck',
    async (workers) => {
      const pipe = makePipe(folder, `log-${workers}`)
      // Opens the pipe and does not read.
      shell(`exec sleep 100 < '${pipe}'`)
      const child = shell(`${command} --keys '${keys}' --db '${database}' --workers ${workers} > '${pipe}'`)
      let err = ''
      const listening = new Promise<string>((resolve) => {
        child.stderr?.on('data', (chunk) => {
          err += chunk
          const [url] = /http:[^\s]+/.exec(err) ?? []
          if (url !== undefined) resolve(url)
        })
      })
      const url = await listening
      // More lines than a pipe holds, which is 65,536 bytes.
      for (let round = 0; round < 15; round++) {
        await Promise.all(Array.from({ length: 40 }, async () => (await fetch(`${url}v1/ip`)).text()))
      }
      await delay(150) // The log is written every 100 ms.
      const ended = once(child, 'exit')
      child.kill('SIGTERM')
      expect(await ended).toEqual([0, null])
      expect(err).toMatch(/the last \d+ lines of the log were not written/)
    },
  )

  it.each([
    ['a file of keys', (pipe: string) => `--keys '${pipe}' --db '${database}'`, 1],
    ['a database', (pipe: string) => `--open --db '${pipe}'`, null],
  ])('ends after a signal although %s is a pipe without a writer', async (what, args, status) => {
    const pipe = makePipe(folder, `pipe of ${what}`)
    const child = shell(`${command} ${args(pipe)}`)
    const ended = once(child, 'exit')
    // The file of keys is refused without a signal.
    if (status === null) {
      await untilTakesHangup(child.pid)
      child.kill('SIGTERM')
    }
    expect((await ended)[0]).toBe(status)
  })
})
