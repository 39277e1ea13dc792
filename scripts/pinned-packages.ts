// Installs packages that are pinned by a package.json and a package-lock.json in a folder of the repository.
import { execFileSync } from 'node:child_process'
import { copyFileSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

export type PinnedPackage = {
  readonly name: string
  readonly version: string
  readonly integrity: string
}

/** The packages in the lock file of a folder. */
export function pinnedPackages(folder: string): PinnedPackage[] {
  const lock: { packages: Record<string, { version?: string; integrity?: string }> } = JSON.parse(
    readFileSync(join(folder, 'package-lock.json'), 'utf8'),
  )
  return Object.entries(lock.packages)
    .filter(([path]) => path !== '')
    .map(([path, { version, integrity }]) => {
      if (version === undefined || integrity === undefined) {
        throw new Error(`package-lock.json: ${path} is not pinned`)
      }
      return { name: path.replace('node_modules/', ''), version, integrity }
    })
}

/**
 * Installs the packages pinned in `pinned` into `folder`, unless exactly these are installed. npm checks their
 * integrity.
 *
 * @returns the `node_modules` of the folder
 * @throws Error if npm cannot install them
 */
export function installPinned(pinned: string, folder: string): string {
  const modules = join(folder, 'node_modules')
  if (isInstalled(pinned, modules)) return modules
  mkdirSync(folder, { recursive: true })
  for (const file of ['package.json', 'package-lock.json'])
    copyFileSync(join(pinned, file), join(folder, file))
  npm('ci', folder)
  if (!isInstalled(pinned, modules))
    throw new Error(`npm ci did not install the pinned packages into ${folder}`)
  return modules
}

/**
 * Installs exact versions of packages into `folder`, unless these are installed. For packages that consist of one package
 * for each platform: the lock file of one platform does not suit another.
 *
 * @param versions by name
 * @returns the `node_modules` of the folder
 * @throws Error if npm cannot install them
 */
export function installVersions(versions: Readonly<Record<string, string>>, folder: string): string {
  const modules = join(folder, 'node_modules')
  const isThere = Object.entries(versions).every(([name, version]) => {
    const path = join(modules, name, 'package.json')
    return existsSync(path) && JSON.parse(readFileSync(path, 'utf8')).version === version
  })
  if (isThere) return modules
  mkdirSync(folder, { recursive: true })
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ private: true, dependencies: versions }))
  npm('install', folder)
  return modules
}

function npm(command: 'ci' | 'install', folder: string): void {
  // On Windows npm is a script, which only a shell can start. Standard output is left to the caller's own.
  const shell = process.platform === 'win32'
  execFileSync('npm', [command, '--ignore-scripts', '--no-audit', '--no-fund'], {
    cwd: folder,
    stdio: ['ignore', 'ignore', 'inherit'],
    shell,
  })
}

/** npm writes node_modules/.package-lock.json last. */
function isInstalled(pinned: string, modules: string): boolean {
  const path = join(modules, '.package-lock.json')
  if (!existsSync(path)) return false
  const installed: { packages: Record<string, { integrity?: string }> } = JSON.parse(
    readFileSync(path, 'utf8'),
  )
  return pinnedPackages(pinned).every(
    ({ name, integrity }) => installed.packages[`node_modules/${name}`]?.integrity === integrity,
  )
}
