// Set up by `vitest.config.ts`: a test of the source that starts a process fails.
import childProcess from 'node:child_process'
import { syncBuiltinESMExports } from 'node:module'

function refuse(): never {
  throw new Error('`npm test` starts no process: move this test to the file *.package.test.ts beside it')
}

const names = ['exec', 'execFile', 'execFileSync', 'execSync', 'fork', 'spawn', 'spawnSync'] as const
for (const name of names) Object.defineProperty(childProcess, name, { value: refuse })
syncBuiltinESMExports()
