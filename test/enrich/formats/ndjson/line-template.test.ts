import { describe, expect, it } from 'vitest'
import { JsonScanner } from '../../../../src/enrich/formats/ndjson/json-scanner.ts'
import { TemplateCache } from '../../../../src/enrich/formats/ndjson/line-template.ts'
import { findMembers, MemberPath } from '../../../../src/enrich/formats/ndjson/member-path.ts'
import { viewOf } from '../../../../src/enrich/swar.ts'
import { utf8 } from '../../world.ts'

/** Reads lines one after another with one cache of templates. */
class Reader {
  readonly #path = new MemberPath(['ip'])
  readonly #templates = new TemplateCache([this.#path])
  readonly #scanner = new JsonScanner()

  /** Learns a line, which no template matches yet. */
  learn(line: string): void {
    const bytes = utf8(`${line}\n`)
    const end = bytes.length - 1
    expect(this.#templates.match(bytes, viewOf(bytes), 0, end, end)).toBe(-1)
    expect(this.#scan(bytes, 0, end)).not.toBeNull()
    this.#templates.learn(bytes, 0, end, this.#scanner.scalars)
  }

  /**
   * Where a template finds the value in a line between two others, from the start of the line; `null` if no template matches.
   * Expects that a line that matches is an object in which a scanner finds the value there.
   */
  find(line: Uint8Array): readonly number[] | null {
    const bytes = Uint8Array.of(...utf8('{}\n'), ...line, 0x0a, ...utf8('"},"ip":"1.2.3.4"}\n'))
    const end = 3 + line.length
    const isMatched = this.#templates.match(bytes, viewOf(bytes), 3, end, end) === end
    const found = [this.#path.start - 3, this.#path.end - 3]
    const lineEnd = this.#templates.match(bytes, viewOf(bytes), 3, bytes.length)
    expect(lineEnd).toBe(isMatched ? end : -1)
    if (!isMatched) return null
    expect(this.#scan(bytes, 3, end)).toEqual(found)
    return found
  }

  #scan(bytes: Uint8Array, start: number, end: number): readonly number[] | null {
    if (!this.#scanner.scan(bytes, viewOf(bytes), start, end)) return null
    findMembers([this.#path], bytes, viewOf(bytes), this.#scanner.start, end)
    return [this.#path.start - start, this.#path.end - start]
  }
}

const lineOf = (name: string, text: string, ip: string): string =>
  `{"t":"${text}","${name}":"same","ip":"${ip}"}`

describe('a template', () => {
  // Parts are compared by four words, by words, and by bytes.
  it.each([0, 1, 2, 3, 4, 5, 6, 7, 8, 15, 16, 23, 24, 25, 31, 32, 33, 40, 47, 48, 55, 57, 64])(
    'matches no line that differs in one byte of a part with a name of %d bytes',
    (size) => {
      const reader = new Reader()
      const name = 'n'.repeat(size)
      reader.learn(lineOf(name, 'a', '1.1.1.1'))
      reader.learn(lineOf(name, 'b', '2.2.2.2'))
      const line = utf8(lineOf(name, 'c', '3.3.3.3'))
      const ip = line.length - '"3.3.3.3"}'.length
      const value = [ip, line.length - 1]
      expect(reader.find(line)).toEqual(value)
      for (let at = 0; at < line.length; at++) {
        const other = line.slice()
        other[at] = 0x7e
        const isInValue = at === 6 || (at > ip && at < line.length - 2)
        expect(reader.find(other)).toEqual(isInValue ? value : null)
      }
    },
  )

  it('refuses a string with a fault at any of its bytes, and finds where others end', () => {
    const reader = new Reader()
    reader.learn(lineOf('n', 'a', '1.1.1.1'))
    reader.learn(lineOf('n', 'b', '2.2.2.2'))
    const insertions: readonly [string, boolean][] = [
      ['\\"', true],
      ['\\\\', true],
      ['\\u00e9', true],
      ['é', true],
      ['\u007f', true],
      ['\\x', false],
      ['\\u00g0', false],
      ['\\', false],
      ['"', false],
      ['\u0000', false],
      ['\u001f', false],
      ['\t', false],
      ['\r', false],
    ]
    for (let size = 0; size <= 9; size++) {
      for (let at = 0; at <= size; at++) {
        for (const [insertion, isValid] of insertions) {
          // A backslash before another character.
          const text = `${'c'.repeat(at)}${insertion}${'d'.repeat(size - at)}`
          const isFound = reader.find(utf8(lineOf('n', text, '3.3.3.3'))) !== null
          expect(isFound && isJson(lineOf('n', text, '3.3.3.3'))).toBe(isFound)
          if (isValid) expect(isFound).toBe(true)
        }
      }
    }
  })

  it('takes any bytes over 0x7f in strings, as the scanner does', () => {
    const reader = new Reader()
    reader.learn(lineOf('n', 'a', '1.1.1.1'))
    reader.learn(lineOf('n', 'b', '2.2.2.2'))
    const line = utf8(lineOf('n', 'c'.repeat(12), '3.3.3.3'))
    for (let at = 6; at < 18; at++) {
      for (const byte of [0x80, 0xa2, 0xdc, 0xff]) {
        const other = line.slice()
        other[at] = byte
        expect(reader.find(other)).not.toBeNull()
      }
    }
  })
})

function isJson(line: string): boolean {
  try {
    JSON.parse(line)
    return true
  } catch {
    return false
  }
}
