import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { decodeSeed, type Seed } from './seed.ts'

/** The committed seeds of a target, by their files' names. */
export function seedsOf(target: string): [name: string, seed: Seed][] {
  const folder = join(import.meta.dirname, 'seeds', target)
  if (!existsSync(folder)) return []
  return readdirSync(folder)
    .sort()
    .map((name) => [name, decodeSeed(readFileSync(join(folder, name), 'utf8'))])
}
