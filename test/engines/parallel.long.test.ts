// GNU parallel runs geofix on 16 parts of a log, as the guide says. One of them is killed and done again.
import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { ROOT } from '../package/project.ts'
import { temporaryFolder } from '../temporary.ts'
import { describeEngine, expectSameBytes, hasCommand, writeLogAndCommands } from './engine.ts'

const guide = readFileSync(join(ROOT, 'src/engines/README.md'), 'utf8')
/** The statements of the guide, which work in the folder of the log. */
const STATEMENTS = /^split [\s\S]*?(?=\n```)/m.exec(guide)?.[0] ?? ''

describeEngine('GNU parallel', hasCommand('parallel'), () => {
  const folder = temporaryFolder()
  // The first attempt at the fifth part is killed after it has read a quarter of the part and written what became of it.
  writeLogAndCommands(
    folder,
    (geofix) => `if [ "$PARALLEL_SEQ" = 5 ] && mkdir '${folder}/killed' 2>/dev/null; then
  exec 3<&0
  (head -c 600000 <&3; sleep 5) | '${geofix}' "$@" &
  sleep 3
  kill -9 $!
  wait $!
  exit $?
fi
`,
  )
  const run = (statement: string, path: string) => {
    const env = { ...process.env, PATH: `${join(folder, path)}:${process.env.PATH}`, HOME: folder }
    const { status, stderr } = spawnSync('bash', ['-c', statement], { cwd: folder, env, encoding: 'utf8' })
    return { status, stderr: stderr.replace(/^Academic tradition[\s\S]*?silence.*$/m, '').trim() }
  }

  it('gives the bytes of a single run, although a process was killed', () => {
    expect(STATEMENTS).toContain('l/16 ')
    const { status } = run(STATEMENTS, 'bin')
    expect([status, existsSync(join(folder, 'killed'))]).toEqual([0, true])
    const single = 'geofix enrich --rows --format access-log --append < access.log > single.log'
    expect(run(single, 'built')).toEqual({ status: 0, stderr: '' })
    expectSameBytes(folder)
  })
})
