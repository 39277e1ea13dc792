// Readers of MaxMind databases in other languages. Each is a program of `readers/`, built here from its own registry.
//
// `PROGRAM rounds DATABASE ADDRESSES` prints a line of JSON with its version. For each line of standard input, a number of
// milliseconds, it then looks up addresses for that long, or the whole file once for 0, and prints a line of JSON with
// `items`, `seconds` and `found`. `PROGRAM networks DATABASE` (Go and Rust) prints a line for each network that has a record:
// the network and the fields of a LocationRecord, with tabs between them and nothing for what is absent.
import { spawnSync } from 'node:child_process'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import type { Command } from './child.ts'

const SOURCES = join(import.meta.dirname, 'readers')

/** MaxMind's reader for Java, in Maven Central. */
const JAVA_READER = { artifact: 'com.maxmind.db:maxmind-db:4.0.2', jar: 'maxmind-db-4.0.2.jar' }

/** The package for Python, in PyPI. */
const PYTHON_READER = 'maxminddb==3.2.0'

export const LANGUAGES = ['rust', 'go', 'java', 'python'] as const
export type Language = (typeof LANGUAGES)[number]

/** Builds each program in a folder. The command runs it, without the arguments of the program. */
const BUILDS: Readonly<Record<Language, (folder: string) => Command>> = {
  rust(folder) {
    const manifest = join(SOURCES, 'rust', 'Cargo.toml')
    const options = ['--release', '--quiet', '--locked', '--manifest-path', manifest, '--target-dir', folder]
    run('cargo', ['build', ...options], 'Rust is not installed: https://rustup.rs')
    return { name: 'maxminddb (Rust)', file: join(folder, 'release', 'geofix-bench-reader'), args: [] }
  },
  go(folder) {
    const file = join(folder, 'reader')
    run('go', ['build', '-o', file, '.'], 'Go is not installed: https://go.dev/dl', join(SOURCES, 'go'))
    return { name: 'maxminddb-golang', file, args: [] }
  },
  java(folder) {
    const { artifact, jar } = JAVA_READER
    const copy = ['-q', 'dependency:copy', `-Dartifact=${artifact}`, `-DoutputDirectory=${folder}`]
    run('mvn', copy, 'Maven is not installed: apt-get install maven')
    const path = join(folder, jar)
    const source = join(SOURCES, 'java', 'BenchReader.java')
    run('javac', ['-cp', path, '-d', folder, source], 'the JDK is not installed: apt-get install default-jdk')
    return { name: 'maxmind-db (Java)', file: 'java', args: ['-cp', `${path}:${folder}`, 'BenchReader'] }
  },
  python(folder) {
    const install = ['-m', 'pip', 'install', '--quiet', '--disable-pip-version-check', '--target', folder]
    run('python3', [...install, PYTHON_READER], 'Python is not installed: apt-get install python3-pip')
    const args = [join(SOURCES, 'python', 'reader.py')]
    return { name: 'maxminddb (Python)', file: 'env', args: [`PYTHONPATH=${folder}`, 'python3', ...args] }
  },
}

/** Builds a reader in its own folder below `cache`. @throws Error that says what is missing */
export function buildReader(cache: string, language: Language): Command {
  const folder = join(cache, 'readers', language)
  mkdirSync(folder, { recursive: true })
  return BUILDS[language](folder)
}

function run(file: string, args: readonly string[], otherwise: string, cwd?: string): void {
  const { error, status, stderr } = spawnSync(file, args, { cwd, encoding: 'utf8' })
  if (error !== undefined) throw new Error(otherwise)
  if (status !== 0) throw new Error(`${file} ${args[0]}: ${stderr.trim().split('\n').at(-1)}`)
}
