// Runs every bomb through the public interface and the commands: a typed error or a well-typed record, in bounded time
// and memory. The bounds are some ten times what a quiet machine needs, since machines differ; what does harm takes minutes.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync } from 'node:fs'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { processorMs } from '../../processor-time.ts'
import { hasShared, SHARED, sharedBytes } from '../../shared.ts'
import { temporaryFolder } from '../../temporary.ts'
import type { Toll } from './bomb-child.ts'
import { BOMBS } from './bombs.ts'
import { commandOrdeal } from './command-ordeal.ts'
import { ordeal } from './ordeal.ts'

const MB = 1_000_000
const folder = temporaryFolder()

async function tollsOf(group: string, user: string): Promise<Toll[]> {
  const script = fileURLToPath(new URL('./bomb-child.ts', import.meta.url))
  const child = spawn(process.execPath, ['--expose-gc', '--import', 'tsx', script, group, user])
  const [out, errors] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')])
  if (child.exitCode !== 0) throw new Error(`after ${out.split('\n').at(-2)}: ${errors}`)
  return out
    .trim()
    .split('\n')
    .map((line): Toll => JSON.parse(line))
}

describe.each(Object.keys(BOMBS))('the bombs of %s', (group) => {
  it.each([
    ['the library, each in ten seconds and 100 MB', 'library', 10_000],
    // Five commands, each of which opens a file of up to 96 MB.
    ['the commands, each in 100 MB beside the file', 'commands', 50_000],
  ])('do no harm to %s', async (_, user, milliseconds) => {
    const tolls = await tollsOf(group, user)
    expect(tolls).toHaveLength(BOMBS[group]?.length ?? 0)
    // A check of shared values may take as long as for a file of ten million values.
    expect(tolls.filter(({ cpu }) => cpu > (group === 'sharing' ? 5 : 1) * milliseconds)).toEqual([])
    expect(tolls.filter(({ memory }) => memory > 100 * MB)).toEqual([])
  })
})

describe.skipIf(!hasShared)('the fixtures', () => {
  const files = ['mmdb', 'mmdb-bad'].flatMap((folder) =>
    (hasShared ? readdirSync(`${SHARED}fixtures/${folder}`) : []).map((name) => `fixtures/${folder}/${name}`),
  )
  it.each(files)('%s', async (file) => {
    expect(processorMs(() => ordeal(sharedBytes(file)))).toBeLessThan(10_000)
    await commandOrdeal(sharedBytes(file), folder)
  })
})
