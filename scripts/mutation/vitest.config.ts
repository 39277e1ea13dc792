import { statSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vitest/config'
import { BaseSequencer, type TestSpecification } from 'vitest/node'
import { PUT_BACK } from '../test-projects.ts'

/** Small files first: the first failure ends a mutant's run, and small files have short tests. */
class SmallFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    return [...files].sort((a, b) => statSync(a.moduleId).size - statSync(b.moduleId).size)
  }
}

export default defineConfig({
  resolve: {
    alias: [
      { find: /^fast-check$/, replacement: fileURLToPath(new URL('../few-examples.ts', import.meta.url)) },
    ],
  },
  test: {
    ...PUT_BACK,
    // Set by the command that starts Stryker, and inherited by Stryker's processes.
    include: process.env.MUTATION_TESTS?.split(' ') ?? [],
    sequence: { sequencer: SmallFirst },
    testTimeout: 60_000,
    // Halves the time. Each mutant still has its own worker.
    isolate: false,
  },
})
