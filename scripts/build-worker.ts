// Bundles the TypeScript of a thread or of a process with the library, because these run plain JavaScript: a TypeScript loader would
// add time and memory.
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { build, type Options } from 'tsup'

/**
 * @param name of the script, without its ending
 * @param entry path of its TypeScript
 * @param folder inside the project, so that the script finds its dependencies
 * @returns the path of the script
 */
export async function buildWorker(
  name: string,
  entry: string,
  folder: string,
  more: Pick<Options, 'splitting' | 'treeshake'> = {},
): Promise<string> {
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
    ...more,
  })
  return join(folder, `${name}.mjs`)
}
