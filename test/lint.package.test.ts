import { spawnSync } from 'node:child_process'
import { copyFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, describe, expect, it } from 'vitest'
import { ROOT, writeProject } from './package/project.ts'
import { temporaryFolder } from './temporary.ts'

const IMPORTS = 'lint/style/noRestrictedImports'
const GLOBALS = 'lint/style/noRestrictedGlobals'

/** Files, each with the rule that must find it, or none. The rules cannot tell types, which src has none of either. */
const FILES: readonly (readonly [file: string, rule: string | null, code: string])[] = [
  ...[
    ...['net', 'tls', 'http', 'https', 'http2', 'dgram', 'dns', 'dns/promises'],
    ...['child_process', 'cluster', 'inspector', 'inspector/promises'],
  ].flatMap((name) => [
    [
      `src/location/node-${name.replace('/', '-')}.ts`,
      IMPORTS,
      `import * as all from 'node:${name}'`,
    ] as const,
    [`src/${name.replace('/', '-')}.ts`, IMPORTS, `import * as all from '${name}'`] as const,
  ]),
  ['src/undici.ts', IMPORTS, `import { request } from 'undici'`],
  ['src/ws.ts', IMPORTS, `import { WebSocket } from 'ws'`],
  ['src/dynamic.ts', IMPORTS, `const all = await import('node:https')`],
  ['src/required.ts', GLOBALS, `const all = require('node:https')`],
  ['src/again.ts', IMPORTS, `export { connect as all } from 'node:net'`],
  ['src/types.ts', IMPORTS, `import type { IncomingMessage as all } from 'node:http'`],
  ['src/fetch.ts', GLOBALS, `const all = fetch('https://example.com/')`],
  ['src/global-fetch.ts', GLOBALS, `const all = globalThis.fetch('https://example.com/')`],
  ['src/web-socket.ts', GLOBALS, `const all = new WebSocket('wss://example.com/')`],
  ['src/event-source.ts', GLOBALS, `const all = new EventSource('https://example.com/')`],
  ['src/request.ts', GLOBALS, `const all = new XMLHttpRequest()`],
  ['src/cli/serve/listen.ts', null, `import * as all from 'node:http'`],
  ['src/cli/serve/workers.ts', null, `import * as all from 'node:cluster'`],
  ['src/cli/serve/ask.ts', IMPORTS, `import * as all from 'node:https'`],
  ['src/cli/serve/fetch.ts', GLOBALS, `const all = fetch('https://example.com/')`],
  ['src/own.ts', null, `import { net as all } from './net.ts'`],
  ['src/files.ts', null, `import * as all from 'node:fs'`],
  ['test/server.ts', null, `import * as all from 'node:net'`],
  ['src/method.ts', null, `const all = (self: { fetch(): void }) => self.fetch()`],
]

const folder = temporaryFolder()
let found: Map<string, string[]>

beforeAll(() => {
  copyFileSync(join(ROOT, 'biome.json'), join(folder, 'biome.json'))
  writeProject(folder, Object.fromEntries(FILES.map(([file, , code]) => [file, `${code}\nvoid all\n`])))
  const biome = join(ROOT, 'node_modules/@biomejs/biome/bin/biome')
  const args = ['lint', '--vcs-enabled=false', '--max-diagnostics=none', '--reporter=json', '.']
  const { stdout } = spawnSync(process.execPath, [biome, ...args], { cwd: folder, encoding: 'utf8' })
  const { diagnostics }: { diagnostics: { category: string; location: { path: string } }[] } =
    JSON.parse(stdout)
  found = new Map(
    FILES.map(([file]) => [
      file,
      diagnostics.filter(({ location }) => location.path === file).map(({ category }) => category),
    ]),
  )
})

describe('lint', () => {
  it.each(FILES)('finds in %s: %s', (file, rule) => {
    expect((found.get(file) ?? []).filter((each) => each === IMPORTS || each === GLOBALS)).toEqual(
      rule === null ? [] : [rule],
    )
  })
})

it('finds no mark of an unresolved merge in any file', () => {
  const marks = spawnSync('git', ['grep', '-nE', '^(<<<<<<<|>>>>>>>) ', '--', ':!data'], { cwd: ROOT })
  expect(marks.stdout.toString()).toBe('')
})
