// The definitions of the options, and what the command line checks before it reads anything.
import { chmodSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, expectTypeOf, it, vi } from 'vitest'
import { COUNT_OPTIONS } from '../../src/cli/count/flags.ts'
import { ENRICH_OPTIONS } from '../../src/cli/enrich/flags.ts'
import { EXPORT_OPTIONS } from '../../src/cli/export/flags.ts'
import { helpOf, withFormats } from '../../src/cli/flags.ts'
import { databasePath, LOOKUP_OPTIONS, SLIM_OPTIONS } from '../../src/cli/options.ts'
import { SERVE_OPTIONS } from '../../src/cli/serve/flags.ts'
import { UsageError } from '../../src/cli/terminal.ts'
import type { CountOptions } from '../../src/enrich/count.ts'
import { type EnrichOptions, FORMATS, formatsWith } from '../../src/enrich/formats/formats.ts'
import type { OPTIONS } from '../../src/enrich/line-options.ts'
import type { RowOptions } from '../../src/enrich/row-writer.ts'
import { allOptions, flagOf, type OptionDefinition, type OptionGroups, TEXT } from '../../src/option-kinds.ts'
import { databaseOf } from '../own-databases.ts'
import { ROOT } from '../package/project.ts'
import { makeFile } from '../temporary.ts'
import { failure, geofix, ndjson, workspace } from './enrich/command-line.ts'

const loads = vi.hoisted(() => ({ begun: 0 }))
vi.mock('../../src/cli/databases.ts', async (original) => {
  const real = await original<typeof import('../../src/cli/databases.ts')>()
  const openDatabases: typeof real.openDatabases = (...args) => {
    loads.begun++
    return real.openDatabases(...args)
  }
  return { ...real, openDatabases }
})

const { folder, DB, file } = workspace()
const SYSTEMS = { '81.2.69.0/24': { autonomous_system_number: 20712 } }
const ASN = file('asn.mmdb', databaseOf(SYSTEMS, { databaseType: 'Sample-ASN' }))
const EMPTY = file('empty.mmdb', databaseOf({}))

/** A database that nobody may begin to read, so that a command that does says something else. */
const NO_DB = join(folder, 'missing.mmdb')

/** Runs a command with an input that fails the test when it is read. */
function unread(args: readonly string[], isTTY = false) {
  const input = (async function* () {
    yield await Promise.reject(new Error('the input was read'))
  })()
  return geofix(args, { input, isTTY })
}

type FormatsOf = (name: string) => readonly string[]
const noFormats: FormatsOf = () => []

/**
 * The options for a guide: a table for each group.
 *
 * @param formatsOf the formats that have an option; none for all
 * @param known the rows of the guide of the command `others`. This guide has only the names of these options
 */
function guideTables(
  groups: OptionGroups,
  formatsOf: FormatsOf,
  known: readonly string[],
  others: string,
): string {
  const tables = Object.entries(groups).flatMap(([heading, definitions]) => {
    const rows = rowsOf(definitions, formatsOf).filter((row) => !known.includes(row))
    if (rows.length === 0) return []
    return `${heading === 'Options' ? '' : `**${heading}**\n\n`}| option | |\n| --- | --- |\n${rows.join('\n')}`
  })
  const repeated = Object.values(groups)
    .flatMap((definitions) => rowsOf(definitions, formatsOf))
    .filter((row) => known.includes(row))
  const names = repeated.map((row) => row.split(' | ')[0]?.slice(2))
  return [
    ...tables,
    ...(names.length === 0 ? [] : [`These work as in ${others}: ${names.join(', ')}.`]),
  ].join('\n\n')
}

const rowsOf = (definitions: OptionGroups[string], formatsOf: FormatsOf): string[] =>
  Object.entries(definitions).map(([name, each]) => guideRow(each, formatsOf(name)))

