import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { beforeEach, describe, expect, it, vi } from 'vitest'
import { describeFile, sha256 } from '../../scripts/build-data/manifest.ts'
import { releaseProblems } from '../../scripts/release/repository.ts'
import { CHECKS, release, type Step } from '../../scripts/release.ts'
import { MmdbWriter } from '../../src/writer.ts'
import { writeProject } from '../package/project.ts'
import { temporaryFolder } from '../temporary.ts'

const folder = temporaryFolder()

const SOURCE = { name: 'places', version: '1.0.0', integrity: 'sha512-a' }
const REPOSITORY = { type: 'git', url: 'git+https://github.com/someone/geofix.git' }
const PAGES = {
  homepage: 'https://www.npmjs.com/package/geofix',
  bugs: { url: 'https://github.com/someone/geofix/issues' },
}
const PACKAGES = 'scripts/build-data/packages'
const CHANGELOG =
  '# Changelog\n\n## [Unreleased]\n\n## [1.2.0] - 2026-11-21\n\n### Added\n\n- Things.\n\n## [1.1.0] - 2026-01-01\n'

const GIT = ['user.name=Test', 'user.email=test@example.com', 'init.defaultBranch=main']

function git(root: string, ...args: string[]): void {
  execFileSync('git', [...GIT.flatMap((each) => ['-c', each]), ...args], { cwd: root, stdio: 'pipe' })
}

const json = (value: unknown) => `${JSON.stringify(value)}\n`
const PACKAGE = { version: '1.2.0', repository: REPOSITORY, ...PAGES }
/** The files that pin the packages of the source: those that are required, and those in the lock file. */
const pinned = (dependencies: Record<string, string>, locked: Record<string, object>) => ({
  [`${PACKAGES}/package.json`]: json({ dependencies }),
  [`${PACKAGES}/package-lock.json`]: json({
    packages: Object.fromEntries(
      Object.entries(locked).map(([name, each]) => [`node_modules/${name}`, each]),
    ),
  }),
})

/** A repository of version 1.2.0 that can be released. */
function repository(): string {
  const root = mkdtempSync(join(folder, 'repository-'))
  const unpacked = Buffer.from(
    new MmdbWriter({ databaseType: 'T', recordSize: 32 }).insert('1.0.0.0/8', { a: 1 }).toBytes(),
  )
  const packed = gzipSync(unpacked)
  writeProject(root, {
    'package.json': json(PACKAGE),
    'package-lock.json': json({ version: '1.2.0', packages: { '': { version: '1.2.0' } } }),
    'CHANGELOG.md': CHANGELOG,
    '.gitignore': 'dist/\n*.tgz\n',
    'data/README.md': '',
    'data/manifest.json': json({
      buildDate: '2000-01-01T00:00:00.000Z',
      files: [describeFile('t.mmdb.gz', packed, unpacked, 1)],
      sources: [SOURCE],
      inputs: [{ file: 'zone.tab', sha256: sha256(Buffer.from('zones')) }],
    }),
    ...pinned({ places: '1.0.0' }, { places: SOURCE }),
    'scripts/build-data/input/zone.tab': 'zones',
    'scripts/build-data/input/README.md': '',
  })
  writeFileSync(join(root, 'data/t.mmdb.gz'), packed)
  git(root, 'init', '--quiet')
  commit(root)
  return root
}

function commit(root: string): void {
  git(root, 'add', '--all')
  git(root, 'commit', '--quiet', '--allow-empty', '--message', 'x')
}

/** Changes and commits files. */
const having = (files: Record<string, string>) => (root: string) => {
  writeProject(root, files)
  commit(root)
}

