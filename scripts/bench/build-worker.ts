import { join } from 'node:path'
import { build } from 'tsup'

/**
 * Bundles the worker with the library as the package is bundled, so that plain Node runs plain JavaScript: what
 * runs TypeScript as it is would take part in time and memory.
 *
 * @param folder inside the project, from where its dependencies are found
 * @returns the path of the script
 */
export async function buildWorker(folder: string): Promise<string> {
  await build({
    config: false,
    entry: { worker: join(import.meta.dirname, 'worker', 'index.ts') },
    outDir: folder,
    outExtension: () => ({ js: '.mjs' }),
    format: ['esm'],
    target: 'node20',
    platform: 'node',
    splitting: true,
    treeshake: true,
    external: ['@fastify/proxy-addr'],
    silent: true,
    clean: false,
    removeNodeProtocol: false,
  })
  return join(folder, 'worker.mjs')
}
