import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { parquetWriteBuffer } from 'hyparquet-writer'
import ts from 'typescript'
import { beforeAll, describe, expect, it } from 'vitest'
import { float, MmdbWriter } from '../src/writer.ts'
import { tarOf } from './bytes/tar-samples.ts'
import { type Block, blocks, ran, textOf } from './documents.ts'
import { itInLongRun } from './effort.ts'
import { linkPackage, output, typecheck } from './package/programs.ts'
import { ROOT, writeProject } from './package/project.ts'
import { temporaryFolder } from './temporary.ts'

const folder = temporaryFolder()

/** A name for the file of a block. */
const fileOf = ({ document, line }: Block): string => `${document.replaceAll(/\W+/g, '-')}-${line}`

/** The command in a line of a shell example, such as `geofix info` or `cat file | npx geofix`. */
const COMMAND = /(^|\| )(?:npx )?geofix(?= |$)/

/** The lines that a block should print, from its comments `// prints: …`. */
const printed = (code: string) => Array.from(code.matchAll(/^\/\/ prints: (.*)$/gm), (match) => match[1])

/** Turns each line `expression // => value` into an assertion. */
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
    'auth.log': AUTH,
    'mail.log': 'Jul  5 09:32:13 mail postfix/smtpd[2211]: connect from unknown[81.2.69.142]\n',
    'firewall.log': 'Jul  5 09:32:14 fw kernel: IN=eth0 OUT= SRC=81.2.69.142 DST=10.0.0.5 LEN=40\n',
    'events.ndjson': '{"client":{"ip":"81.2.69.142"},"ts":"2026-07-01T12:00:00Z"}\n',
    'flows.ndjson': '{"src_ip":"81.2.69.142","dest_ip":"1.1.1.1"}\n',
    'orders.csv': 'id,client_ip\n1,81.2.69.142\n',
    'rows.tsv': '81.2.69.142\tfirst\n',
    'addresses.txt': '81.2.69.142\n2001:4860:4860::8888\n',
    'networks.csv': /```csv\n([^`]*)```/.exec(textOf('src/edit/README.md'))?.[1] ?? '',
    'proxied.ndjson': '{"x_forwarded_for":"81.2.69.142, 10.0.0.1"}\n',
  }
  for (const [name, content] of Object.entries(files)) writeFileSync(join(folder, name), content)
  const columnData = [{ name: 'client_ip', data: ['81.2.69.142'], type: 'STRING' as const }]
  writeFileSync(join(folder, 'events.parquet'), new Uint8Array(parquetWriteBuffer({ columnData })))
})

/** A line of OpenSSH. */
const AUTH = 'Jul  5 09:32:11 web sshd[9123]: Failed password for root from 81.2.69.142 port 51234 ssh2\n'

describe('the documents', () => {
  it.each(ran('ts'))('$document: the example in line $line runs and gives what it says', (block) => {
    const { outputText } = ts.transpileModule(withChecks(block.code), {
      compilerOptions: { target: ts.ScriptTarget.ES2022, module: ts.ModuleKind.ESNext },
    })
    const file = `${fileOf(block)}.mjs`
    writeProject(folder, { [file]: outputText })
    const lines = output(folder, process.execPath, file).trimEnd()
    if (printed(block.code).length > 0)
      expect(lines.split('\n').map((each) => each.trimEnd())).toEqual(printed(block.code))
  })

  itInLongRun('have examples that a strict TypeScript project accepts', () => {
    const project = join(folder, 'typed')
    const files = Object.fromEntries(
      blocks.filter(({ language }) => language === 'ts').map((block) => [`${fileOf(block)}.ts`, block.code]),
    )
    writeProject(project, {
      ...files,
      'tsconfig.json': JSON.stringify({
        compilerOptions: {
          module: 'nodenext',
          strict: true,
          target: 'es2022',
          lib: ['es2022', 'dom'],
          types: ['node'],
          typeRoots: [join(ROOT, 'node_modules/@types')],
        },
        files: Object.keys(files),
      }),
      'package.json': '{ "type": "module" }',
    })
    linkPackage(project)
    expect(typecheck(project)).toBe('')
  })

  const commands = ran('sh').flatMap(({ code }) => code.split('\n').filter((line) => COMMAND.test(line)))

  it.each([...new Set(commands)])('%s', (command) => {
    // The city database has 14.5 million networks.
    const small = command.replace('geofix export', `$& --db ${join(ROOT, 'data/country.mmdb.gz')}`)
    const runnable = small.replace(COMMAND, `$1${process.execPath} ${join(ROOT, 'dist/cli.cjs')}`)
    expect(() => output(folder, 'bash', '-c', `set -o pipefail; ${runnable}`)).not.toThrow()
  })
})