describe('releaseProblems', () => {
  it('finds none in a valid repository', () => {
    const root = repository()
    git(root, 'tag', 'v1.1.0')
    // Git ignores these files.
    writeProject(root, { 'dist/index.js': '', 'geofix-1.2.0.tgz': '' })
    expect(releaseProblems(root)).toEqual([])
  })

  const ofPackage = (change: object) => having({ 'package.json': json({ ...PACKAGE, ...change }) })
  const changed = (from: string, to: string) => having({ 'CHANGELOG.md': CHANGELOG.replace(from, to) })
  const many = Object.fromEntries(Array.from({ length: 12 }, (_, i) => [`${i}.txt`, '']))
  const issues = 'https://github.com/another/geofix/issues'

  it.each<[change: (root: string) => void, ...problems: RegExp[]]>([
    [
      (root) => writeProject(root, { 'CHANGELOG.md': `${CHANGELOG}\n` }),
      /^the work tree is not clean: commit, stash or remove these files:\n {4} M CHANGELOG\.md$/,
    ],
    [(root) => writeProject(root, { 'a/b.txt': '' }), /not clean: .*\n {4}\?\? a\/b\.txt$/s],
    [
      (root) => {
        writeProject(root, { 'b.txt': '' })
        git(root, 'add', '.')
      },
      /not clean: .*\n {4}A {2}b\.txt$/s,
    ],
    [(root) => writeProject(root, many), /not clean.*\n {4}and 2 more$/s],
    [
      ofPackage({ repository: undefined }),
      /^package\.json names no repository on GitHub, .*: add "repository"/,
    ],
    [
      ofPackage({ bugs: undefined }),
      /: add "bugs": \{ "url": "https:\/\/github\.com\/someone\/geofix\/issues" \}$/,
    ],
    [ofPackage({ bugs: issues }), /^package\.json does not name the page for faults of its repository/],
    [
      ofPackage({ homepage: undefined }),
      /^package\.json has no homepage: add "homepage": "https:\/\/github\.com\/someone\/geofix#readme"$/,
    ],
    [
      having({ 'package-lock.json': json({ version: '1.1.0', packages: { '': { version: '1.1.0' } } }) }),
      /^package-lock\.json has version 1\.1\.0, package\.json has 1\.2\.0: run "npm install --package-lock-only"$/,
    ],
    [
      having({ 'package-lock.json': json({ version: '1.2.0', packages: { '': {} } }) }),
      /^package-lock\.json has version none/,
    ],
    [
      changed('1.2.0', '1.2.01'),
      /^CHANGELOG\.md has no section for 1\.2\.0: add "## \[1\.2\.0\] - YYYY-MM-DD"/,
    ],
    [changed(' - 2026-11-21', ''), /^CHANGELOG\.md has the heading "## \[1\.2\.0\]": write it as/],
    [changed('2026-11-21', '2026-02-31'), /has the heading "## \[1\.2\.0\] - 2026-02-31"/],
    [changed('- Things.\n', ''), /^CHANGELOG\.md has no entries under "## \[1\.2\.0\] - 2026-11-21": list/],
    [(root) => git(root, 'tag', 'v1.2.0'), /^the tag v1\.2\.0 exists already: set the next version/],
    [
      // At the remote only.
      (root) => {
        const origin = mkdtempSync(join(folder, 'origin-'))
        git(origin, 'init', '--quiet', '--bare')
        git(root, 'remote', 'add', 'origin', origin)
        git(root, 'tag', 'v1.2.0')
        git(root, 'push', '--quiet', 'origin', 'v1.2.0')
        git(root, 'tag', '--delete', 'v1.2.0')
      },
      /^the tag v1\.2\.0 exists already/,
    ],
    [
      having({ 'data/t.mmdb.gz': 'x' }),
      /^data\/t\.mmdb\.gz does not match data\/manifest\.json: 1 bytes, not \d+: run "npm run build-data"/,
    ],
    [
      (root) => {
        rmSync(join(root, 'data/t.mmdb.gz'))
        commit(root)
      },
      /^data\/t\.mmdb\.gz .*no such file/,
    ],
    [
      (root) => {
        const manifest = JSON.parse(readFileSync(join(root, 'data/manifest.json'), 'utf8'))
        having({ 'data/manifest.json': json({ ...manifest, buildDate: '2001-01-01T00:00:00.000Z' }) })(root)
      },
      /built 2000-01-01T00:00:00\.000Z, not 2001-01-01T00:00:00\.000Z/,
    ],
    [having({ 'data/more.mmdb.gz': '' }), /^data\/more\.mmdb\.gz is not in data\/manifest\.json: remove it$/],
    [
      having(pinned({ places: '1.1.0' }, { places: { version: '1.1.0', integrity: 'sha512-b' } })),
      /^data\/ was built from places 1\.0\.0, but 1\.1\.0 is pinned: run "npm run build-data"/,
    ],
    [
      having(pinned({ places: '2.0.0' }, { places: SOURCE })),
      /package-lock\.json does not have places 2\.0\.0, which package\.json requires: run "npm install/,
    ],
    [
      having(pinned({ names: '1.0.0' }, { names: { version: '1.0.0', integrity: 'sha512-c' } })),
      /^data\/ was built from no names, but 1\.0\.0 is pinned/,
      /^data\/ was built from places, which is no longer pinned/,
    ],
    [
      having({ 'scripts/build-data/input/zone.tab': 'other zones' }),
      /^scripts\/build-data\/input\/zone\.tab is not the file that data\/ was built from/,
    ],
    [
      (root) => {
        rmSync(join(root, 'scripts/build-data/input/zone.tab'))
        having({ 'scripts/build-data/input/more.tsv': '' })(root)
      },
      /input\/more\.tsv is not the file/,
      /input\/zone\.tab is not the file/,
    ],
  ])('finds a problem: %2$s', (change, ...problems) => {
    const root = repository()
    change(root)
    expect(releaseProblems(root)).toEqual(problems.map((problem) => expect.stringMatching(problem)))
  })
})

