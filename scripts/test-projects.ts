// Two projects of tests. Most tests change nothing outside of their file: these run one after another in the same
// processes and share the modules of `src`, which costs about half as much as loading the modules for each file.
import { readFileSync } from 'node:fs'
import type { TestProjectConfiguration } from 'vitest/config'

/** What changes the process for other tests, or depends on what other tests did before in the same process. */
const NEEDS_ITS_OWN_PROCESS =
  /\bvi\.|\bprocess\.(?:on|once|emit|exit|chdir|memoryUsage|env\.\w+ =)|globalThis\b.*=[^>=]|\bObject\.prototype\b.*=[^>=]|node:(?:worker_threads|inspector|vm)'|\/heap\.ts'/

/** The tests in `files`, divided between the two projects. */
export function testProjects(files: readonly string[]): TestProjectConfiguration[] {
  const isolated = files.filter((file) => NEEDS_ITS_OWN_PROCESS.test(readFileSync(file, 'utf8')))
  const shared = files.filter((file) => !isolated.includes(file))
  const project = (name: string, include: string[], isolate: boolean): TestProjectConfiguration => ({
    extends: true,
    test: { name, include, exclude: [], isolate },
  })
  return [project('own process', isolated, true), project('shared modules', shared, false)]
}
