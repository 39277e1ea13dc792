// No function that decompresses accepts more than `maxBytes`, or allocates the size of a forged trailer.
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { InvalidDatabaseError } from '../../src/errors.ts'
import { temporaryFolder } from '../temporary.ts'
import { CONTENT } from './gzip-samples.ts'
import { archive, entry } from './tar-samples.ts'
import { waysToUnpack } from './ways-to-unpack.ts'

const folder = temporaryFolder()
const WAYS = waysToUnpack(join(folder, 'file'))

const TOO_LARGE = /it has more than \d+ bytes, the limit that maxBytes sets: use a larger maxBytes/

describe.each(WAYS)('%s', (_, unpack) => {
  it('accepts a file of exactly maxBytes, but not one byte more', async () => {
    const packed = gzipSync(CONTENT)
    expect(packed.length).toBeLessThan(CONTENT.length)
    expect(await unpack(packed, CONTENT.length)).toHaveLength(CONTENT.length)
    await expect(unpack(packed, CONTENT.length - 1)).rejects.toThrow(TOO_LARGE)
    await expect(unpack(packed, CONTENT.length - 1)).rejects.toThrow(InvalidDatabaseError)
  })

  it('counts the compressed bytes too', async () => {
    const stored = gzipSync(CONTENT, { level: 0 })
    await expect(unpack(stored, CONTENT.length)).rejects.toThrow(TOO_LARGE)
    expect(await unpack(stored, stored.length)).toHaveLength(CONTENT.length)
  })

  it('counts a whole archive, not only the database in it', async () => {
    const tar = archive(entry({ name: 'a.mmdb', content: CONTENT }))
    await expect(unpack(gzipSync(tar), tar.length - 1)).rejects.toThrow(TOO_LARGE)
    expect((await unpack(gzipSync(tar), tar.length)).length).toBeGreaterThanOrEqual(CONTENT.length)
  })
})