describe('release', () => {
  const printed: string[] = []
  const ran: Step[] = []
  const run = (step: Step) => void ran.push(step)
  beforeEach(() => {
    for (const stream of ['log', 'error'] as const) {
      vi.spyOn(console, stream).mockImplementation((text) => void printed.push(String(text)))
    }
    printed.length = 0
    ran.length = 0
  })

  it('checks, packs, and prints the remaining commands', () => {
    expect(release(repository(), [], run)).toBe(0)
    expect(ran).toEqual(CHECKS)
    expect(ran.map((step) => step.join(' '))).toEqual([
      'npm run lint',
      'npm run typecheck',
      'npm run test:all',
      'npm run build',
      'npm run core-package',
      'npm pack',
      'npm pack ./.cache/geofix-core',
    ])
    expect(printed.join('\n')).toMatch(
      /^ {2}npm publish \.\/geofix-1\.2\.0\.tgz --provenance --access public$/m,
    )
  })

  it('publishes the tarball, then tags the commit', () => {
    expect(release(repository(), ['--publish'], run)).toBe(0)
    expect(ran.slice(CHECKS.length).map((step) => step.join(' '))).toEqual([
      'npm publish ./geofix-1.2.0.tgz --provenance --access public',
      'npm publish ./geofix-core-1.2.0.tgz --provenance --access public',
      'git tag --annotate v1.2.0 --message geofix 1.2.0',
      'git push origin v1.2.0',
    ])
  })

  it('publishes a commit that has the tag already, and only that', () => {
    const root = repository()
    expect(release(root, ['--publish-tag'], run)).toBe(1)
    expect(ran).toEqual([])
    expect(printed).toEqual([
      expect.stringMatching(/^not released: the commit does not have the tag v1\.2\.0/),
    ])
    git(root, 'tag', 'v1.2.0')
    expect(release(root, ['--publish-tag'], run)).toBe(0)
    expect(ran.slice(CHECKS.length).map((step) => step.join(' '))).toEqual([
      'npm publish ./geofix-1.2.0.tgz --provenance --access public',
      'npm publish ./geofix-core-1.2.0.tgz --provenance --access public',
    ])
    having({ 'a.txt': '' })(root)
    expect(release(root, ['--publish-tag'], run)).toBe(1)
  })

  it('publishes a prerelease under the tag next', () => {
    const root = repository()
    const version = '1.2.0-beta.1'
    having({
      'package.json': json({ version, repository: REPOSITORY, ...PAGES }),
      'package-lock.json': json({ version, packages: { '': { version } } }),
      'CHANGELOG.md': CHANGELOG.replace('1.2.0', version),
    })(root)
    expect(release(root, ['--publish'], run)).toBe(0)
    expect(ran.flat()).toEqual(expect.arrayContaining([`./geofix-${version}.tgz`, '--tag', 'next']))
  })

  it('runs nothing for --dry-run', () => {
    expect(release(repository(), ['--dry-run'], run)).toBe(0)
    expect([ran, printed]).toEqual([[], ['1.2.0 can be released']])
  })

  it.each([[[]], [['--dry-run']], [['--publish']]])('runs nothing if there are problems: %j', (args) => {
    const root = repository()
    writeProject(root, { 'left.txt': '' })
    git(root, 'tag', 'v1.2.0')
    expect(release(root, args, run)).toBe(1)
    expect(ran).toEqual([])
    expect(printed).toEqual([
      expect.stringMatching(/^not released: the work tree/),
      expect.stringMatching(/^not released: the tag/),
    ])
  })

  it('publishes nothing if a check fails or changes the work tree', () => {
    const failing = (step: Step) => {
      run(step)
      if (step.includes('test:all')) throw new Error('tests fail')
    }
    expect(() => release(repository(), ['--publish'], failing)).toThrow('tests fail')
    expect(ran.flat()).not.toContain('publish')
    const root = repository()
    const littering = (step: Step) => {
      run(step)
      mkdirSync(join(root, 'left'), { recursive: true })
      writeFileSync(join(root, 'left/over.txt'), '')
    }
    expect(release(root, ['--publish'], littering)).toBe(1)
    expect(ran.flat()).not.toContain('publish')
  })

  it.each([[['--publsh']], [['--publish', '--dry-run']]])('refuses other arguments: %j', (args) => {
    expect(release(repository(), args, run)).toBe(2)
    expect(ran).toEqual([])
  })
})
