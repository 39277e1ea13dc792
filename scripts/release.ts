// Releases the version that package.json names: npm run release -- [--dry-run | --publish].
// --dry-run says only what is in the way. --publish is for the build machine, which npm gives the provenance by;
// without it the commands that are left are printed.
import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import packageJson from '../package.json' with { type: 'json' }
import { packageIn, releaseProblems } from './release/repository.ts'
import { CHECKS, publication, type Step } from './release/steps.ts'

const MODES = ['--dry-run', '--publish']

/**
 * @param args at most one of `--dry-run` and `--publish`
 * @param run runs a program to its end, and throws when it fails
 * @returns the exit status: 0, 1 when something is in the way, 2 for wrong usage
 */
export function release(root: string, args: readonly string[], run: (step: Step) => void): 0 | 1 | 2 {
  const [mode, ...others] = args
  if (others.length > 0 || (mode !== undefined && !MODES.includes(mode))) {
    console.error('npm run release -- [--dry-run | --publish]')
    return 2
  }
  if (isInTheWay(root)) return 1
  const { version } = packageIn(root)
  if (mode === '--dry-run') {
    console.log(`${version} can be released`)
    return 0
  }
  for (const step of CHECKS) run(step)
  // What ran may have changed what is to be tagged.
  if (isInTheWay(root)) return 1
  const steps = publication(packageJson.name, version)
  if (mode === '--publish') for (const step of steps) run(step)
  else
    console.log(
      `${version} is packed. What is left:\n${steps.map((step) => `  ${step.join(' ')}`).join('\n')}`,
    )
  return 0
}

function isInTheWay(root: string): boolean {
  const problems = releaseProblems(root)
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
