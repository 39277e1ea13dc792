import { existsSync, mkdirSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { AtomicFile } from '../../../src/cli/enrich/atomic-file.ts'
import { temporaryFolder } from '../../temporary.ts'

const folder = temporaryFolder()
const path = join(folder, 'out')

describe('AtomicFile', () => {
  it('appears under its name when it is finished', async () => {
    const file = new AtomicFile(path)
    await file.write(Buffer.from('whole'))
    await file.flush()
    expect(existsSync(path)).toBe(false)
    await file.finish()
    expect(readFileSync(path, 'utf8')).toBe('whole')
    // A finished file is not removed.
    file.discard()
    expect(readdirSync(folder)).toEqual(['out'])
  })

  it('keeps the existing file when it is discarded, also during finish()', async () => {
    const file = new AtomicFile(path)
    await file.write(Buffer.from('half'))
    const finishing = file.finish()
    file.discard()
    file.discard()
    await finishing
    expect(readFileSync(path, 'utf8')).toBe('whole')
    expect(readdirSync(folder)).toEqual(['out'])
  })

  it('keeps it when it is discarded after flush()', async () => {
    const file = new AtomicFile(path)
    await file.flush()
    file.discard()
    await file.finish()
    expect(readFileSync(path, 'utf8')).toBe('whole')
    expect(readdirSync(folder)).toEqual(['out'])
  })

  it('says that it cannot be written when a folder has taken its name', async () => {
    const taken = join(folder, 'taken')
    const file = new AtomicFile(taken)
    await file.write(Buffer.from('whole'))
    mkdirSync(taken)
    await expect(file.finish()).rejects.toThrow(`${taken} cannot be written`)
    file.discard()
    expect(readdirSync(folder).sort()).toEqual(['out', 'taken'])
    expect(readdirSync(taken)).toEqual([])
  })
})
