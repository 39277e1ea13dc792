import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join, relative, sep } from 'node:path'
import { fileURLToPath } from 'node:url'
import ts from 'typescript'
import { describe, expect, it } from 'vitest'

const SOURCE = fileURLToPath(new URL('../src', import.meta.url))

/** The table of src/README.md: the layer of each path. A file imports from lower layers or its own path. */
const LAYERS: ReadonlyMap<string, number> = new Map(
  readFileSync(join(SOURCE, 'README.md'), 'utf8')
    .split('\n')
    .flatMap((line) => {
      const [, layer = '', paths = ''] = /^\| (\d+) \| ([^|]*) \|/.exec(line) ?? []
      return [...paths.matchAll(/`src\/([^`]+)`/g)].map(([, path = '']) => [path, Number(layer)] as const)
    }),
)

/** What one file imports, types included: ours by path from src, others by package or `node:` name. */
interface Imports {
  readonly own: readonly string[]
  readonly foreign: readonly string[]
}

function importsOf(file: string): Imports {
  const text = readFileSync(join(SOURCE, file), 'utf8')
  const names = ts.preProcessFile(text, true, true).importedFiles.map(({ fileName }) => fileName)
  const own = names.filter((name) => name.startsWith('.'))
  return {
    own: own.map((name) =>
      relative(SOURCE, join(SOURCE, dirname(file), name))
        .split(sep)
        .join('/'),
    ),
    foreign: names.filter((name) => !name.startsWith('.')),
  }
}

const files = readdirSync(SOURCE, { recursive: true, encoding: 'utf8' })
  .map((file) => file.split(sep).join('/'))
  .filter((file) => file.endsWith('.ts'))
  .sort()
const graph = new Map(files.map((file) => [file, importsOf(file)]))

/** The unit of layering: the longest path of the table that a file is, or is in. */
const unitOf = (file: string): string =>
  [...LAYERS.keys()]
    .filter((path) => path === file || file.startsWith(`${path}/`))
    .reduce((longest, path) => (path.length > longest.length ? path : longest), '')
const importersOf = (name: string): string[] =>
  files.filter((file) =>
    graph.get(file)?.foreign.some((each) => each === name || each.startsWith(`${name}/`)),
  )

/** All files that a file leads to, itself included. */
function reachableFrom(entry: string): Set<string> {
  const reached = new Set([entry])
  for (const file of reached) for (const next of graph.get(file)?.own ?? []) reached.add(next)
  return reached
}

describe('the imports of src', () => {
  it('are found', () => {
    expect(files.length).toBeGreaterThan(50)
    expect(graph.get('mmdb/database.ts')?.own).toContain('mmdb/search-tree.ts')
    expect(graph.get('mmdb/record-decoder.ts')?.foreign).toEqual(['mmdb-lib/lib/decoder.js'])
    expect(graph.get('bytes/extract.ts')?.own).toEqual([
      'errors.ts',
      'bytes/byte-limit.ts',
      'bytes/file-kind.ts',
    ])
  })

  it('lead to files that are there', () => {
    const missing = files.flatMap((file) => graph.get(file)?.own.filter((target) => !graph.has(target)) ?? [])
    // The type checker finds data that is missing.
    expect(missing.filter((target) => !target.endsWith('.json'))).toEqual([])
  })

  it('are of files that have a layer', () => {
    expect(files.filter((file) => unitOf(file) === '')).toEqual([])
    const unused = [...LAYERS.keys()].filter((path) => !files.some((file) => unitOf(file) === path))
    expect(unused).toEqual([])
  })

  it('run downwards only', () => {
    const upwards = files.flatMap((file) =>
      (graph.get(file)?.own ?? [])
        .filter((target) => graph.has(target) && unitOf(target) !== unitOf(file))
        .filter((target) => (LAYERS.get(unitOf(target)) ?? 99) >= (LAYERS.get(unitOf(file)) ?? 0))
        .map((target) => `${file} imports ${target}`),
    )
    expect(upwards).toEqual([])
  })

  it('have no cycles', () => {
    const done = new Set<string>()
    const cycles: string[] = []
    const visit = (file: string, path: readonly string[]): void => {
      if (path.includes(file)) cycles.push([...path.slice(path.indexOf(file)), file].join(' > '))
      else if (!done.has(file)) for (const next of graph.get(file)?.own ?? []) visit(next, [...path, file])
      done.add(file)
    }
    for (const file of files) visit(file, [])
    expect(cycles).toEqual([])
  })

  it.each([
    ['ipaddr.js', ['enrich/counting/values.ts']],
    ['fflate', ['bytes/gunzip.ts', 'packed/pack.ts']],
    ['mmdb-lib', ['mmdb/record-decoder.ts']],
    ['commander', ['cli/flags.ts', 'cli/program.ts']],
    ['rate-limiter-flexible', ['cli/parts-of-packages.d.ts', 'cli/serve/cluster.ts']],
    ['prom-client', ['cli/serve/cluster.ts', 'cli/serve/metrics.ts']],
    // All but compression.ts, pages.ts, parquet-file.ts, row-writer.ts and values.ts import types.
    [
      'hyparquet',
      [
        'column-writer',
        'columns',
        'compression',
        'pages',
        'parquet-file',
        'row-writer',
        'rows-output',
        'values',
      ]
        .map((name) => `cli/enrich/parquet/${name}.ts`)
        .concat('cli/export/parquet-rows.ts'),
    ],
    ['hyparquet-writer', ['cli/enrich/parquet/column-writer.ts']],
    ['fzstd', ['cli/enrich/parquet/compression.ts']],
    ['nanotar', ['cli/engine-command.ts']],
    ['bowser', ['cli/report/requests.ts']],
    ['isbot', ['cli/report/requests.ts']],
  ])('bring in %s at one place', (name, expected) => {
    expect(importersOf(name)).toEqual(expected)
  })

  it('bring in nothing else from others', () => {
    const packages = ['ipaddr.js', 'fflate', 'mmdb-lib', 'commander']
    const service = ['rate-limiter-flexible', 'prom-client']
    const parquet = ['hyparquet', 'hyparquet-writer', 'fzstd']
    const known = [...packages, ...service, ...parquet, 'nanotar', 'bowser', 'isbot']
    const foreign = new Set(files.flatMap((file) => graph.get(file)?.foreign ?? []))
    const others = [...foreign].filter(
      (name) => !known.includes(name.split('/', 1)[0] ?? '') && !name.startsWith('node:'),
    )
    expect(others).toEqual([])
  })

  it('lead from the writer to no dependency but those of the library', () => {
    const foreign = [...reachableFrom('writer.ts')].flatMap((file) => graph.get(file)?.foreign ?? [])
    expect([...new Set(foreign)].sort()).toEqual(['fflate', 'mmdb-lib/lib/decoder.js'])
  })
})

// V8's background compiler allocates memory for such a constant. It may have to wait for a garbage collection of the main
// thread, while Node waits for the compiler at the end of the event loop: the process never ends
// (https://github.com/nodejs/node/issues/54918).
it('functions that lookups run read constants of Number from a variable of the module', () => {
  const inFunctions = files
    .filter(
      (file) => /^(?:address|location|mmdb|packed)\//.test(file) && !/\/(?:pack|tree-leaves)\.ts$/.test(file),
    )
    .flatMap((file) =>
      readFileSync(join(SOURCE, file), 'utf8')
        .split('\n')
        .filter((line) => /^ +[^*/ ].*\bNumber\.(?:NaN|[A-Z]+_[A-Z_]+|EPSILON)\b/.test(line))
        .map((line) => `${file}: ${line.trim()}`),
    )
  expect(inFunctions).toEqual([])
})
