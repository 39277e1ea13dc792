import { copyFileSync, readFileSync, renameSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it, vi } from 'vitest'
import { embedded, Resolver } from '../../src/index.ts'
import { DatabaseSet } from '../../src/location/database-set.ts'
import { lookAtFile } from '../../src/node/open-files.ts'
import { tryReplacement } from '../../src/node/replacement-trial.ts'
import { BlockFile } from '../../src/packed/block-file.ts'
import { itInLongRun } from '../effort.ts'
import { makeFile, temporaryFolder } from '../temporary.ts'

const folder = temporaryFolder()

describe('the trial of a replacement', () => {
  itInLongRun('decodes each block of networks once, however few blocks are kept', async () => {
    const { database } = lookAtFile(fileURLToPath(embedded.city), { cacheBytes: 0 })
    if (database === null) throw new Error('it is packed')
    const set = new DatabaseSet([database])
    const spy = vi.spyOn(BlockFile.prototype, 'block')
    await tryReplacement(set, set, [])
    const blocksOf = (kind: string) =>
      spy.mock.calls.filter(([, what]) => what === kind).map(([number]) => number)
    const networks = blocksOf('networks')
    expect(networks.length).toBeGreaterThan(500)
    // Teredo and 6to4 addresses are looked up as IPv4 addresses.
    expect(networks.length - new Set(networks).size).toBeLessThan(5)
    // The names of places are in other blocks than the records. In the order of the addresses, it would be 8,000 blocks.
    expect(blocksOf('data').length).toBeLessThan(2500)
    set.release()
  })

  it('decodes few blocks in a turn of the event loop, opening included', async () => {
    const path = makeFile(join(folder, 'turns.packed'), readFileSync(embedded.city))
    let turns = 0
    let steps = 0
    let most = 0
    let isOver = false
    const turn = (): void => {
      turns++
      steps = 0
      if (!isOver) setImmediate(turn)
    }
    // Each block takes a millisecond, on machines of every speed.
    let now = 0
    vi.spyOn(performance, 'now').mockImplementation(() => now)
    const { block } = BlockFile.prototype
    vi.spyOn(BlockFile.prototype, 'block').mockImplementation(function (this: BlockFile, ...call) {
      now++
      most = Math.max(most, ++steps)
      block.apply(this, call)
    })
    const geo = await Resolver.open(path, { watch: true, watchInterval: 5 })
    setImmediate(turn)
    renameSync(copyOf(path), path)
    await vi.waitFor(() => expect(geo.status.reloads).toBe(1), 60_000)
    isOver = true
    geo.close()
    expect(turns).toBeGreaterThan(200)
    expect(most).toBeLessThan(12)
  })
})

function copyOf(path: string): string {
  copyFileSync(path, `${path}.copy`)
  return `${path}.copy`
}
