import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { staleData } from './stale-data.ts'

/** The package.json of a repository. */
export function packageIn(root: string): PackageJson {
  return JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
}

/**
 * Why a repository cannot be released; empty if it can. Each sentence says what to do.
 *
 * @param isTagged whether the commit must have the tag of its version already; otherwise no commit may have it
 */
export function releaseProblems(root: string, isTagged = false): string[] {
  const packageJson = packageIn(root)
  const { version } = packageJson
  const lock: PackageLock = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8'))
  return [
    workTreeProblem(git(root, 'status', '--porcelain', '--untracked-files=all')),
    repositoryProblem(packageJson),
    pagesProblem(packageJson),
    lockProblem(lock, version),
    changelogProblem(readFileSync(join(root, 'CHANGELOG.md'), 'utf8'), version),
    isTagged
      ? missingTagProblem(git(root, 'tag', '--points-at', 'HEAD').split('\n'), version)
      : tagProblem(tagsOf(root), version),
    ...staleData(root),
  ].filter((problem) => problem !== null)
}

/** Local tags and those of the remote `origin`, if there is one: clones on build machines have no tags. */
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

export function tagOf(version: string): string {
  return `v${version}`
}

/** @param status output of `git status --porcelain` with untracked files */
export function workTreeProblem(status: string): string | null {
  const lines = status.split('\n').filter((line) => line !== '')
  if (lines.length === 0) return null
  const shown = lines.slice(0, 10).map((line) => `\n    ${line}`)
  const rest = lines.length > shown.length ? `\n    and ${lines.length - shown.length} more` : ''
  return `the work tree is not clean: commit, stash or remove these files:${shown.join('')}${rest}`
}

/** @param changelog text in the format of Keep a Changelog */
export function changelogProblem(changelog: string, version: string): string | null {
  const lines = changelog.split(/\r?\n/)
  const start = lines.findIndex((line) => line.startsWith(`## [${version}]`))
  if (start < 0) {
    return `CHANGELOG.md has no section for ${version}: add "## [${version}] - YYYY-MM-DD" above the entries under "## [Unreleased]"`
  }
  const heading = lines[start] ?? ''
  const date = heading.slice(`## [${version}]`.length)
  if (!isDate(date)) {
    return `CHANGELOG.md has the heading "${heading}": write it as "## [${version}] - YYYY-MM-DD", with the date of the release`
  }
  const length = lines.slice(start + 1).findIndex((line) => line.startsWith('## '))
  const section = lines.slice(start + 1, length < 0 ? undefined : start + 1 + length)
  if (section.some((line) => /^\s*[-*] \S/.test(line))) return null
  return `CHANGELOG.md has no entries under "${heading}": list each change as "- …"`
}

function isDate(text: string): boolean {
  const day = /^ - (\d{4}-\d{2}-\d{2})$/.exec(text)?.[1]
  // Some engines parse 31 February as 3 March.
  const time = day === undefined ? Number.NaN : Date.parse(`${day}T00:00:00Z`)
  return !Number.isNaN(time) && new Date(time).toISOString().slice(0, 10) === day
}

/** @param tags all local and remote tags */
export function tagProblem(tags: readonly string[], version: string): string | null {
  if (!tags.includes(tagOf(version))) return null
  return `the tag ${tagOf(version)} exists already: set the next version in package.json and package-lock.json`
}

/** @param tags those of the commit */
export function missingTagProblem(tags: readonly string[], version: string): string | null {
  if (tags.includes(tagOf(version))) return null
  return `the commit does not have the tag ${tagOf(version)}: run "git tag ${tagOf(version)}", or publish a commit that has it`
}

/** The fields of package.json that a release needs. */
export interface PackageJson {
  readonly version: string
  readonly repository?: string | { readonly url?: string }
  readonly homepage?: string
  readonly bugs?: string | { readonly url?: string }
}

/** npm checks that the package was built from the repository that it names. */
export function repositoryProblem({ repository }: PackageJson): string | null {
  const url = urlOf(repository)
  if (url !== undefined && /github\.com[/:]/.test(url)) return null
  return 'package.json names no repository on GitHub, which the provenance of npm requires: add "repository": { "type": "git", "url": "git+https://github.com/OWNER/NAME.git" }'
}

/** npm shows both, and `npm bugs` and `npm docs` open them. @returns `null` also if there is no repository yet */
export function pagesProblem({ repository, bugs, homepage }: PackageJson): string | null {
  const [, name] = /github\.com[/:]([\w.-]+\/[\w.-]+?)(?:\.git)?$/.exec(urlOf(repository) ?? '') ?? []
  if (name === undefined) return null
  const issues = `https://github.com/${name}/issues`
  if (urlOf(bugs) !== issues) {
    return `package.json does not name the page for faults of its repository: add "bugs": { "url": "${issues}" }`
  }
  if (homepage !== undefined && URL.canParse(homepage)) return null
  return `package.json has no homepage: add "homepage": "https://github.com/${name}#readme"`
}

function urlOf(place: string | { readonly url?: string } | undefined): string | undefined {
  return typeof place === 'string' ? place : place?.url
}

/** The fields of package-lock.json with the version of the package. */
export interface PackageLock {
  readonly version?: string
  readonly packages?: Readonly<Record<string, { readonly version?: string }>>
}

export function lockProblem(lock: PackageLock, version: string): string | null {
  const locked = [lock.version, lock.packages?.['']?.version]
  const other = locked.find((each) => each !== version)
  if (locked.every((each) => each === version)) return null
  return `package-lock.json has version ${other ?? 'none'}, package.json has ${version}: run "npm install --package-lock-only"`
}
