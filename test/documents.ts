import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { ROOT } from './package/project.ts'

/** Everything that explains the project. All examples in it run, and all links lead somewhere. */
export const DOCUMENTS = [
  'README.md',
  'src/README.md',
  'src/bundler/README.md',
  'scripts/examples/browser/README.md',
  'scripts/examples/electron/README.md',
  'scripts/examples/fleet/README.md',
  'src/cli/README.md',
  'src/cli/count/README.md',
  'src/client/README.md',
  'src/edit/README.md',
  'src/enrich/README.md',
  'src/engines/README.md',
  'src/cli/enrich/README.md',
  'src/freshness/README.md',
  'src/http/README.md',
  'src/location/README.md',
  'src/migration/README.md',
  'src/node/README.md',
  'src/packed/README.md',
  'scripts/bench/README.md',
  'data/LICENSES.md',
  'data/README.md',
  'SECURITY.md',
  'CHANGELOG.md',
  '.github/CONTRIBUTING.md',
]

export interface Block {
  readonly document: string
  readonly line: number
  readonly language: string
  readonly code: string
  /** Whether a comment before it says why it is not run. */
  readonly skipped: boolean
}

export const textOf = (document: string): string => readFileSync(join(ROOT, document), 'utf8')

function blocksOf(document: string): Block[] {
  const text = textOf(document)
  return Array.from(text.matchAll(/(<!-- not run: [^>]+-->\n)?^```(\w+)\n([\s\S]*?)^```$/gm), (match) => ({
    document,
    line: text.slice(0, match.index).split('\n').length,
    language: match[2] ?? '',
    code: match[3] ?? '',
    skipped: match[1] !== undefined,
  }))
}

export const blocks = DOCUMENTS.flatMap(blocksOf)
export const ran = (language: string) =>
  blocks.filter((block) => block.language === language && !block.skipped)
