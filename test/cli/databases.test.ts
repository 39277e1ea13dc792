import { copyFileSync, utimesSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { openForOneThread, openForThreads } from '../../src/cli/databases.ts'
import { embedded } from '../../src/embedded.ts'
import { temporaryFolder } from '../temporary.ts'

const path = join(temporaryFolder(), 'city.mmdb.packed')
copyFileSync(fileURLToPath(embedded.city), path)

describe('openForOneThread', () => {
  it('reads a packed database from its file when a lookup needs it, and not into memory', async () => {
    const [one, many] = [await openForOneThread([path], false), await openForThreads([path])]
    for (const each of [one, many]) expect(each.lookup('81.2.69.142').country.code).toBe('GB')
    utimesSync(path, 0, 0)
    expect(() => one.lookup('216.58.192.1')).toThrow('the file was changed while it is open')
    expect(many.lookup('216.58.192.1').country.code).toBe('US')
    one.close()
    many.close()
  })
})
