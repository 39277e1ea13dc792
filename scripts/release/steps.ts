import { tagOf } from './version.ts'

/** A program with its arguments. */
export type Step = readonly [program: string, ...args: string[]]

/** What must pass before anything is published; the last makes the file that is. npm runs no script by itself here. */
export const CHECKS: readonly Step[] = [
  ['npm', 'run', 'lint'],
  ['npm', 'run', 'typecheck'],
  ['npm', 'test'],
  ['npm', 'run', 'build'],
  ['npm', 'pack'],
]

/**
 * Publishes the file that was packed, and marks the commit. In that order: a tag says that a version is out.
 *
 * @param name of the package
 */
export function publication(name: string, version: string): Step[] {
  // npm demands that what comes before a version is not what everybody gets.
  const channel = version.includes('-') ? ['--tag', 'next'] : []
  return [
    ['npm', 'publish', `./${name}-${version}.tgz`, '--provenance', '--access', 'public', ...channel],
    ['git', 'tag', '--annotate', tagOf(version), '--message', `${name} ${version}`],
    ['git', 'push', 'origin', tagOf(version)],
  ]
}
