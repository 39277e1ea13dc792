import { writeFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { Resolver } from '../src/index.ts'
import { makePipe } from './cli/enrich/child.ts'
import { temporaryFolder } from './temporary.ts'

describe('opening that is aborted', () => {
  it.skipIf(process.platform === 'win32')('fails while a pipe says nothing', async () => {
    const pipe = makePipe(temporaryFolder(), 'pipe')
    const controller = new AbortController()
    const opening = Resolver.open(pipe, { signal: controller.signal }).catch((error: unknown) => error)
    await new Promise((resolve) => setTimeout(resolve, 20))
    controller.abort()
    expect(await opening).toBe(controller.signal.reason)
    // Its writer comes after all: nothing waits for the pipe any more.
    writeFileSync(pipe, '')
  })
})
