import { existsSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

/** The format authors' databases and real logs stand beside the project, in `../shared`, and are never copied into it. */
export const SHARED = fileURLToPath(new URL('../../shared/', import.meta.url))

/** Whether they are there. Suites that need them are `describe.skipIf(!hasShared)`. */
export const hasShared = existsSync(`${SHARED}fixtures`)

if (!hasShared) {
  console.warn(`${SHARED} has no fixtures: the tests that need them are skipped`)
}

export function sharedBytes(name: string): Uint8Array {
  return new Uint8Array(readFileSync(SHARED + name))
}
