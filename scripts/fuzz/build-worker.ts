import { mkdirSync, rmSync } from 'node:fs'
import { basename, join } from 'node:path'
import { build } from 'tsup'

const PROJECT = join(import.meta.dirname, '../..')

/**
 * Bundles a worker with the library and the targets, because threads run plain JavaScript.
 *
 * @param entry path of its TypeScript
 * @returns the path of the script, which the caller removes
 */
export async function buildWorker(entry: string): Promise<string> {
  // At the same depth in the project as the tests, which use relative paths.
  const folder = join(PROJECT, '.cache')
  const name = `fuzz-${basename(entry, '.ts')}-${process.pid}`
  mkdirSync(folder, { recursive: true })
  await build({
    config: false,
    entry: { [name]: entry },
    outDir: folder,
    outExtension: () => ({ js: '.mjs' }),
    format: ['esm'],
    target: 'node20',
    platform: 'node',
    splitting: false,
    // Do not bundle packages.
    external: [/^[^./]/],
    silent: true,
    clean: false,
    removeNodeProtocol: false,
  })
  return join(folder, `${name}.mjs`)
}

export function removeWorker(script: string): void {
  rmSync(script, { force: true })
}
