import { execFileSync } from 'node:child_process'
import { existsSync, readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'

const ROOT = join(import.meta.dirname, '../../..')
const CLI = join(ROOT, 'dist', 'cli.js')

/** @returns the path of the command as it is published, which is built first if the source is newer */
export function builtCli(): string {
  if (existsSync(CLI) && statSync(CLI).mtimeMs >= newest(join(ROOT, 'src'))) return CLI
  // On Windows npm is a script, which only a shell can start.
  const shell = process.platform === 'win32'
  execFileSync('npm', ['run', 'build'], { cwd: ROOT, stdio: ['ignore', 'ignore', 'inherit'], shell })
  return CLI
}

/** When a file of the folder was changed last. ms */
function newest(folder: string): number {
  const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) =>
    entry.isFile(),
  )
  return files.reduce((latest, { parentPath, name }) => {
    return Math.max(latest, statSync(join(parentPath, name)).mtimeMs)
  }, 0)
}
