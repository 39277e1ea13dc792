// What the short runs have in common: the tests of the source, `vitest.config.ts`, and those of the package.
import { readdirSync, readFileSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { fileURLToPath } from 'node:url'
import type { TestProjectConfiguration, ViteUserConfig } from 'vitest/config'

export const isLong = (file: string): boolean => file.endsWith('.long.test.ts')

/** Whether a test starts processes or needs the built package. */
export const isOfPackage = (file: string): boolean => file.endsWith('.package.test.ts')

/** All test files, by their paths from the root. */
export function testFiles(): string[] {
  return readdirSync('test', { recursive: true, encoding: 'utf8' })
    .map((name) => `test/${name.replaceAll('\\', '/')}`)
    .filter((name) => name.endsWith('.test.ts'))
}

/**
 * The files of a slice. Environment: TEST_SLICE, such as `2/3` for the second of three slices. Files of one folder are spread over
 * all slices.
 */
export function slice(files: readonly string[]): string[] {
  const [number = 1, count = 1] = (process.env.TEST_SLICE ?? '1/1').split('/').map(Number)
  return [...files].sort().filter((_, index) => index % count === number - 1)
}

/** What changes the process for other tests, or depends on what other tests did before in the same process. */
const NEEDS_ITS_OWN_PROCESS =
  /\bvi\.|\bprocess\.(?:on|once|emit|exit|chdir|memoryUsage|env\.\w+ =)|globalThis\b.*=[^>=]|\bObject\.prototype\b.*=[^>=]|node:(?:worker_threads|inspector|vm)'|\/heap\.ts'/

/**
 * Two projects of tests. Most tests change nothing outside of their file: these run one after another in the same
 * processes and share the modules of `src`, which costs about half as much as loading the modules for each file.
 */
function testProjects(files: readonly string[]): TestProjectConfiguration[] {
  const isolated = files.filter((file) => NEEDS_ITS_OWN_PROCESS.test(readFileSync(file, 'utf8')))
  const shared = files.filter((file) => !isolated.includes(file))
  const project = (name: string, include: string[], isolate: boolean): TestProjectConfiguration => ({
    extends: true,
    test: { name, include, exclude: [], isolate },
  })
  return [project('own process', isolated, true), project('shared modules', shared, false)]
}

/** Before each test, what the one before it replaced is put back. */
export const PUT_BACK = { restoreMocks: true, unstubGlobals: true, unstubEnvs: true }

/** Runs tests on samples of their cases, with random examples that are the same each time. */
export function shortRun(files: readonly string[], setupFiles: string[] = []): ViteUserConfig {
  return {
    resolve: {
      alias: [
        {
          find: /^fast-check$/,
          replacement: fileURLToPath(new URL('few-examples.ts', import.meta.url)),
        },
      ],
    },
    test: {
      ...PUT_BACK,
      projects: testProjects(files),
      setupFiles,
      env: { MOST_EXAMPLES: '100' },
      testTimeout: 300_000,
      hookTimeout: 300_000,
      pool: 'forks',
      // One more than processors, because many tests wait: for a timer, a file or another process.
      maxWorkers: availableParallelism() + 1,
    },
  }
}
