import { spawnSync } from 'node:child_process'
import { copyFileSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { openApiJson } from '../../../src/cli/serve/openapi.ts'
import { ROOT } from '../../package/project.ts'

const PINNED = join(ROOT, 'test/cli/serve/linters')
const folder = join(ROOT, '.cache/openapi')

/** Installs the linters unless they are there. @returns whether they are there now */
function install(): boolean {
  mkdirSync(folder, { recursive: true })
  const [lock, installed] = [join(PINNED, 'package-lock.json'), join(folder, 'installed.json')]
  const version = readFileSync(lock, 'utf8')
  if (existsSync(installed) && readFileSync(installed, 'utf8') === version) return true
  for (const file of ['package.json', 'package-lock.json'])
    copyFileSync(join(PINNED, file), join(folder, file))
  const args = ['ci', '--ignore-scripts', '--no-audit', '--no-fund']
  const { status } = spawnSync('npm', args, { cwd: folder, timeout: 250_000 })
  if (status === 0) writeFileSync(installed, version)
  return status === 0
}

const isInstalled = install()
if (!isInstalled)
  console.warn('redocly and spectral are not installed: the tests of the OpenAPI document are skipped')

describe.skipIf(!isInstalled)('where redocly or spectral is not installed this is skipped:', () => {
  /** Runs a linter on the document. */
  function lint(document: string, program: string, args: readonly string[]) {
    writeFileSync(join(folder, 'openapi.json'), document)
    writeFileSync(join(folder, '.spectral.yaml'), 'extends: ["spectral:oas"]\n')
    const file = join(folder, 'node_modules', program)
    const env = { ...process.env, REDOCLY_TELEMETRY: 'off', REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true' }
    const { status, stdout } = spawnSync(process.execPath, [file, 'lint', 'openapi.json', ...args], {
      cwd: folder,
      encoding: 'utf8',
      env,
    })
    return { status, stdout }
  }
  const REDOCLY = ['@redocly/cli/bin/cli.js', ['--extends', 'recommended', '--format', 'json']] as const
  const SPECTRAL = [
    '@stoplight/spectral-cli/dist/index.js',
    ['--format', 'json', '--quiet', '--fail-severity', 'hint'],
  ] as const

  it.each(['', '/geo'])('the description at the base path "%s" is clean', (basePath) => {
    const redocly = lint(openApiJson(basePath), ...REDOCLY)
    expect(redocly.status, redocly.stdout).toBe(0)
    expect(JSON.parse(redocly.stdout).totals).toEqual({ errors: 0, warnings: 0, ignored: 0 })
    const spectral = lint(openApiJson(basePath), ...SPECTRAL)
    expect(JSON.parse(spectral.stdout)).toEqual([])
    expect(spectral.status).toBe(0)
  })

  it('a description with faults is not', () => {
    const { info, ...rest } = JSON.parse(openApiJson(''))
    const document = JSON.stringify({ ...rest, info: { title: info.title } })
    expect(lint(document, ...REDOCLY).status).not.toBe(0)
    expect(lint(document, ...SPECTRAL).status).not.toBe(0)
  })
})
