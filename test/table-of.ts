import { readFileSync } from 'node:fs'
import { join } from 'node:path'

/**
 * The rows of a table in a text file beside a test. Tabs separate cells, which are as they stand, without escapes. Lines that begin
 * with `## ` are comments.
 */
export function tableOf(folder: string, file: string): string[][] {
  const lines = readFileSync(join(folder, file), 'utf8').split('\n').slice(0, -1)
  return lines.filter((line) => !line.startsWith('## ')).map((line) => line.split('\t'))
}
