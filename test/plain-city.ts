import { mkdirSync, readFileSync, renameSync } from 'node:fs'
import { join } from 'node:path'
import { sha256 } from '../scripts/build-data/manifest.ts'
import { plainForm } from '../scripts/build-data/packed-form.ts'
import { embedded } from '../src/index.ts'
import { makeFile } from './temporary.ts'

const CACHE = join(import.meta.dirname, '../.cache/test')

/**
 * The MMDB file of the embedded city database, uncompressed. Unpacking takes seconds, so the first call of the first run
 * leaves it in `.cache/test`.
 */
export function plainCity(): Buffer {
  const packed = readFileSync(embedded.city)
  const path = join(CACHE, `city-${sha256(packed)}.mmdb`)
  try {
    return readFileSync(path)
  } catch {
    const plain = plainForm(packed)
    mkdirSync(CACHE, { recursive: true })
    // Several test files can do this at the same time.
    const unfinished = makeFile(`${path}.${process.pid}`, plain)
    renameSync(unfinished, path)
    return plain
  }
}
