import { openSync, realpathSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { describe, expect, it } from 'vitest'
import { temporaryFolder } from '../../temporary.ts'
import { makePipe } from './child.ts'
import { geofix, writeDatabase } from './command-line.ts'

const folder = realpathSync(temporaryFolder())

describe('geofix enrich -o', () => {
  const DB = writeDatabase(folder)
  const enrich = (output: string) =>
    geofix(['enrich', '--db', DB, '--quiet', '--format', 'ndjson', '--output', output], {
      input: '{"ip":"81.2.69.142"}\n',
    })
  const LINES = expect.stringMatching(/^\{"ip":"81\.2\.69\.142",.*"city":"London".*\}\n$/)

  it('writes into a named pipe, which it does not replace', async () => {
    const pipe = makePipe(folder, 'named')
    expect(await Promise.all([enrich(pipe), readFile(pipe, 'utf8')])).toEqual([
      { status: 0, out: '', err: '' },
      LINES,
    ])
  })

  it('writes into an open pipe by its descriptor, and ends it', async () => {
    const pipe = makePipe(folder, 'open')
    const read = readFile(pipe, 'utf8')
    const fd = openSync(pipe, 'w')
    expect((await enrich(`/dev/fd/${fd}`)).status).toBe(0)
    expect(await read).toEqual(LINES)
  })
})
