import { spawnSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { ROOT } from '../package/project.ts'
import { temporaryFolder } from '../temporary.ts'

const folder = temporaryFolder()
const unit = readFileSync(join(ROOT, 'scripts/examples/service/geofix.service'), 'utf8')
const hasAnalyze = spawnSync('systemd-analyze', ['--version']).status === 0
if (!hasAnalyze) console.warn('systemd-analyze is not installed: the test of the unit file is skipped')

describe.skipIf(!hasAnalyze)('where systemd-analyze is not installed this is skipped:', () => {
  it('the unit file is one', () => {
    expect(unit).toContain('ExecStart=')
    expect(unit).toContain('ExecReload=/bin/kill -HUP $MAINPID')
    const file = join(folder, 'geofix.service')
    // The program of the unit file is not installed here.
    writeFileSync(file, unit.replace('/usr/local/bin/geofix', process.execPath))
    const { status, stderr } = spawnSync('systemd-analyze', ['verify', file], { encoding: 'utf8' })
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' })
  })
})
