import { mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, onTestFinished } from 'vitest'
import { getCurrentTest } from 'vitest/suite'

/** A folder for the files of one test, or of one test file if it is made outside of tests. Removed at the end of these. */
export function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'geofix-test-'))
  const removeAfter = getCurrentTest() === undefined ? afterAll : onTestFinished
  removeAfter(() => rmSync(folder, { recursive: true, force: true }))
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
