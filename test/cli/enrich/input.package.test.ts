import { spawnSync } from 'node:child_process'
import { closeSync, existsSync, openSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import * as zlib from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { ROOT } from '../../package/project.ts'
import { temporaryFolder } from '../../temporary.ts'
import { makePipe } from './child.ts'
import { geofix, ndjson, writeDatabase } from './command-line.ts'

const folder = temporaryFolder()
const DB = writeDatabase(folder)
const { gzipSync } = zlib

const enrich = (...args: string[]) => geofix(['enrich', '--db', DB, '--quiet', ...args])
const idsOf = (out: string): number[] =>
  out
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line).id)
const upTo = (count: number): number[] => Array.from({ length: count }, (_, index) => index)

describe('the input of geofix enrich', () => {
  it.each([
    ['raw', ndjson(100)],
    ['gzip', gzipSync(ndjson(100))],
  ])('can be a named pipe: %s', async (name, content) => {
    const pipe = makePipe(folder, `pipe-${name}`)
    const [{ status, out }] = await Promise.all([enrich(pipe), writeFile(pipe, content)])
    expect(status).toBe(0)
    expect(idsOf(out)).toEqual(upTo(100))
  })
  const packed = gzipSync(ndjson(1000))
  const flipped = Uint8Array.from(packed)
  flipped[packed.length - 6] = (flipped[packed.length - 6] ?? 0) ^ 1

  it.each([
    ['enrich', 4],
    ['', 1],
  ])('that is a directory on standard input ends geofix %s with %i', (name, expected) => {
    const fd = openSync(folder, 'r')
    const output = join(folder, 'of-a-directory')
    const args = name === '' ? [] : [name, '--quiet', '-o', output]
    const { status, stdout, stderr } = spawnSync(
      process.execPath,
      [join(ROOT, 'dist/cli.js'), ...args, '--db', DB],
      { stdio: [fd, 'pipe', 'pipe'], encoding: 'utf8' },
    )
    closeSync(fd)
    expect({ status, stdout, stderr }).toEqual({
      status: expected,
      stdout: '',
      stderr: 'geofix: standard input cannot be read: it is a directory (EISDIR)\n',
    })
    expect(existsSync(output)).toBe(false)
  })
})
