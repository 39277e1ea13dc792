import { mkdirSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { outcomeOf, start } from './child.ts'
import { ndjson, workspace } from './command-line.ts'

const { folder: base, DB, enrich } = workspace()

describe('a temporary file', () => {
  it('of a run that was killed is removed by the next run for the output, which says so', async () => {
    const folder = join(base, 'killed')
    mkdirSync(folder)
    const output = join(folder, 'out.ndjson')
    const child = start(['enrich', '--db', DB, '--format', 'ndjson', '-o', output])
    const ended = outcomeOf(child)
    child.stdin.write(ndjson(10))
    while (readdirSync(folder).length === 0) await new Promise((resolve) => setTimeout(resolve, 10))
    // While it runs, another run leaves its file alone.
    const during = await enrich(['-o', output], ndjson(3))
    expect(during.status).toBe(0)
    expect(during.err).not.toContain('.partial')
    expect(readdirSync(folder)).toHaveLength(2)
    child.kill('SIGKILL')
    await ended
    expect(readdirSync(folder)).toHaveLength(2)
    const { status, err } = await enrich(['-o', output], ndjson(6))
    expect(status).toBe(0)
    expect(err).toMatch(/^geofix: .*out\.ndjson\.\S+\.partial was left over from a run .*; it is removed$/m)
    expect(readdirSync(folder)).toEqual(['out.ndjson'])
    expect(readFileSync(output, 'utf8').trimEnd().split('\n')).toHaveLength(6)
  })
})
