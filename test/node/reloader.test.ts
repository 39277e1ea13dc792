import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { describe, expect, it, vi } from 'vitest'
import { InvalidDatabaseError } from '../../src/errors.ts'
import { DatabaseSet } from '../../src/location/database-set.ts'
import { openFile, openSource } from '../../src/node/node-source.ts'
import { Reloader } from '../../src/node/reloader.ts'
import { temporaryFolder } from '../temporary.ts'
import { generation } from './watched-files.ts'

const folder = temporaryFolder()

/** A reloader whose host first fails with each of these causes and then opens the file. */
async function failing(causes: readonly unknown[]) {
  const path = join(folder, `${Math.random()}.mmdb`)
  writeFileSync(path, generation(1))
  const source = await openSource(path)
  const left = [...causes]
  const open = vi.fn(async () => {
    if (left.length > 0) throw new InvalidDatabaseError('it cannot be read', { path, cause: left.shift() })
    return openFile(path, 1e6)
  })
  const replaced = vi.fn()
  const refused = vi.fn()
  const set = new DatabaseSet([source.database])
  const reloader = new Reloader([source.file], 5, {
    canaries: [],
    open,
    borrow: () => set.retain(),
    replaced,
    refused,
  })
  writeFileSync(path, generation(2))
  return { reloader, open, replaced, refused }
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
    expect(reloader.error).toBeNull()
  })

  it('because it is damaged is not read again', async () => {
    const { reloader, open, refused } = await failing([undefined])
    await vi.waitFor(() => expect(refused).toHaveBeenCalled(), 10_000)
    await wait(100)
    reloader.stop()
    expect(open).toHaveBeenCalledTimes(1)
    expect(reloader.error?.fault).toBe('it cannot be read')
  })

  it('because of an unexpected error is an InvalidDatabaseError too', async () => {
    const { reloader, open, refused } = await failing([])
    open.mockRejectedValueOnce(new Error('of another kind'))
    await vi.waitFor(() => expect(refused).toHaveBeenCalled(), 10_000)
    reloader.stop()
    expect(reloader.error).toBeInstanceOf(InvalidDatabaseError)
    expect(reloader.error?.fault).toBe('it cannot be opened: of another kind')
  })
})