function guideRow({ flags = '', text = '' }: OptionDefinition, formats: readonly string[]): string {
  const names = flags
    .replace(/<(.*=)?(.*)>/, (_, prefix = '', value: string) => `${prefix}${value.toUpperCase()}`)
    .split(', ')
    .map((name) => `\`${name}\``)
  return `| ${names.join(', ')} | ${withFormats(text, formats).replaceAll('|', '\\|')} |`
}

describe('the definition of an option', () => {
  const definition = {
    flags: '-o, --output <html=file>',
    kind: TEXT,
    text: 'write to a `file|pipe`. See [`detect`](../client/README.md#how)',
  }

  it('gives the texts of -h and --help without Markdown', () => {
    expect(helpOf(definition, false, ['csv', 'tsv'])).toBe('write to a file|pipe')
    expect(helpOf(definition, true, ['csv', 'tsv'])).toBe(
      'write to a file|pipe. See detect. Only for csv, tsv',
    )
  })

  it.each<[string, OptionGroups, FormatsOf?, OptionGroups?, string?]>([
    ['src/cli/enrich/README.md', ENRICH_OPTIONS, formatsWith],
    [
      'src/cli/count/README.md',
      COUNT_OPTIONS,
      formatsWith,
      ENRICH_OPTIONS,
      '[`geofix enrich`](../enrich/README.md)',
    ],
    ['src/cli/export/README.md', EXPORT_OPTIONS, noFormats, LOOKUP_OPTIONS, '[`geofix`](../README.md)'],
    ['src/cli/README.md', LOOKUP_OPTIONS],
    ['src/edit/README.md', SLIM_OPTIONS],
    ['src/http/README.md', SERVE_OPTIONS],
  ])('is the same in %s', (file, groups, formatsOf = noFormats, known = {}, others = '') => {
    const rows = Object.values(known).flatMap((definitions) => rowsOf(definitions, formatsOf))
    const tables = guideTables(groups, formatsOf, rows, others)
    const [, found] =
      /<!-- options -->\n([\s\S]*?)\n<!-- \/options -->/.exec(readFileSync(join(ROOT, file), 'utf8')) ?? []
    expect(found, `Paste this into ${file}:\n${tables}\n`).toBe(tables)
  })

  it('has the names of the types', () => {
    type Of<Call extends string> = {
      [Name in keyof typeof OPTIONS]: (typeof OPTIONS)[Name] extends {
        readonly calls: readonly (infer Calls)[]
      }
        ? Call extends Calls
          ? Name
          : never
        : Name
    }[keyof typeof OPTIONS]
    expectTypeOf<Of<'enrich'>>().toEqualTypeOf<keyof EnrichOptions>()
    expectTypeOf<Of<'count'>>().toEqualTypeOf<keyof CountOptions>()
    // These two have an error of their own.
    expectTypeOf<Exclude<Of<'rows'>, keyof RowOptions>>().toEqualTypeOf<'onlyFailed' | 'dropUnresolved'>()
    expectTypeOf<Exclude<keyof RowOptions, Of<'rows'>>>().toBeNever()
  })

  const VALUES: Readonly<Record<string, string[]>> = {
    '--field': ['ip'],
    '--log-format': ['%h %u'],
    '--fields': ['city'],
    '--annotate': ['{ip} {city}'],
    '--nth': ['2'],
    '--to': ['ndjson'],
    '--time-field': ['ts'],
    '--max-record-lines': ['5'],
  }

  it.each(
    Object.keys(allOptions(ENRICH_OPTIONS)).flatMap((name) => {
      const formats: readonly string[] = formatsWith(name)
      return formats.length === 0
        ? []
        : FORMATS.map(
            (format) => [flagOf(ENRICH_OPTIONS, name) ?? '', format, formats.includes(format)] as const,
          )
    }),
  )('has the formats that accept it: %s for %s: %s', async (flag, format, isAccepted) => {
    const args = ['enrich', '--db', NO_DB, '--format', format, flag, ...(VALUES[flag] ?? [])]
    const outcome = isAccepted ? failure(4, 'missing.mmdb') : failure(2, `${flag} is for `)
    expect(await unread(args)).toEqual(outcome)
  })
})

