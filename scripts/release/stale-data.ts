import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Manifest, sha256 } from '../build-data/manifest.ts'
import { pinnedPackages } from '../build-data/packages.ts'
import { checkData } from '../check-data.ts'

const REBUILD = 'run "npm run build-data", or take back the change'

/**
 * Where data/manifest.json is not of the files beside it, or these were not made from what the repository pins: one
 * sentence each, which says what to do.
 */
export function staleData(root: string): string[] {
  const manifest: Manifest = JSON.parse(readFileSync(join(root, 'data/manifest.json'), 'utf8'))
  return [...otherFiles(root, manifest), ...otherSources(root, manifest), ...otherInputs(root, manifest)]
}

function otherFiles(root: string, manifest: Manifest): string[] {
  const data = join(root, 'data')
  const changed = checkData(data).flatMap(({ file, problems }) =>
    problems.map((problem) => `data/${file} is not as data/manifest.json says: ${problem}: ${REBUILD}`),
  )
  const listed = manifest.files.map(({ file }) => file)
  const unlisted = readdirSync(data).filter((file) => /\.mmdb(\.gz)?$/.test(file) && !listed.includes(file))
  return [...changed, ...unlisted.map((file) => `data/${file} is not in data/manifest.json: remove it`)]
}

function otherSources(root: string, { sources }: Manifest): string[] {
  const folder = join(root, 'scripts/build-data/packages')
  const asked: { dependencies: Record<string, string> } = JSON.parse(
    readFileSync(join(folder, 'package.json'), 'utf8'),
  )
  const pinned = pinnedPackages(folder)
  const unpinned = Object.entries(asked.dependencies)
    .filter(([name, version]) => pinned.every((each) => each.name !== name || each.version !== version))
    .map(
      ([name, version]) =>
        `scripts/build-data/packages asks for ${name} ${version}, which its package-lock.json does not have: run "npm install --package-lock-only --ignore-scripts" there`,
    )
  const stale = pinned
    .filter(
      ({ name, integrity }) =>
        !sources.some((source) => source.name === name && source.integrity === integrity),
    )
    .map(({ name, version }) => {
      const made = sources.find((source) => source.name === name)
      return `data/ was made from ${made === undefined ? `no ${name}` : `${name} ${made.version}`}, and ${version} is pinned: ${REBUILD}`
    })
  const gone = sources
    .filter(({ name }) => pinned.every((each) => each.name !== name))
    .map(({ name }) => `data/ was made from ${name}, which is pinned no more: ${REBUILD}`)
  return [...unpinned, ...stale, ...gone]
}

function otherInputs(root: string, { inputs }: Manifest): string[] {
  const folder = join(root, 'scripts/build-data/input')
  const files = readdirSync(folder).filter((file) => file !== 'README.md')
  const changed = files.filter((file) => {
    const digest = sha256(readFileSync(join(folder, file)))
    return !inputs.some((input) => input.file === file && input.sha256 === digest)
  })
  const gone = inputs.map(({ file }) => file).filter((file) => !files.includes(file))
  return [...changed, ...gone].map(
    (file) => `scripts/build-data/input/${file} is not the one that data/ was made from: ${REBUILD}`,
  )
}
