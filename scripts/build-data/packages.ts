import { execFileSync } from 'node:child_process'
import { copyFileSync, existsSync, mkdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

/** A package that the data is made from, as pinned in packages/package-lock.json. */
export type SourcePackage = {
  readonly name: string
  readonly version: string
  readonly integrity: string
}

const PINNED = join(import.meta.dirname, 'packages')

/** The pinned packages, from the lock file in a folder. */
export function pinnedPackages(folder = PINNED): SourcePackage[] {
  const lock: { packages: Record<string, { version?: string; integrity?: string }> } = JSON.parse(
    readFileSync(join(folder, 'package-lock.json'), 'utf8'),
  )
  return Object.entries(lock.packages)
    .filter(([path]) => path !== '')
    .map(([path, { version, integrity }]) => {
      if (version === undefined || integrity === undefined)
        throw new Error(`package-lock.json: ${path} is not pinned`)
      return { name: path.replace('node_modules/', ''), version, integrity }
    })
}

/**
 * Installs the pinned packages into `folder` (npm checks their integrity) unless exactly they are there, and
 * returns the folder that holds them.
 */
export function installPackages(folder: string): string {
  mkdirSync(folder, { recursive: true })
  const modules = join(folder, 'node_modules')
  if (!isInstalled(modules)) {
    for (const file of ['package.json', 'package-lock.json'])
      copyFileSync(join(PINNED, file), join(folder, file))
    execFileSync('npm', ['ci', '--ignore-scripts', '--no-audit', '--no-fund'], {
      cwd: folder,
      stdio: 'inherit',
    })
  }
  if (!isInstalled(modules)) throw new Error(`npm ci did not install the pinned packages into ${folder}`)
  return modules
}

/** npm notes in node_modules/.package-lock.json what it has installed, and writes it last. */
function isInstalled(modules: string): boolean {
  const path = join(modules, '.package-lock.json')
  if (!existsSync(path)) return false
  const lock: { packages: Record<string, { integrity?: string }> } = JSON.parse(readFileSync(path, 'utf8'))
  return pinnedPackages().every(
    ({ name, integrity }) => lock.packages[`node_modules/${name}`]?.integrity === integrity,
  )
}