describe('an option that takes one value', () => {
  it.each([
    ['geofix', ['--locale', 'de', '--locale', 'fr', '81.2.69.142'], '--locale'],
    ['detect', ['detect', '--peer', '1.1.1.1', '--trust', 'loopback', '--trust', 'unix:'], '--trust'],
    ['enrich', ['enrich', '--output', 'a', '-o', 'b'], '--output'],
  ])('is not given twice: %s %j', async (_, args, flag) => {
    const message = new RegExp(`${flag}.*This option can be given only once\\.`)
    expect(await unread(args)).toEqual(failure(2, message))
  })

  it('leaves those that take several', async () => {
    expect((await geofix(['--db', DB, '--db', DB, '81.2.69.142'])).status).toBe(0)
    const headers = ['--header', 'X-Forwarded-For: 1.1.1.1', '--header', 'X-Forwarded-For: 8.8.8.8']
    const { out } = await geofix(['detect', '--peer', '10.0.0.1', '--trust', '10.0.0.0/8', ...headers])
    expect(out).toContain('The client is 8.8.8.8')
  })
})

describe('a database without locations', () => {
  it.each([
    [['--db', DB, '--db', ASN, '81.2.69.142']],
    [['--db', ASN, '--db', DB, '81.2.69.142']],
    [['--db', ASN, '81.2.69.142']],
    [['--db', ASN]],
    [['enrich', '--db', DB, '--db', ASN]],
    [['enrich', '--db', ASN, '--db', DB]],
    [['enrich', '--db', ASN]],
  ])('is an error rather than silently of no use: %j', async (args) => {
    const err = `geofix: ${ASN}: it has no locations (type "Sample-ASN"; its records only have "autonomous_system_number"): open a City or Country database, or leave this one out\n`
    expect(await unread(args)).toEqual({ status: 1, out: '', err })
  })

  it('is not one that is empty, and not for info and verify', async () => {
    expect((await geofix(['--db', EMPTY, '--db', DB, '81.2.69.142'])).status).toBe(0)
    expect((await geofix(['info', '--db', ASN])).status).toBe(0)
    expect((await geofix(['verify', ASN])).status).toBe(0)
  })
})

describe('standard input from a terminal', () => {
  it.each([
    [[], 'Usage: geofix [options]'],
    [['--pretty'], 'Usage: geofix [options]'],
    [['enrich'], 'Usage: geofix enrich'],
    [['enrich', '--quiet', '-o', 'out'], 'Usage: geofix enrich'],
  ])('prints the help and exits with 2 without "-": %j', async (args, help) => {
    expect(await unread(args, true)).toEqual(failure(2, help))
  })

  it('prints one line that asks for input with "-"', async () => {
    const line = 'geofix: reading lines from this terminal: type them, then press Ctrl-D\n'
    const terminal = { input: '81.2.69.142\n', isTTY: true }
    const args = ['enrich', '--db', DB, '--stats', 'none', '-']
    const { status, out, err } = await geofix(args, terminal)
    expect([status, err.split(line)]).toEqual([0, ['', expect.anything()]])
    expect(out).toContain('London')
    expect((await geofix([...args, '--quiet'], terminal)).err).toBe('')
    expect((await geofix(args, { ...terminal, isTTY: false })).err).not.toContain('terminal')
  })
})

