import type { Options } from 'tsup'

type Plugin = NonNullable<Options['esbuildPlugins']>[number]

/**
 * Leaves `node:child_process` out of a bundle: commander asks for it, to start commands that are programs of their
 * own, which ours are not. The command line can start no program then, and does not load `net` for it.
 */
export function noChildProcess(): Plugin {
  return {
    name: 'no-child-process',
    setup(build) {
      build.onResolve({ filter: /^(node:)?child_process$/ }, ({ path }) => ({ path, namespace: 'absent' }))
      build.onLoad({ filter: /.*/, namespace: 'absent' }, () => ({ contents: 'module.exports = {}' }))
    },
  }
}
