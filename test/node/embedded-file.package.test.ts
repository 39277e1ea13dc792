import { realpathSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { output } from '../package/programs.ts'
import { ROOT } from '../package/project.ts'
import { makeFile, temporaryFolder } from '../temporary.ts'

const folder = realpathSync(temporaryFolder())

it('a process that may not read the data is told so', () => {
  // In Node 20 only the experimental permission model can forbid that.
  const program = `require(${JSON.stringify(ROOT)}).Resolver.open().catch(({ code, message }) => console.log(code, message))`
  const file = makeFile(join(folder, 'main.cjs'), program)
  const allowed = ['dist', 'node_modules'].map((name) => `--allow-fs-read=${join(ROOT, name)}/*`)
  const flags = ['--experimental-permission', '--no-warnings', `--allow-fs-read=${file}`, ...allowed]
  const printed = output(
    folder,
    process.execPath,
    ...flags,
    `--allow-fs-read=${join(ROOT, 'package.json')}`,
    file,
  )
  expect(printed).toMatch(/^INVALID_DATABASE .*city\.mmdb\.packed: it cannot be read: .*restricted/)
})
