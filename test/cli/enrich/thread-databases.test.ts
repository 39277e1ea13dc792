import { readFileSync, writeFileSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { openForThreads } from '../../../src/cli/enrich/thread-databases.ts'
import { InvalidDatabaseError } from '../../../src/errors.ts'
import { pack } from '../../../src/packed/pack.ts'
import { withDatabases } from '../../../src/resolver.ts'
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

/** The bytes of the only database of a resolver, which are in shared memory. */
async function opened(path: string): Promise<Uint8Array> {
  const resolver = await openForThreads([path])
  const bytes = withDatabases(resolver, ({ databases: [database] }) => database?.bytes)
  expect(resolver.databases[0]).toMatchObject({ type: 'Sample-City', path })
  expect(bytes?.buffer).toBeInstanceOf(SharedArrayBuffer)
  // The threads get this memory, not a copy of it.
  expect(resolver.share({ expand: false }).databases[0]).toMatchObject({ bytes, path })
  return bytes ?? new Uint8Array()
}

describe('openForThreads', () => {
  it.each([
    ['raw', DB],
    ['gzip', file('a.gz', gzipSync(RAW))],
    ['tar.gz', file('a.tgz', gzipSync(tarOf({ 'x/city.mmdb': RAW })))],
  ])('reads a %s file into shared memory', async (_, path) => {
    expect(Buffer.compare(await opened(path), RAW)).toBe(0)
  })

  it.each([
    ['raw', RAW],
    ['gzip', gzipSync(RAW)],
    ['tar.gz', gzipSync(tarOf({ 'x/city.mmdb': RAW }))],
  ])('reads a %s database from a named pipe into shared memory', async (name, content) => {
    const pipe = makePipe(folder, `pipe-${name}`)
    const [bytes] = await Promise.all([opened(pipe), writeFile(pipe, content)])
    expect(Buffer.compare(bytes, RAW)).toBe(0)
  })

  it.each([
    ['raw', RAW, RAW.length - 1],
    ['gzip', gzipSync(RAW), RAW.length - 1],
  ])('reads no more than the limit from a named pipe: %s', async (name, content, limit) => {
    const pipe = makePipe(folder, `limited-${name}`)
    const written = writeFile(pipe, content)
    await expect(openForThreads([pipe], false, undefined, limit)).rejects.toThrow(
      'the limit that maxBytes sets',
    )
    await written
  })

  it('stops waiting for the writer of a named pipe', async () => {
    const pipe = makePipe(folder, 'unwritten')
    await expect(openForThreads([pipe], false, AbortSignal.timeout(5))).rejects.toThrow('aborted')
  })

  it('reads no more than the limit', async () => {
    const path = file('large', gzipSync(Buffer.concat([Buffer.alloc(100_000), RAW])))
    const limited = (source: string, maxBytes: number) => openForThreads([source], false, undefined, maxBytes)
    await expect(limited(path, 100_000)).rejects.toThrow('the limit that maxBytes sets')
    await expect(limited(DB, RAW.length - 1)).rejects.toThrow('the limit that maxBytes sets')
    await expect(limited('/dev/zero', 100_000)).rejects.toThrow(InvalidDatabaseError)
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
    await expect(openForThreads([path])).rejects.toThrow(InvalidDatabaseError)
    await expect(openForThreads([path])).rejects.toMatchObject({ path })
  })

  it('opens a packed database, of which threads share an expanded copy', async () => {
    const path = file('a.packed', pack(RAW))
    const packed = Buffer.from(await opened(path))
    expect(Buffer.compare(packed, readFileSync(path))).toBe(0)
    const [expanded] = (await openForThreads([path])).share().databases
    expect(expanded?.bytes.buffer).toBeInstanceOf(SharedArrayBuffer)
    expect(expanded?.tables).toBeInstanceOf(SharedArrayBuffer)
    expect(Buffer.compare(packed, expanded?.bytes ?? packed)).not.toBe(0)
    // No tree, so nothing to expand.
    const empty = pack(handMade(encode('x'), { node_count: 0 }, new Uint8Array()))
    const [small] = (await openForThreads([file('b.packed', empty)])).share().databases
    expect(Buffer.compare(small?.bytes ?? new Uint8Array(), empty)).toBe(0)
  })
})
