import { spawnSync } from 'node:child_process'
import { renameSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { describe, expect, it, vi } from 'vitest'
import { createKeyFile } from '../../../src/http.ts'
import { keyListText } from '../../../src/node/keys/key-list.ts'
import { replaceFile, temporaryFolder } from '../../temporary.ts'

const folder = temporaryFolder()

describe('authenticate', () => {
  it.skipIf(process.platform === 'win32')('waits for no writer of a named pipe', async () => {
    const pipe = join(folder, 'pipe')
    spawnSync('mkfifo', ['-m', '600', pipe])
    await expect(createKeyFile(pipe)).rejects.toThrow(`${pipe}: it is not a regular file`)
    const onError = vi.fn()
    const path = join(folder, 'keys.json')
    replaceFile(path, keyListText([]))
    const file = await createKeyFile(path, { interval: 5, onError })
    renameSync(pipe, path)
    while (onError.mock.calls.length === 0) await delay(5)
    expect(file.status.error?.message).toContain('not a regular file')
    file.close()
  })
})
