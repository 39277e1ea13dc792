import { readFileSync } from 'node:fs'

/**
 * The cases in a file of this folder. Each has an `id`, what goes in, what must come out, and `why`, with the RFC or the
 * fault of another program that it comes from.
 */
export function vectorsIn<Vector>(name: string): readonly Vector[] {
  const file: { vectors: Vector[] } = JSON.parse(readFileSync(new URL(name, import.meta.url), 'utf8'))
  return file.vectors
}
