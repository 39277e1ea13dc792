import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { describe, expect, it, vi } from 'vitest'
import { InvalidDatabaseError } from '../../src/errors.ts'
import { DatabaseSet } from '../../src/location/database-set.ts'
import { fileStateSync } from '../../src/node/file-state.ts'
import { openFile } from '../../src/node/open-files.ts'
import { Reloader } from '../../src/node/reloader.ts'
import { watchSettings } from '../../src/node/watching.ts'
import { makeFile, temporaryFolder } from '../temporary.ts'
import { generation } from './watched-files.ts'

const folder = temporaryFolder()

/** A reloader of a new file. @param before is called before a file is opened again */
async function followed(intervalMs: number | null, before?: (path: string) => unknown) {
  const path = makeFile(join(folder, `${Math.random()}.mmdb`), generation(1))
  const source = { path, state: fileStateSync(path) }
  const set = new DatabaseSet([await openFile(path)])
  const open = vi.fn(async () => {
    await before?.(path)
    return openFile(path, { maxBytes: 1e6 })
  })
  const [replace, refused] = [vi.fn(), vi.fn()]
  const settings = { ...watchSettings({}), intervalMs, onReloadError: refused }
  const reloader = new Reloader([source], set, settings, { open, borrow: () => set.retain(), replace })
  return { path, reloader, open, replaced: replace, refused }
}

/** A reloader whose host first fails with each of these causes and then opens the file. */
async function failing(causes: readonly unknown[]) {
  const left = [...causes]
  const made = await followed(5, (path) => {
    if (left.length > 0) throw new InvalidDatabaseError('it cannot be read', { path, cause: left.shift() })
  })
  writeFileSync(made.path, generation(2))
  return made
}

describe('a replacement that could not be read', () => {
  it.each([
    ['there are no more file descriptors', Object.assign(new Error('EMFILE'), { syscall: 'open' })],
    ['there is not enough memory', new RangeError('Array buffer allocation failed')],
  ])('because %s is retried, and reported once', async (_, cause) => {
    const { reloader, open, replaced, refused } = await failing([cause, cause, cause])
    await vi.waitFor(() => expect(replaced).toHaveBeenCalled(), 10_000)
    reloader.stop()
    expect([open, refused, replaced].map((each) => each.mock.calls.length)).toEqual([4, 1, 1])
    expect(reloader.status.reloadError).toBeNull()
  })

  it('because of an unexpected error is an InvalidDatabaseError too', async () => {
    const { reloader, open, refused } = await failing([])
    open.mockRejectedValueOnce(new Error('of another kind'))
    await vi.waitFor(() => expect(refused).toHaveBeenCalled(), 10_000)
    const { reloadError } = reloader.status
    reloader.stop()
    expect(reloadError).toBeInstanceOf(InvalidDatabaseError)
    expect(reloadError?.fault).toBe('it cannot be opened: of another kind')
  })
})

describe('a reload on demand', () => {
  it('needs no polls, and does nothing for files that are the same', async () => {
    const { path, reloader, replaced } = await followed(null)
    expect(await reloader.reload()).toBe('unchanged')
    writeFileSync(path, generation(2))
    await wait(50)
    expect(replaced).not.toHaveBeenCalled()
    // The second waits for the first.
    expect(await Promise.all([reloader.reload(), reloader.reload()])).toEqual(['replaced', 'unchanged'])
    expect(replaced).toHaveBeenCalledTimes(1)
    reloader.stop()
    writeFileSync(path, generation(3))
    expect(await reloader.reload()).toBe('unchanged')
  })

  it('reports a file that cannot be used each time, and recovers', async () => {
    const { path, reloader, refused } = await followed(null)
    writeFileSync(path, 'damaged')
    expect([await reloader.reload(), await reloader.reload()]).toEqual(['refused', 'refused'])
    expect(refused).toHaveBeenCalledTimes(2)
    rmSync(path)
    expect(await reloader.reload()).toBe('refused')
    expect(reloader.status.reloadError?.path).toBe(path)
    writeFileSync(path, generation(2))
    expect(await reloader.reload()).toBe('replaced')
    expect(reloader.status.reloadError).toBeNull()
  })

  it('refuses a file that changes while it is read', async () => {
    let isChanging = true
    const { path, reloader, replaced } = await followed(null, (file) => {
      if (isChanging) writeFileSync(file, generation(3, { padding: 10 }))
    })
    writeFileSync(path, generation(2))
    const released = vi.spyOn(DatabaseSet.prototype, 'release')
    expect(await reloader.reload()).toBe('refused')
    // The refused databases, and the use of those that were open.
    expect(released).toHaveBeenCalledTimes(2)
    expect(reloader.status.reloadError).toMatchObject({
      path,
      message: expect.stringContaining('changed while it was read'),
    })
    expect(replaced).not.toHaveBeenCalled()
    isChanging = false
    expect(await reloader.reload()).toBe('replaced')
  })
})
