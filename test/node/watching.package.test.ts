import { spawn } from 'node:child_process'
import { renameSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { makeFile, temporaryFolder } from '../temporary.ts'
import { generation } from './watched-files.ts'

const folder = temporaryFolder()
let files = 0
const file = (bytes: Uint8Array): string => makeFile(join(folder, `city-${++files}.mmdb`), bytes)

describe('the watcher', () => {
  /** Runs a program with the package's sources to its end. */
  async function run(program: string, ...values: string[]): Promise<{ code: number | null; output: string }> {
    const script = file(Buffer.from(program)).replace(/\.mmdb$/, '.mmdb.mts')
    renameSync(script.replace(/\.mts$/, ''), script)
    const source = new URL('../../src/index.ts', import.meta.url).href
    const child = spawn(process.execPath, ['--import', 'tsx', script, source, ...values], {
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    let output = ''
    child.stdout.on('data', (chunk: Buffer) => (output += chunk))
    const code = await new Promise<number | null>((resolve) => child.once('close', resolve))
    return { code, output }
  }

  it('does not keep the process alive', async () => {
    const path = file(generation(1))
    const program = `
      const { Resolver } = await import(process.argv[2])
      const geo = await Resolver.open(process.argv[3], { watch: true, staleAfter: 100_000 })
      console.log(geo.lookup('81.2.69.142').city)`
    expect(await run(program, path)).toEqual({ code: 0, output: 'city 1\n' })
  })

  it('continues when a callback throws, which is an uncaught exception', async () => {
    const path = file(generation(1))
    const program = `
      import { writeFileSync } from 'node:fs'
      import { setTimeout as wait } from 'node:timers/promises'
      const { Resolver } = await import(process.argv[2])
      const [, , , path, next] = process.argv
      const thrown = []
      process.on('uncaughtException', (error) => thrown.push(error.message))
      const geo = await Resolver.open(path, {
        watch: true,
        watchInterval: 10,
        onReload: () => { throw new Error('from onReload') },
        onReloadError: () => { throw new Error('from onReloadError') },
      })
      writeFileSync(path, 'not a database')
      while (geo.status.refusals === 0) await wait(5)
      writeFileSync(path, Buffer.from(next, 'base64'))
      while (geo.status.reloads === 0) await wait(5)
      await wait(5)
      console.log(thrown.join(), geo.lookup('81.2.69.142').city)`
    const next = Buffer.from(generation(2)).toString('base64')
    expect(await run(program, path, next)).toEqual({
      code: 0,
      output: 'from onReloadError,from onReload city 2\n',
    })
  })
})
