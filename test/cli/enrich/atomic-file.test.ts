import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { AtomicFile } from '../../../src/cli/enrich/atomic-file.ts'
import { temporaryFolder } from '../../temporary.ts'

const folder = temporaryFolder()
const path = join(folder, 'out')

describe('a file that gets its name when it is whole', () => {
  it('is not there before', async () => {
    const file = new AtomicFile(path)
    await file.write(Buffer.from('whole'))
    expect(existsSync(path)).toBe(false)
    await file.finish()
    expect(readFileSync(path, 'utf8')).toBe('whole')
    // It is nobody's to give up any more.
    file.discard()
    expect(readdirSync(folder)).toEqual(['out'])
  })

  it('leaves what was there when it is given up, also at its last moment', async () => {
    const file = new AtomicFile(path)
    await file.write(Buffer.from('half'))
    const finishing = file.finish()
    file.discard()
    file.discard()
    await finishing
    expect(readFileSync(path, 'utf8')).toBe('whole')
    expect(readdirSync(folder)).toEqual(['out'])
  })
})
