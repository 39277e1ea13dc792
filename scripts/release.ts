// Releases the version in package.json: npm run release -- [--dry-run | --publish | --publish-tag].
// --dry-run only lists the problems. --publish is for the build machine, which provides npm's provenance: it publishes and
// then tags the commit. --publish-tag publishes a commit that has the tag already, as a workflow does that the tag started.
// Without these, the script prints the remaining commands.

import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import packageJson from '../package.json' with { type: 'json' }
import { packageIn, releaseProblems, tagOf } from './release/repository.ts'

/** A program with its arguments. */
export type Step = readonly [program: string, ...args: string[]]

/** These must pass before publishing. The last one makes the tarball. npm runs no scripts by itself: see .npmrc. */
export const CHECKS: readonly Step[] = [
  ['npm', 'run', 'lint'],
  ['npm', 'run', 'typecheck'],
  ['npm', 'run', 'test:all'],
  ['npm', 'run', 'build'],
  ['npm', 'run', 'core-package'],
  ['npm', 'pack'],
  ['npm', 'pack', './.cache/geofix-core'],
]

/** The commands that publish the tarballs, then tag the commit: a tag means that the version is published. */
export function publication(
  name: string,
  version: string,
): { readonly publishing: readonly Step[]; readonly tagging: readonly Step[] } {
  // npm requires a tag other than `latest` for prereleases.
  const channel = version.includes('-') ? ['--tag', 'next'] : []
  return {
    publishing: [name, `${name}-core`].map((each) => [
      ...(['npm', 'publish', `./${each}-${version}.tgz`, '--provenance', '--access', 'public'] as const),
      ...channel,
    ]),
    tagging: [
      ['git', 'tag', '--annotate', tagOf(version), '--message', `${name} ${version}`],
      ['git', 'push', 'origin', tagOf(version)],
    ],
  }
}

const MODES = ['--dry-run', '--publish', '--publish-tag']

/**
 * @param args at most one of `--dry-run`, `--publish` and `--publish-tag`
 * @param run runs a program and throws if it fails
 * @returns the exit status: 0, 1 if there are problems, 2 for wrong usage
 */
export function release(root: string, args: readonly string[], run: (step: Step) => void): 0 | 1 | 2 {
  const [mode, ...others] = args
  if (others.length > 0 || (mode !== undefined && !MODES.includes(mode))) {
    console.error('Usage: npm run release -- [--dry-run | --publish | --publish-tag]')
    return 2
  }
  const isTagged = mode === '--publish-tag'
  if (hasProblems(root, isTagged)) return 1
  const { version } = packageIn(root)
  if (mode === '--dry-run') {
    console.log(`${version} can be released`)
    return 0
  }
  for (const step of CHECKS) run(step)
  // The checks may have changed the work tree.
  if (hasProblems(root, isTagged)) return 1
  const { publishing, tagging } = publication(packageJson.name, version)
  const steps = isTagged ? publishing : [...publishing, ...tagging]
  if (mode !== undefined) for (const step of steps) run(step)
  else
    console.log(
      `${version} is packed. Run these commands to publish it:\n${steps.map((step) => `  ${step.join(' ')}`).join('\n')}`,
    )
  return 0
}

function hasProblems(root: string, isTagged: boolean): boolean {
  const problems = releaseProblems(root, isTagged)
  for (const problem of problems) console.error(`not released: ${problem}`)
  return problems.length > 0
}

if (process.argv[1] === import.meta.filename) {
  const root = join(import.meta.dirname, '..')
  process.exitCode = release(root, process.argv.slice(2), ([program, ...args]) => {
    console.log(`\n== ${program} ${args.join(' ')}`)
    execFileSync(program, args, { cwd: root, stdio: 'inherit' })
  })
}
