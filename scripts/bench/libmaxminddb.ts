import { spawnSync } from 'node:child_process'
import { join } from 'node:path'

const SOURCE = join(import.meta.dirname, 'libmaxminddb.c')

/**
 * Compiles the program in C.
 *
 * @returns its path
 * @throws Error that says what is missing, when it cannot be compiled
 */
export function compileLibmaxminddb(folder: string): string {
  const program = join(folder, 'libmaxminddb')
  const { error, status, stderr } = spawnSync('cc', ['-O2', '-o', program, SOURCE, '-lmaxminddb'], {
    encoding: 'utf8',
  })
  if (error !== undefined) throw new Error('there is no C compiler: apt-get install gcc')
  if (status === 0) return program
  if (/maxminddb\.h|-lmaxminddb/.test(stderr)) {
    throw new Error('libmaxminddb is not there to compile with: apt-get install libmaxminddb-dev')
  }
  throw new Error(`the C program cannot be compiled: ${stderr.trim()}`)
}
