import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { blocks, DOCUMENTS, ran, textOf } from './documents.ts'
import { deadLinks } from './markdown.ts'
import { ROOT } from './package/project.ts'

describe('the documents', () => {
  it('have examples', () => expect(ran('ts').length).toBeGreaterThan(11))

  it.each(DOCUMENTS)('%s has only blocks that this test finds', (document) => {
    const text = textOf(document)
    const found = blocks.filter((block) => block.document === document)
    expect(found.filter(({ skipped }) => skipped)).toHaveLength(text.split('<!-- not run:').length - 1)
    expect(text.match(/^```\w+$/gm) ?? []).toHaveLength(found.length)
  })

  it.each(DOCUMENTS)('%s names only npm scripts that exist', (document) => {
    const { scripts } = JSON.parse(textOf('package.json'))
    for (const [, name] of textOf(document).matchAll(/npm run ([\w-]+)/g))
      expect(Object.keys(scripts)).toContain(name)
  })

  it.each(DOCUMENTS)('%s has only links that lead somewhere', (document) => {
    expect(deadLinks(ROOT, document, textOf)).toEqual([])
  })

  it.each(DOCUMENTS)('%s names only files that exist', (document) => {
    for (const [, path = ''] of textOf(document).matchAll(/`((?:src|test|scripts|data)(?:\/[\w.-]+)+)`/g))
      expect(existsSync(join(ROOT, path)), path).toBe(true)
  })

  it('start with a README of at most 130 lines', () => {
    expect(textOf('README.md').trimEnd().split('\n').length).toBeLessThanOrEqual(130)
  })

  it.each(['npm install geofix', 'npm install PATH', 'npm ci && npm run demo', 'npm ci && npm test'])(
    'start with a README that names `%s`',
    (command) => expect(textOf('README.md')).toContain(command),
  )
})
