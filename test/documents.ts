import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { ROOT } from './package/project.ts'

/** Everything that explains the project. All examples in it run, and all links lead somewhere. */
export const DOCUMENTS = [
  'README.md',
  'SECURITY.md',
  'CHANGELOG.md',
  '.github/CONTRIBUTING.md',
  'scripts/bench/README.md',
  ...['src', 'scripts/examples', 'data'].flatMap(guidesIn),
]

/** The documents in a folder and the folders in it. */
function guidesIn(folder: string): string[] {
  const files = readdirSync(join(ROOT, folder), { encoding: 'utf8', recursive: true })
  return files.filter((file) => file.endsWith('.md')).map((file) => `${folder}/${file.replaceAll('\\', '/')}`)
}

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
