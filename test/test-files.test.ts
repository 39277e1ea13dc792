import { existsSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import ts from 'typescript'
import { describe, expect, it } from 'vitest'
import { testFiles } from '../scripts/test-projects.ts'
import sourceTests from '../vitest.config.ts'

/** A test file with the files beside the tests that it imports. */
function withImports(file: string): readonly string[] {
  const reached = new Set([file])
  for (const each of reached) {
    for (const { fileName } of ts.preProcessFile(readFileSync(each, 'utf8'), true, true).importedFiles) {
      const path = join(dirname(each), fileName)
      if (fileName.startsWith('.') && path.startsWith('test/') && existsSync(path)) reached.add(path)
    }
  }
  return [...reached]
}

const NEEDS_MORE = [
  ['starts processes', /from 'node:(?:child_process|cluster)'/],
  ['reads the built package', /\bROOT, 'dist\b|\bfrom 'geofix\b/],
] as const

describe('the tests of the source', () => {
  const files = testFiles().filter((file) => !/\.(?:package|long)\.test\.ts$/.test(file))

  it('are found', () => {
    expect(files).toContain('test/test-files.test.ts')
    expect(withImports('test/cli/enrich/signals.package.test.ts')).toContain('test/cli/enrich/child.ts')
  })

  it('are in a file *.package.test.ts if they start processes or need the build', () => {
    const misplaced = files.flatMap((file) =>
      withImports(file).flatMap((each) =>
        NEEDS_MORE.filter(([, sign]) => sign.test(readFileSync(each, 'utf8'))).map(
          ([why]) => `${file}: ${each} ${why}`,
        ),
      ),
    )
    expect(misplaced).toEqual([])
  })

  it('cannot start a process through a script either', async () => {
    expect(sourceTests.test?.setupFiles).toEqual(['scripts/no-processes.ts'])
    await import('../scripts/no-processes.ts')
    const { spawnSync } = createRequire(import.meta.url)('node:child_process')
    expect(() => spawnSync('true')).toThrow('starts no process')
  })
})
