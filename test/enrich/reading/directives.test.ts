// Formats whose lines say how later lines are read, shown by one that exists only here.
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { BlockEnricher } from '../../../src/enrich/block-enricher.ts'
import type { FormatDefinition } from '../../../src/enrich/formats/format-definition.ts'
import { LIST, type ListPlan } from '../../../src/enrich/formats/list.ts'
import { commonPlan } from '../../../src/enrich/options.ts'
import { plainLayout } from '../../../src/enrich/reading/layout.ts'
import { type RecordKind, RecordReader } from '../../../src/enrich/reading/record-reader.ts'
import { type Block, Splitter } from '../../../src/enrich/reading/splitter.ts'
import { chunked, concatenated, text, utf8, worldSet } from '../world.ts'

const MAX_LINE_BYTES = 60
const PLAN: ListPlan = {
  ...commonPlan({ maxLineBytes: MAX_LINE_BYTES, at: 0 }),
  format: 'list',
  append: true,
  fields: null,
}

/** Reads words, which spaces separate. The number of the word with the address is written after the line, to show the state. */
class WordReader extends RecordReader<number> {
  #column = Number.NaN

  override use(column: number): void {
    this.#column = column
  }

  override addedTo(): string {
    return ' location'
  }

  read(bytes: Uint8Array, start: number, end: number): RecordKind {
    const line = text(bytes.subarray(start, end))
    const shown = utf8(`${line} ${this.#column}`)
    this.useBytes(shown, 0, shown.length)
    this.addressBytes = utf8(line.split(' ')[this.#column] ?? '-')
    this.addressEnd = this.addressBytes.length
    return 'read'
  }

  find(): boolean {
    return false
  }
}

/** Words of a line, separated by spaces. A line such as `#fields name ip` says in which word the address is. */
const WORDS: FormatDefinition<ListPlan, number> = {
  ...LIST,
  layout: (plan) => ({
    ...plainLayout(plan),
    directives: {
      firstByte: 0x23,
      initial: 0,
      next: (state, bytes, start, end) => {
        const [name, ...fields] = text(bytes.subarray(start, end)).split(' ')
        return name === '#fields' ? fields.indexOf('ip') : state
      },
    },
  }),
  form: (plan) => ({ ...LIST.form(plan), template: [], head: null, before: '+', nothing: '-' }),
  makeReader: () => new WordReader(),
}

function blocksOf(input: Uint8Array, cuts: readonly number[], blockBytes: number): Block[] {
  const splitter = new Splitter(WORDS.layout(PLAN), blockBytes)
  return [...[...chunked(input, cuts)].flatMap((chunk) => splitter.push(chunk)), ...splitter.end()]
}

/** Each block goes to another enricher, as to other threads, the last block first. */
function enriched(input: string, cuts: readonly number[], blockBytes: number): string {
  const outputs = blocksOf(utf8(input), cuts, blockBytes)
    .map((block) => structuredClone(block))
    .reverse()
    .map((block) => [...new BlockEnricher(PLAN, worldSet(), WORDS).pieces(block)].map(({ output }) => output))
  return text(concatenated(outputs.reverse().flat()))
}

/** The same, line by line, without blocks. */
function expected(input: string): string {
  let column = 0
  return input.replace(/[^\r\n]+/g, (line) => {
    if (line.length > MAX_LINE_BYTES) return line
    if (!line.startsWith('#'))
      return `${line} ${column}${line.split(' ')[column] === '81.2.69.142' ? '+' : '-'}`
    const [name, ...fields] = line.split(' ')
    if (name === '#fields') column = fields.indexOf('ip')
    return `${line} location`
  })
}

describe('lines that change how later lines are read', () => {
  const WHOLE =
    'x 81.2.69.142\n#fields a ip\nx 81.2.69.142\n#fields ip\r\n81.2.69.142 x\r\n#close\n81.2.69.142 y\n'

  it('are right in the middle of a file', () => {
    expect(enriched(WHOLE, [0], 4096)).toBe(
      'x 81.2.69.142 0-\n#fields a ip location\nx 81.2.69.142 1+\n#fields ip location\r\n81.2.69.142 x 0+\r\n#close location\n81.2.69.142 y 0+\n',
    )
  })

  it('are neither records nor bad lines, and count as lines', () => {
    const [block] = blocksOf(utf8(WHOLE), [0], 4096)
    const enricher = new BlockEnricher(PLAN, worldSet(), WORDS)
    if (block === undefined) throw new TypeError('no block')
    expect(enricher.block(block)).toMatchObject({ lines: 7, counts: { lines: 4, resolved: 3, bad: 0 } })
  })

  it('give the same in blocks of any size, each in a thread of its own', () => {
    const line = fc.constantFrom(
      '#fields ip',
      '#fields name ip',
      '#fields a b ip',
      '#close',
      '81.2.69.142 b c',
      'a 81.2.69.142 c',
      'a b 81.2.69.142',
      '',
      // Over the bound, so that it is kept and changes nothing.
      `#fields ${'x '.repeat(30)}ip`,
    )
    const lines = fc.array(fc.tuple(line, fc.constantFrom('\n', '\r\n')), { maxLength: 30 })
    const sizes = fc.array(fc.integer({ min: 1, max: 90 }), { minLength: 1, maxLength: 4 })
    fc.assert(
      fc.property(lines, sizes, fc.integer({ min: 1, max: 200 }), (given, cuts, blockBytes) => {
        const input = given.map(([each, end]) => each + end).join('')
        expect(enriched(input, cuts, blockBytes)).toBe(expected(input))
      }),
      { numRuns: 300 },
    )
  })
})
