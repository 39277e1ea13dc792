import { readdirSync, readlinkSync } from 'node:fs'

/** The open descriptors of a file, deleted or not, by its path. Empty where the system does not list them. */
export function openFilesOf(path: string): string[] {
  if (process.platform !== 'linux') return []
  return readdirSync('/proc/self/fd').filter((file) => linkOf(file).replace(/ \(deleted\)$/, '') === path)
}

/** The path of an open file, by its number. */
function linkOf(file: string): string {
  try {
    return readlinkSync(`/proc/self/fd/${file}`)
  } catch {
    return ''
  }
}
