import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Manifest, sha256 } from '../build-data/manifest.ts'
import { checkData } from '../check-data.ts'
import { pinnedPackages } from '../pinned-packages.ts'

const REBUILD = 'run "npm run build-data", or revert the change'

/**
 * Differences between data/manifest.json, the files beside it, and the sources that the repository pins. Each sentence
 * says what to do.
 */
export function staleData(root: string): string[] {
  const manifest: Manifest = JSON.parse(readFileSync(join(root, 'data/manifest.json'), 'utf8'))
  return [...staleFiles(root, manifest), ...staleSources(root, manifest), ...staleInputs(root, manifest)]
}

function staleFiles(root: string, manifest: Manifest): string[] {
  const data = join(root, 'data')
  const changed = checkData(data).flatMap(({ file, problems }) =>
    problems.map((problem) => `data/${file} does not match data/manifest.json: ${problem}: ${REBUILD}`),
  )
  const listed = manifest.files.map(({ file }) => file)
  const unlisted = readdirSync(data).filter(
    (file) => /\.mmdb(\.gz|\.packed)?$/.test(file) && !listed.includes(file),
  )
  return [...changed, ...unlisted.map((file) => `data/${file} is not in data/manifest.json: remove it`)]
}

function staleSources(root: string, { sources }: Manifest): string[] {
  const folder = join(root, 'scripts/build-data/packages')
  const wanted: { dependencies: Record<string, string> } = JSON.parse(
    readFileSync(join(folder, 'package.json'), 'utf8'),
  )
  const pinned = pinnedPackages(folder)
  const unpinned = Object.entries(wanted.dependencies)
    .filter(([name, version]) => pinned.every((each) => each.name !== name || each.version !== version))
    .map(
      ([name, version]) =>
        `scripts/build-data/packages/package-lock.json does not have ${name} ${version}, which package.json requires: run "npm install --package-lock-only --ignore-scripts" in that folder`,
    )
  const stale = pinned
    .filter(
      ({ name, integrity }) =>
        !sources.some((source) => source.name === name && source.integrity === integrity),
    )
    .map(({ name, version }) => {
      const used = sources.find((source) => source.name === name)
      return `data/ was built from ${used === undefined ? `no ${name}` : `${name} ${used.version}`}, but ${version} is pinned: ${REBUILD}`
    })
  const gone = sources
    .filter(({ name }) => pinned.every((each) => each.name !== name))
    .map(({ name }) => `data/ was built from ${name}, which is no longer pinned: ${REBUILD}`)
  return [...unpinned, ...stale, ...gone]
}

function staleInputs(root: string, { inputs }: Manifest): string[] {
  const folder = join(root, 'scripts/build-data/input')
  const files = readdirSync(folder).filter((file) => file !== 'README.md')
  const changed = files.filter((file) => {
    const digest = sha256(readFileSync(join(folder, file)))
    return !inputs.some((input) => input.file === file && input.sha256 === digest)
  })
  const gone = inputs.map(({ file }) => file).filter((file) => !files.includes(file))
  return [...changed, ...gone].map(
    (file) => `scripts/build-data/input/${file} is not the file that data/ was built from: ${REBUILD}`,
  )
}
