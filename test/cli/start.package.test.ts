// What a command loads, as a process of its own: what it does not need takes time at each start.
import { execFileSync, spawnSync } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'
import { ROOT } from '../package/project.ts'
import { makeFile, temporaryFolder } from '../temporary.ts'

const folder = temporaryFolder()
const DIST = join(ROOT, 'dist')

/** Runs the built command. @returns the files that it loaded */
function loadedBy(args: readonly string[], input = ''): string[] {
  const coverage = mkdtempSync(join(folder, 'coverage-'))
  execFileSync(process.execPath, [join(DIST, 'cli.cjs'), ...args], {
    input,
    stdio: 'pipe',
    env: { ...process.env, NODE_V8_COVERAGE: coverage },
  })
  return readdirSync(coverage).flatMap((name) => {
    const { result }: { result: { url: string }[] } = JSON.parse(readFileSync(join(coverage, name), 'utf8'))
    return result.flatMap(({ url }) => (url.startsWith('file:') ? [fileURLToPath(url)] : []))
  })
}

const LINE = '81.2.69.142 - - [01/Jul/2026:12:00:00 +0000] "GET / HTTP/1.1" 200 1\n'

it.each([
  ['--help', ['--help'], '', 3, 75_000],
  ['a lookup', ['81.2.69.142'], '', 4, 128_000],
  ['enrich', ['enrich', '--append'], LINE, 7, 391_000],
  ['count', ['count'], LINE, 8, 400_000],
])('%s loads few files, no package, and nothing for other commands', (_, args, input, files, bytes) => {
  const loaded = loadedBy(args, input)
  expect(loaded).toContain(join(DIST, 'cli.cjs'))
  expect(loaded.filter((file) => !file.startsWith(DIST))).toEqual([])
  expect(loaded.length).toBeLessThanOrEqual(files)
  expect(loaded.reduce((sum, file) => sum + statSync(file).size, 0)).toBeLessThan(bytes)
})

it('enrich loads neither node:crypto nor node:worker_threads without a file to write and threads', () => {
  const list = makeFile(
    join(folder, 'list.cjs'),
    "process.on('exit', () => console.error(process.moduleLoadList.join('\\n')))",
  )
  const args = ['--require', list, join(DIST, 'cli.cjs'), 'enrich', '--append']
  const { stderr } = spawnSync(process.execPath, args, { input: LINE, encoding: 'utf8' })
  const modules = stderr.split('\n')
  expect(modules).toContain('NativeModule zlib')
  expect(modules).not.toContain('NativeModule crypto')
  expect(modules).not.toContain('NativeModule worker_threads')
})
