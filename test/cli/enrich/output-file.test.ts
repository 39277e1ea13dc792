import { mkdirSync, realpathSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { resolveLinks } from '../../../src/cli/enrich/descriptors.ts'
import { temporaryFolder } from '../../temporary.ts'

const folder = realpathSync(temporaryFolder())

function link(name: string, target: string): string {
  const path = join(folder, name)
  symlinkSync(target, path)
  return path
}

describe('resolveLinks', () => {
  it.each([
    ['/dev/stdout', 1],
    ['/dev/stderr', 2],
    ['/dev/../dev//stdout', 1],
    ['/dev/fd/1', 1],
    ['/dev/fd/17', 17],
    ['/proc/self/fd/2', 2],
    ['/proc/thread-self/fd/2', 2],
    [`/proc/${process.pid}/fd/5`, 5],
    ['/dev/null', '/dev/null'],
    ['/dev/fd', '/dev/fd'],
  ])('resolves %s to %s', async (name, target) => {
    // /dev/fd can be a link.
    const found = await resolveLinks(name)
    if (name === '/dev/fd') expect(found).not.toBeTypeOf('number')
    else expect(found).toBe(target)
  })

  it('follows links to a descriptor', async () => {
    link('to-stdout', '/dev/stdout')
    expect(await resolveLinks(link('to-it', 'to-stdout'))).toBe(1)
  })

  it('follows links to a file that does not exist', async () => {
    mkdirSync(join(folder, 'a'))
    mkdirSync(join(folder, 'b'))
    mkdirSync(join(folder, 'b', 'c'))
    // A relative link in a linked folder starts at the real folder.
    link('a/to-c', '../b/c')
    symlinkSync('../later', join(folder, 'b', 'c', 'link'))
    const found = await resolveLinks(join(folder, 'a', 'to-c', 'link'))
    writeFileSync(String(found), '')
    expect(realpathSync(String(found))).toBe(join(folder, 'b', 'later'))
    expect(await resolveLinks(link('absolute', join(folder, 'none', 'at', 'all')))).toBe(
      join(folder, 'none', 'at', 'all'),
    )
  })

  it('rejects links that form a cycle', async () => {
    link('one', 'two')
    link('two', 'one')
    await expect(resolveLinks(join(folder, 'one'))).rejects.toMatchObject({ code: 'ELOOP' })
  })
})
