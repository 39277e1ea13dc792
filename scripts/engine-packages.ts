// Installs packages of other languages for engines, in folders that git ignores.
import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

const ENGINES = join(import.meta.dirname, '../.cache/engines')

/**
 * Installs packages from PyPI.
 *
 * @param packages such as `pyspark==4.3.0`
 * @returns the folder of a virtual environment
 * @throws Error if Python or a package is missing
 */
export function installPython(name: string, packages: readonly string[]): string {
  return installed(name, packages.join('\n'), (folder) => {
    execFileSync('python3', ['-m', 'venv', folder], { stdio: 'ignore' })
    execFileSync(join(folder, 'bin/pip'), ['install', '--quiet', ...packages], { stdio: 'ignore' })
  })
}

/**
 * Installs artifacts from Maven Central, with all that they need at run time.
 *
 * @param artifacts such as `org.apache.kafka:kafka_2.13:4.1.0`
 * @returns a folder of jars
 * @throws Error if Maven or an artifact is missing
 */
export function installMaven(name: string, artifacts: readonly string[]): string {
  return installed(name, artifacts.join('\n'), (folder) => {
    const dependencies = artifacts.map((artifact) => {
      const [group, id, version] = artifact.split(':')
      return `<dependency><groupId>${group}</groupId><artifactId>${id}</artifactId><version>${version}</version></dependency>`
    })
    writeFileSync(
      join(folder, 'pom.xml'),
      `<project xmlns="http://maven.apache.org/POM/4.0.0"><modelVersion>4.0.0</modelVersion>
<groupId>geofix</groupId><artifactId>${name}</artifactId><version>1</version><packaging>pom</packaging>
<dependencies>${dependencies.join('')}</dependencies></project>`,
    )
    const goal = 'org.apache.maven.plugins:maven-dependency-plugin:3.8.1:copy-dependencies'
    const options = ['-DincludeScope=runtime', `-DoutputDirectory=${folder}`]
    execFileSync('mvn', ['--batch-mode', '--quiet', goal, ...options], { cwd: folder, stdio: 'ignore' })
  })
}

/** Fills a folder, unless it was filled with the same content. */
function installed(name: string, content: string, install: (folder: string) => void): string {
  const folder = join(ENGINES, name)
  // Written last, so an interrupted installation leaves no note.
  const note = join(folder, 'installed.txt')
  if (existsSync(note) && readFileSync(note, 'utf8') === content) return folder
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(folder, { recursive: true })
  install(folder)
  writeFileSync(note, content)
  return folder
}
