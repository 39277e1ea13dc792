import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { staleData } from './stale-data.ts'
import {
  changelogProblem,
  type LockedVersion,
  lockProblem,
  type PackageJson,
  repositoryProblem,
  tagProblem,
  workTreeProblem,
} from './version.ts'

/** The package.json of a repository. */
export function packageIn(root: string): PackageJson {
  return JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
}

/** Why a repository cannot be released as it is: a sentence each, which says what to do; empty when it can be. */
export function releaseProblems(root: string): string[] {
  const packageJson = packageIn(root)
  const { version } = packageJson
  const lock: LockedVersion = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8'))
  return [
    workTreeProblem(git(root, 'status', '--porcelain', '--untracked-files=all')),
    repositoryProblem(packageJson),
    lockProblem(lock, version),
    changelogProblem(readFileSync(join(root, 'CHANGELOG.md'), 'utf8'), version),
    tagProblem(tagsOf(root), version),
    ...staleData(root),
  ].filter((problem) => problem !== null)
}

/** Tags here and, as clones of build machines have none, at the remote `origin` where there is one. */
function tagsOf(root: string): string[] {
  const here = git(root, 'tag', '--list').split('\n')
  if (!git(root, 'remote').split('\n').includes('origin')) return here
  const there = git(root, 'ls-remote', '--tags', '--refs', 'origin')
    .split('\n')
    .map((line) => line.replace(/^.*\trefs\/tags\//, ''))
  return [...here, ...there]
}

function git(root: string, ...args: string[]): string {
  return execFileSync('git', args, { cwd: root, encoding: 'utf8' })
}
