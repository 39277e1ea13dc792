import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import ts from 'typescript'
import { beforeAll, describe, expect, it } from 'vitest'
import { float, MmdbWriter } from '../src/writer.ts'
import { linkPackage, output, ROOT, typecheck, writeProject } from './package/project.ts'
import { tarOf } from './tar-archive.ts'
import { temporaryFolder } from './temporary.ts'

interface Block {
  readonly line: number
  readonly language: string
  readonly code: string
  /** Preceded by a comment that says why it is not run. */
  readonly skipped: boolean
}

const folder = temporaryFolder()
const readme = readFileSync(join(ROOT, 'README.md'), 'utf8')

const blocks: Block[] = Array.from(
  readme.matchAll(/(<!-- not run: [^>]+-->\n)?^```(\w+)\n([\s\S]*?)^```$/gm),
  (match) => ({
    line: readme.slice(0, match.index).split('\n').length,
    language: match[2] ?? '',
    code: match[3] ?? '',
    skipped: match[1] !== undefined,
  }),
)

const ran = (language: string) => blocks.filter((block) => block.language === language && !block.skipped)

/** What a block promises to print, by its comments `// prints: …`. */
const printed = (code: string) => Array.from(code.matchAll(/^\/\/ prints: (.*)$/gm), (match) => match[1])

/** Turns each line `expression // => value` into a check of the value. */
function withChecks(code: string): string {
  const checked = code.replace(
    /^(\s*)(\S.*?)\s*\/\/ => (.*)$/gm,
    (_, indent: string, expression: string, value: string) => {
      const declaration = /^const (\w+) = /.exec(expression)
      const actual = declaration ? declaration[1] : expression
      const prefix = declaration ? `${expression}\n` : ''
      return `${indent}${prefix}deepStrictEqual(${actual}, ${value})`
    },
  )
  return `import { deepStrictEqual } from 'node:assert'\n${checked}`
}

beforeAll(() => {
  linkPackage(folder)
  const sample = new MmdbWriter({ databaseType: 'GeoLite2-City' })
    .insert('81.2.69.0/24', {
      country: { iso_code: 'GB' },
      location: { latitude: float(51.5), longitude: float(0.1) },
    })
    .toBytes()
  for (const name of ['ipv4.mmdb', 'ipv6.mmdb', 'GeoLite2-City.mmdb', 'GeoLite2-Country.mmdb']) {
    writeFileSync(join(folder, name), sample)
  }
  writeFileSync(
    join(folder, 'GeoLite2-City.tar.gz'),
    gzipSync(tarOf({ 'GeoLite2-City_20260605/GeoLite2-City.mmdb': sample })),
  )
  const files = {
    'access.log': '81.2.69.142 - - [21/Nov/2026:10:00:00 +0000] "GET / HTTP/1.1" 200 1\n',
    'events.ndjson': '{"client":{"ip":"81.2.69.142"},"ts":"2026-07-01T12:00:00Z"}\n',
    'orders.csv': 'id,client_ip\n1,81.2.69.142\n',
    'addresses.txt': '81.2.69.142\n2001:4860:4860::8888\n',
    'proxied.ndjson': '{"x_forwarded_for":"81.2.69.142, 10.0.0.1"}\n',
  }
  for (const [name, content] of Object.entries(files)) writeFileSync(join(folder, name), content)
})

describe('README', () => {
  it('has its blocks where this test finds them', () => {
    expect(ran('ts').length).toBeGreaterThan(9)
    expect(blocks.filter(({ skipped }) => skipped)).toHaveLength(readme.split('<!-- not run:').length - 1)
    expect(readme.match(/^```\w+$/gm)).toHaveLength(blocks.length)
  })

  it.each(ran('ts'))('line $line runs and gives what it says', ({ line, code }) => {
    const { outputText } = ts.transpileModule(withChecks(code), {
      compilerOptions: { target: ts.ScriptTarget.ES2022, module: ts.ModuleKind.ESNext },
    })
    writeProject(folder, { [`block-${line}.mjs`]: outputText })
    const lines = output(folder, process.execPath, `block-${line}.mjs`).trimEnd()
    if (printed(code).length > 0)
      expect(lines.split('\n').map((each) => each.trimEnd())).toEqual(printed(code))
  })

  it('has blocks that a strict TypeScript project accepts', () => {
    const project = join(folder, 'typed')
    const files = Object.fromEntries(
      blocks.filter(({ language }) => language === 'ts').map(({ line, code }) => [`block-${line}.ts`, code]),
    )
    writeProject(project, {
      ...files,
      'tsconfig.json': JSON.stringify({
        compilerOptions: {
          module: 'nodenext',
          strict: true,
          target: 'es2022',
          lib: ['es2022', 'dom'],
          types: [],
        },
        files: Object.keys(files),
      }),
      'package.json': '{ "type": "module" }',
    })
    linkPackage(project)
    expect(typecheck(project)).toBe('')
  })

  it.each(ran('sh').flatMap(({ code }) => code.split('\n').filter((line) => /\bgeofix\b/.test(line))))(
    '%s',
    (command) => {
      const runnable = command.replace(
        /\bgeofix(?= )|\bgeofix$/,
        `${process.execPath} ${join(ROOT, 'dist/cli.js')}`,
      )
      expect(() => output(folder, 'bash', '-c', `set -o pipefail; ${runnable}`)).not.toThrow()
    },
  )

  it('names only npm scripts that there are', () => {
    const { scripts } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'))
    for (const [, name] of readme.matchAll(/npm run ([\w-]+)/g)) expect(Object.keys(scripts)).toContain(name)
  })
})
