import { execFileSync } from 'node:child_process'
import { copyFileSync, existsSync, mkdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

/** What is installed, pinned with a lock file. */
const PINNED = join(import.meta.dirname, 'packages')

interface Lock {
  readonly packages: Readonly<Record<string, { readonly version?: string; readonly integrity?: string }>>
}

/**
 * Installs the pinned packages into `folder` (npm checks their integrity) unless exactly they are there.
 *
 * @returns the folder that holds them, as `node_modules` of it
 * @throws Error when npm cannot get them
 */
export function installPeers(folder: string): string {
  if (isInstalled(folder)) return folder
  mkdirSync(folder, { recursive: true })
  for (const file of ['package.json', 'package-lock.json'])
    copyFileSync(join(PINNED, file), join(folder, file))
  // On Windows npm is a script, which only a shell can start.
  const shell = process.platform === 'win32'
  execFileSync('npm', ['ci', '--ignore-scripts', '--no-audit', '--no-fund'], {
    cwd: folder,
    stdio: ['ignore', 'ignore', 'inherit'],
    shell,
  })
  if (!isInstalled(folder)) throw new Error('npm ci did not install the pinned packages')
  return folder
}

/** npm notes in node_modules/.package-lock.json what it has installed, and writes it last. */
function isInstalled(folder: string): boolean {
  const path = join(folder, 'node_modules', '.package-lock.json')
  if (!existsSync(path)) return false
  const installed = readLock(path)
  return Object.entries(readLock(join(PINNED, 'package-lock.json')).packages).every(
    ([place, { integrity }]) => place === '' || installed.packages[place]?.integrity === integrity,
  )
}

function readLock(path: string): Lock {
  return JSON.parse(readFileSync(path, 'utf8'))
}
