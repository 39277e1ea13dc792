import { describe, expect, it } from 'vitest'
import { Seam } from '../../src/enrich/run.ts'

const bytes = (text: string): Uint8Array => new Uint8Array(Buffer.from(text))

/** The output for inputs that are given in pieces. */
function joined(...inputs: readonly (readonly string[])[]): string {
  const seam = new Seam()
  let written = ''
  for (const pieces of inputs) {
    seam.begin()
    for (const piece of pieces) written += Buffer.from(seam.before(bytes(piece))).toString() + piece
  }
  return written
}

describe('between two inputs', () => {
  it.each<[string, string[][], string]>([
    ['lines with line ends', [['a\n'], ['b\n']], 'a\nb\n'],
    ['a line without a line end', [['a'], ['b']], 'a\nb'],
    ['line ends of the first input', [['a\r\nb'], ['c']], 'a\r\nb\r\nc'],
    ['the last line end of several', [['a\r\nb\nc'], ['d']], 'a\r\nb\nc\nd'],
    ['pieces of one input', [['a', 'b', '\n', 'c'], ['d']], 'ab\nc\nd'],
    ['empty inputs', [['a'], [''], [], ['b']], 'a\nb'],
    ['an empty input first', [[''], ['b']], 'b'],
  ])('adds only the missing line end: %s', (_, inputs, expected) => {
    expect(joined(...inputs)).toBe(expected)
  })
})
