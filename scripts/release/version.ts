// What must agree about a version before it is released. Each function says what is wrong and what to do, or null.

/** The tag of a version. */
export function tagOf(version: string): string {
  return `v${version}`
}

/** @param status what `git status --porcelain` prints, untracked files with it */
export function workTreeProblem(status: string): string | null {
  const lines = status.split('\n').filter((line) => line !== '')
  if (lines.length === 0) return null
  const shown = lines.slice(0, 10).map((line) => `\n    ${line}`)
  const rest = lines.length > shown.length ? `\n    and ${lines.length - shown.length} more` : ''
  return `the work tree is not clean: commit, stash or remove these:${shown.join('')}${rest}`
}

/** @param changelog text in the format of Keep a Changelog */
export function changelogProblem(changelog: string, version: string): string | null {
  const lines = changelog.split(/\r?\n/)
  const start = lines.findIndex((line) => line.startsWith(`## [${version}]`))
  if (start < 0) {
    return `CHANGELOG.md has no section for ${version}: write "## [${version}] - YYYY-MM-DD" over what is under "## [Unreleased]"`
  }
  const heading = lines[start] ?? ''
  const date = heading.slice(`## [${version}]`.length)
  if (!isDate(date)) {
    return `CHANGELOG.md has the heading "${heading}": write it as "## [${version}] - YYYY-MM-DD", with the day of the release`
  }
  const length = lines.slice(start + 1).findIndex((line) => line.startsWith('## '))
  const section = lines.slice(start + 1, length < 0 ? undefined : start + 1 + length)
  if (section.some((line) => /^\s*[-*] \S/.test(line))) return null
  return `CHANGELOG.md says nothing under "${heading}": list what has changed, each as "- …"`
}

function isDate(text: string): boolean {
  const day = /^ - (\d{4}-\d{2}-\d{2})$/.exec(text)?.[1]
  // Some engines read 31 February as 3 March.
  const time = day === undefined ? Number.NaN : Date.parse(`${day}T00:00:00Z`)
  return !Number.isNaN(time) && new Date(time).toISOString().slice(0, 10) === day
}

/** @param tags all that there are, here and where they are pushed to */
export function tagProblem(tags: readonly string[], version: string): string | null {
  if (!tags.includes(tagOf(version))) return null
  return `the tag ${tagOf(version)} is there already: set the next version in package.json and package-lock.json`
}

/** The parts of a package.json that a release looks at. */
export interface PackageJson {
  readonly version: string
  readonly repository?: string | { readonly url?: string }
}

/** npm compares the repository that a package names with the one that the provenance says it was built from. */
export function repositoryProblem({ repository }: PackageJson): string | null {
  const url = typeof repository === 'string' ? repository : repository?.url
  if (url !== undefined && /github\.com[/:]/.test(url)) return null
  return 'package.json names no repository on GitHub, and npm gives no provenance without: add "repository": { "type": "git", "url": "git+https://github.com/OWNER/NAME.git" }'
}

/** The parts of a package-lock.json that say of which version it is. */
export interface LockedVersion {
  readonly version?: string
  readonly packages?: Readonly<Record<string, { readonly version?: string }>>
}

export function lockProblem(lock: LockedVersion, version: string): string | null {
  const locked = [lock.version, lock.packages?.['']?.version]
  const other = locked.find((each) => each !== version)
  if (locked.every((each) => each === version)) return null
  return `package-lock.json is of version ${other ?? 'none'}, package.json of ${version}: run "npm install --package-lock-only"`
}
