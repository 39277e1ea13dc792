import {
  linkSync,
  mkdirSync,
  renameSync,
  statSync,
  symlinkSync,
  unlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { fileState, fileStateSync, isMissing } from '../../src/node/file-state.ts'
import { temporaryFolder } from '../temporary.ts'

const folder = temporaryFolder()
const path = join(folder, 'file')
const other = join(folder, 'other')

describe('the state of a file', () => {
  it('is the same until the file changes, in both forms', async () => {
    writeFileSync(path, 'a')
    expect(await fileState(path)).toBe(fileStateSync(path))
    await wait(20)
    expect(await fileState(path)).toBe(fileStateSync(path))
  })

  it.each(
    Object.entries<() => void>({
      'is written with other bytes of the same size': () => writeFileSync(path, 'b'),
      grows: () => writeFileSync(path, 'bb'),
      'is written and its time restored': () => {
        const { atime, mtime } = statSync(path)
        writeFileSync(path, 'cc')
        utimesSync(path, atime, mtime)
      },
      'is replaced by another of the same size and time': () => {
        const { atime, mtime } = statSync(path)
        writeFileSync(other, 'dd')
        utimesSync(other, atime, mtime)
        renameSync(other, path)
      },
      'becomes a link': () => {
        linkSync(path, other)
        unlinkSync(path)
        writeFileSync(join(folder, 'third'), 'dd')
        symlinkSync('third', path)
      },
      'is written through the link': () => writeFileSync(join(folder, 'third'), 'ee'),
      'is deleted': () => unlinkSync(path),
      'is created as a folder': () => mkdirSync(path),
    }),
  )('changes when the file %s', async (_, change) => {
    const before = fileStateSync(path)
    await wait(20)
    change()
    expect(fileStateSync(path)).not.toBe(before)
    expect(await fileState(path)).toBe(fileStateSync(path))
  })

  it('has the reason why there is no file', async () => {
    const missing = join(folder, 'missing')
    expect(await fileState(missing)).toContain('ENOENT')
    expect([isMissing(await fileState(missing)), isMissing(await fileState(path))]).toEqual([true, false])
    expect(await fileState(missing)).toBe(await fileState(missing))
  })
})
