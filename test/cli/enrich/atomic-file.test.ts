import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { AtomicFile, removeLeftovers } from '../../../src/cli/enrich/atomic-file.ts'
import { geofix, workspace } from './command-line.ts'

const { DB, freshFolder } = workspace()

describe('AtomicFile', () => {
  const folder = freshFolder()
  const path = join(folder, 'out')

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

  it('does not write through a link at its temporary name', () => {
    const own = freshFolder()
    const random = vi.spyOn(crypto, 'getRandomValues').mockImplementation((bytes) => bytes)
    onTestFinished(() => random.mockRestore())
    const first = new AtomicFile(join(own, 'out'))
    const [name = ''] = readdirSync(own)
    first.discard()
    symlinkSync(path, join(own, name))
    expect(() => new AtomicFile(join(own, 'out'))).toThrow('file already exists')
    expect(readFileSync(path, 'utf8')).toBe('whole')
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

/** More than the largest number of a process on Linux, which is 2^22. */
const ENDED = 2 ** 22 + 1

/** Makes the file that a process which has ended would have left, with a change of its name. @returns the name */
function leftover(folder: string, target: string, change = (name: string) => name): string {
  const file = new AtomicFile(join(folder, target))
  const [own = ''] = readdirSync(folder)
  file.discard()
  const name = change(own.replace(`-${process.pid}-`, `-${ENDED}-`))
  writeFileSync(join(folder, name), '')
  return name
}

describe('a temporary file', () => {
  it('is also removed by the conversions', async () => {
    const folder = freshFolder()
    const name = leftover(folder, 'out.packed')
    const ran = await geofix(['pack', DB, '-o', join(folder, 'out.packed')])
    expect(ran).toMatchObject({ status: 0, err: expect.stringContaining(`${name} was left over`) })
    expect(readdirSync(folder)).toEqual(['out.packed'])
  })

  it.each<[string, (name: string) => string, ...notes: RegExp[]]>([
    ['of another machine', (name) => name.replace(/\.[\da-f]{8}-/, '.00000000-'), /another machine/],
    ['of a process that runs', (name) => name.replace(/-\d+-/, `-${process.ppid}-`)],
    ['of a process of another user', (name) => name.replace(/-\d+-/, '-1-')],
    ['of another output', (name) => name.replace('out', 'other')],
    ['of an output whose name starts with this one', (name) => name.replace('out', 'out.gz')],
    ['that another program made', () => 'out.partial'],
    ['of that program', () => 'out.0123456789ab.partial'],
  ])('%s is kept', (_, change, ...notes) => {
    const folder = freshFolder()
    const name = leftover(folder, 'out', change)
    expect(removeLeftovers(join(folder, 'out'))).toEqual(notes.map((note) => expect.stringMatching(note)))
    expect(readdirSync(folder)).toEqual([name])
  })

  it('of this process is kept until it has its name', async () => {
    const folder = freshFolder()
    const file = new AtomicFile(join(folder, 'out'))
    expect(removeLeftovers(join(folder, 'out'))).toEqual([])
    await file.finish()
    expect(readdirSync(folder)).toEqual(['out'])
  })

  it('with the number of this process, from an earlier one, is removed', () => {
    const folder = freshFolder()
    leftover(folder, 'out', (name) =>
      name.replace(/-\d+-/, `-${process.pid}-`).replace(/[\da-f]{6}\.partial$/, 'aaaaaa.partial'),
    )
    expect(removeLeftovers(join(folder, 'out'))).toHaveLength(1)
    expect(readdirSync(folder)).toEqual([])
  })

  it('that is a folder or whose folder does not exist is ignored', () => {
    const folder = freshFolder()
    const path = join(folder, leftover(folder, 'out'))
    rmSync(path)
    mkdirSync(path)
    expect(removeLeftovers(join(folder, 'out'))).toEqual([])
    expect(removeLeftovers(join(folder, 'missing', 'out'))).toEqual([])
    expect(readdirSync(folder)).toHaveLength(1)
  })
})