describe('options', () => {
  it.each<[string[], RegExp]>([
    ...[['81.2.69.142'], ['enrich', '-']].flatMap((command): [string[], RegExp][] => [
      [[...command, '--db', NO_DB, '--locale', 'no_such'], /BCP 47/],
      [[...command, '--db', NO_DB, '--at', 'yesterday'], /Write it as 2026-07-01/],
      [
        [...command, '--db', 'http://a.b/c'],
        /http: URLs are not supported: download the file, then give its path\./,
      ],
    ]),
    [['enrich', '--db', NO_DB, '--trust', '10/8'], /: --trust: "10\/8"/],
    [['enrich', '--db', NO_DB, '--format', 'csv', '--append'], /--append is for .*access-log/],
    [['enrich', '--db', NO_DB, '-o', ''], /Write the name of a file/],
    [['enrich', '--db', ''], /Write the name of a file/],
    [['verify', ''], /Write the name of a file/],
    [['info', '--db', 'http://example.com/x'], /http: URLs are not supported: download the file/],
    [['verify', 'http://example.com/x'], /http: URLs are not supported/],
    [['keys', 'add', '--keys', '', '--plan', 'developer', '--label', 'x'], /--keys .*Write a text/],
    [['enrich', '--db', NO_DB, '--field', ''], /Write a name/],
    [['enrich', '--db', NO_DB, '--time-field', ''], /Write a name/],
    [['detect', '--peer', '10.0.0.1', '--trust', 'all'], /--trust: "all"/],
  ])('are checked before databases are opened and lines are read: %j', async (args, message) => {
    const ran = await unread(args)
    expect(ran).toEqual(failure(2, message))
    expect(ran.err).not.toMatch(/missing\.mmdb: |was read/)
  })
})

describe('outputs', () => {
  const read = join(folder, 'read')
  mkdirSync(read)
  writeFileSync(join(read, 'old'), 'old')
  writeFileSync(join(read, 'in.ndjson'), ndjson(3))
  chmodSync(join(read, 'old'), 0o444)
  const before = readdirSync(read)
  // Root may write every file but those of the kernel.
  const protectedFile = process.getuid?.() === 0 ? '/proc/sys/kernel/ostype' : join(read, 'old')

  it.each([
    ['in a folder that is missing', join(read, 'none', 'out'), /no such file or directory \(ENOENT\)/],
    ['that are folders', read, /it is a directory \(EISDIR\)/],
    ['that would be folders', join(read, 'none/'), /it is a directory \(EISDIR\)/],
    ['below a file', join(read, 'old', 'out'), /ENOTDIR/],
  ])('that cannot be written are found before databases are read: %s', async (_, path, message) => {
    for (const flags of [
      ['-o', path],
      ['--summary', `html=${path}`],
      ['-o', join(read, 'fine'), '--summary', `html=${path}`],
    ]) {
      const { begun } = loads
      expect(await unread(['enrich', '--db', NO_DB, ...flags])).toEqual(failure(3, message))
      expect(loads.begun).toBe(begun)
      expect(readdirSync(read)).toEqual(before)
    }
  })

  it('that are protected are found before databases are read', async () => {
    const ran = await unread(['enrich', '--db', NO_DB, '-o', protectedFile])
    expect(ran).toEqual(failure(3, 'permission denied (EACCES)'))
  })

  it('that are there stay as they are when the run fails early', async () => {
    const output = makeFile(join(folder, 'kept'), 'old')
    for (const args of [
      ['--db', NO_DB],
      ['--db', DB, join(folder, 'missing.ndjson')],
      ['--db', DB, '--format', 'list', '--fields', 'city'],
    ]) {
      const { status } = await unread(['enrich', ...args, '-o', output, '--summary', `html=${read}/r`])
      expect(status).toBeGreaterThan(0)
      expect(readFileSync(output, 'utf8')).toBe('old')
      expect(readdirSync(read)).toEqual(before)
    }
  })
})

describe('databasePath', () => {
  it.each([
    ['city.mmdb', 'city.mmdb'],
    ['/a b/city.mmdb', '/a b/city.mmdb'],
    ['C:\\city.mmdb', 'C:\\city.mmdb'],
    ['http:/city.mmdb', 'http:/city.mmdb'], // a valid folder name
    ['file:///a%20b/city.mmdb', '/a b/city.mmdb'],
    ['FILE:///city.mmdb', '/city.mmdb'],
  ])('opens %s as %s', (text, path) => {
    expect(databasePath(text)).toBe(path)
  })

  it.each([
    'http://example.com/city.mmdb',
    'HTTPS://example.com/',
    's3://bucket/city.mmdb',
    'file:///a%2fb',
    'file://%/',
  ])('refuses %s', (text) => {
    expect(() => databasePath(text)).toThrow(UsageError)
  })
})
