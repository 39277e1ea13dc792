import { mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll } from 'vitest'

/** A folder for the files of one test file, removed at its end. */
export function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'geofix-test-'))
  afterAll(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

/** Writes a file. @returns its path */
export function makeFile(path: string, content: string | Uint8Array): string {
  writeFileSync(path, content)
  return path
}

/** Replaces a file, or makes one that only its owner can read. No reader ever sees a part of it. */
export function replaceFile(path: string, bytes: string | Uint8Array): void {
  writeFileSync(`${path}.new`, bytes, { mode: 0o600 })
  renameSync(`${path}.new`, path)
}
