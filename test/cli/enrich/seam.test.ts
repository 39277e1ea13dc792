import { describe, expect, it } from 'vitest'
import { Seam } from '../../../src/cli/enrich/seam.ts'

const bytes = (text: string): Uint8Array => new Uint8Array(Buffer.from(text))

/** What is written of inputs that each come in pieces. */
function joined(...inputs: readonly (readonly string[])[]): string {
  const seam = new Seam()
  let written = ''
  for (const pieces of inputs) {
    seam.begin()
    for (const piece of pieces) written += Buffer.from(seam.before(bytes(piece))).toString() + piece
  }
  return written
}

describe('where one input follows another', () => {
  it.each<[string, string[][], string]>([
    ['a line that has its end', [['a\n'], ['b\n']], 'a\nb\n'],
    ['a line without one', [['a'], ['b']], 'a\nb'],
    ['ends of lines as they were', [['a\r\nb'], ['c']], 'a\r\nb\r\nc'],
    ['ends of lines that changed', [['a\r\nb\nc'], ['d']], 'a\r\nb\nc\nd'],
    ['pieces of one input', [['a', 'b', '\n', 'c'], ['d']], 'ab\nc\nd'],
    ['inputs of nothing', [['a'], [''], [], ['b']], 'a\nb'],
    ['nothing before it', [[''], ['b']], 'b'],
  ])('is written for %s what is missing', (_, inputs, expected) => {
    expect(joined(...inputs)).toBe(expected)
  })
})
