import { statSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vitest/config'
import { BaseSequencer, type TestSpecification } from 'vitest/node'

/** By size: the first failure ends a mutant's run, and small files hold no long tests. */
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
    // The command that starts Stryker says which; Stryker's own processes inherit the variable.
    include: process.env.MUTATION_TESTS?.split(' ') ?? [],
    sequence: { sequencer: SmallFirst },
    testTimeout: 60_000,
    // Half the time. Each mutant has a worker of its own all the same, so that none outlives its run.
    isolate: false,
  },
})
