import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { enrich } from '../../../src/enrich.ts'
import { Resolver } from '../../../src/index.ts'
import { effort } from '../../effort.ts'
import { makeFile } from '../../temporary.ts'
import { outcomeOf, start } from './child.ts'
import { ndjson, workspace } from './command-line.ts'

const { folder, DB } = workspace()

describe('several threads', () => {
  it('give in the built command line what the library gives', async () => {
    // Enough for each piece of memory to be used several times.
    const input = ndjson(effort({ short: 60_000, long: 300_000 }))
    const file = makeFile(join(folder, 'many.ndjson'), input)
    const resolver = await Resolver.open(readFileSync(DB))
    const { output } = enrich(new Blob([input]).stream(), { resolver, at: new Date('2026-07-01') })
    const expected = createHash('sha256')
    for await (const chunk of output) expected.update(chunk)
    const digest = expected.digest('hex')
    for (const threads of ['1', '2', '3']) {
      const args = ['enrich', '--db', DB, '--quiet', '--at', '2026-07-01', '--threads', threads, file]
      const { status, out } = await outcomeOf(start(args))
      expect({ status, digest: createHash('sha256').update(out).digest('hex') }).toEqual({
        status: 0,
        digest,
      })
    }
  })

  it('pass on lines of any length', async () => {
    const file = makeFile(
      join(folder, 'long.ndjson'),
      `${ndjson(3)}{"ip":"81.2.69.142","x":"${'x'.repeat(5_000_000)}"}\n${ndjson(3)}`,
    )
    const args = ['enrich', '--db', DB, '--quiet', '--stats', 'json', '--at', '2026-07-01', file]
    const [one, two] = await Promise.all(
      ['1', '2'].map((threads) => outcomeOf(start([...args, '--threads', threads]))),
    )
    expect(two?.out).toBe(one?.out)
    const lengths = (two?.out.split('\n') ?? []).map(({ length }) => length)
    expect([lengths.length, lengths.findIndex((length) => length > 5_000_000)]).toEqual([8, 3])
    expect(JSON.parse(two?.err ?? '')).toMatchObject({ lines: 7, resolved: 4, bad: 1 })
  })
})
