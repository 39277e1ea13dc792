import { readFileSync, writeFileSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { expanded, loadShared, openShared } from '../../../src/cli/enrich/shared-database.ts'
import { InvalidDatabaseError } from '../../../src/errors.ts'
import { pack } from '../../../src/packed/pack.ts'
import { encode, handMade } from '../../mmdb/hand-made.ts'
import { tarOf } from '../../tar-archive.ts'
import { temporaryFolder } from '../../temporary.ts'
import { makePipe, writeDatabase } from './command-line.ts'

const folder = temporaryFolder()
const DB = writeDatabase(folder)
const RAW = readFileSync(DB)

function file(name: string, content: Uint8Array): string {
  const path = join(folder, name)
  writeFileSync(path, content)
  return path
}

describe('loadShared', () => {
  it.each([
    ['raw', DB],
    ['gzip', file('a.gz', gzipSync(RAW))],
    ['tar.gz', file('a.tgz', gzipSync(tarOf({ 'x/city.mmdb': RAW })))],
  ])('reads a %s file into shared memory', async (_, path) => {
    const database = await loadShared(path)
    expect(database.bytes.buffer).toBeInstanceOf(SharedArrayBuffer)
    expect(Buffer.compare(database.bytes, RAW)).toBe(0)
    expect(openShared([database]).info[0]).toMatchObject({ type: 'Sample-City', path })
  })

  it.each([
    ['raw', RAW],
    ['gzip', gzipSync(RAW)],
    ['tar.gz', gzipSync(tarOf({ 'x/city.mmdb': RAW }))],
  ])('reads a %s database from a named pipe into shared memory', async (name, content) => {
    const pipe = makePipe(folder, `pipe-${name}`)
    const [{ bytes, path }] = await Promise.all([loadShared(pipe), writeFile(pipe, content)])
    expect(bytes.buffer).toBeInstanceOf(SharedArrayBuffer)
    expect(Buffer.compare(bytes, RAW)).toBe(0)
    expect(path).toBe(pipe)
  })

  it.each([
    ['raw', RAW, RAW.length - 1],
    ['gzip', gzipSync(RAW), RAW.length - 1],
  ])('reads no more than the limit from a named pipe: %s', async (name, content, limit) => {
    const pipe = makePipe(folder, `limited-${name}`)
    const written = writeFile(pipe, content)
    await expect(loadShared(pipe, limit)).rejects.toThrow('the limit that maxBytes sets')
    await written
  })

  it('stops waiting for the writer of a named pipe', async () => {
    const pipe = makePipe(folder, 'unwritten')
    await expect(loadShared(pipe, undefined, AbortSignal.timeout(5))).rejects.toThrow('aborted')
  })

  it('reads no more than the limit', async () => {
    const path = file('large', gzipSync(Buffer.concat([Buffer.alloc(100_000), RAW])))
    await expect(loadShared(path, 100_000)).rejects.toThrow('the limit that maxBytes sets')
    await expect(loadShared(DB, RAW.length - 1)).rejects.toThrow('the limit that maxBytes sets')
    await expect(loadShared('/dev/zero', 100_000)).rejects.toThrow(InvalidDatabaseError)
  })

  it.each([
    ['truncated gzip', gzipSync(RAW).subarray(0, 500)],
    ['gzip with two members', Buffer.concat([gzipSync(RAW), gzipSync(RAW)])],
    ['gzip with an empty second member', Buffer.concat([gzipSync(RAW), gzipSync('')])],
    ['gzip with an empty first member', Buffer.concat([gzipSync(''), gzipSync(RAW)])],
    ['gzip followed by other bytes', Buffer.concat([gzipSync(RAW), Buffer.from('rubbish')])],
    ['gzip followed by zeros', Buffer.concat([gzipSync(RAW), Buffer.alloc(8)])],
    ['a text', Buffer.from('hello')],
    ['an empty file', Buffer.alloc(0)],
  ])('refuses %s', async (_, bytes) => {
    const path = file('bad', bytes)
    await expect(loadShared(path).then((database) => openShared([database]))).rejects.toThrow(
      InvalidDatabaseError,
    )
  })
})

describe('expanded', () => {
  it('makes a packed database an MMDB file in shared memory, and leaves others as they are', async () => {
    const plain = await loadShared(DB)
    expect(expanded(plain)).toEqual(plain)
    const path = file('a.packed', pack(RAW))
    const packed = await loadShared(path)
    const database = expanded(packed)
    expect(database.bytes.buffer).toBeInstanceOf(SharedArrayBuffer)
    expect(openShared([database]).info[0]).toEqual({
      ...openShared([packed]).info[0],
      nodeCount: expect.any(Number),
    })
    // No tree, so nothing to expand.
    const small = await loadShared(
      file('b.packed', pack(handMade(encode('x'), { node_count: 0 }, new Uint8Array()))),
    )
    expect(expanded(small).bytes).toBe(small.bytes)
  })
})
