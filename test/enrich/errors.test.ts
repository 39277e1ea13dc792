import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { shownName } from '../../src/enrich/errors.ts'
import { type EnrichOptions, makePlan } from '../../src/enrich/formats/formats.ts'
import { anyCharacter } from '../any-character.ts'
import { textOrMessage, wholeSample } from './world.ts'

describe('the name of a field in a message', () => {
  it.each(['ip', 'client.ip', '/a~1b/~0', 'Client-IP', '@source_ip', '$1', 'k'.repeat(60)])(
    'is unchanged if it is a usual name: %s',
    (name) => expect(shownName(name)).toBe(name),
  )

  it.each([
    ['Client IP', '"Client IP"', 'words'],
    ['ip (addresses are also in b)', '"ip (addresses are also in b)"', 'what a message says'],
    ['ip, b', '"ip, b"', 'another name'],
    ['a"b', '"a\\"b"', 'quotes'],
    ['\x1b]0;x\x07', '"\\u001b]0;x\\u0007"', 'what terminals obey'],
    ['\x9b31m', '"\\u009b31m"', 'the same in one character'],
    ['\u202eip', '"\\u202eip"', 'text turned round'],
    ['ip\nb', '"ip\\nb"', 'a line end'],
    ['ip\n', '"ip\\n"', 'a line end after it'],
    ['größe', '"gr\\u00f6\\u00dfe"', 'other letters'],
    ['', '""', 'nothing'],
    ['k'.repeat(61), `"${'k'.repeat(60)}"...`, 'too much'],
  ])('is quoted otherwise: %j', (name, shown) => {
    expect(shownName(name)).toBe(shown)
  })

  it('is printable ASCII, and short', () => {
    const names = fc.oneof(fc.string({ unit: anyCharacter, maxLength: 200 }), fc.string({ maxLength: 200 }))
    fc.assert(fc.property(names, (name) => /^[\x20-\x7e]{1,365}$/.test(shownName(name))))
  })
})

describe('names of fields in messages', () => {
  /** What a terminal obeys, text turned round, a line of its own, and more than is shown. */
  const hostile = `\x1b]0;x\x07\x9b31m\u202e\nforged ${'k'.repeat(200)}`
  const shown = String.raw`"\u001b]0;x\u0007\u009b31m\u202e\nforged ${'k'.repeat(30)}`
  const longest = 'k'.repeat(200_000)
  const others = Object.fromEntries(
    Array.from({ length: 20 }, (_, index) => [`${index}${hostile}`, '1.1.1.1']),
  )
  const json = JSON.stringify

  it.each<[title: string, input: string, options: EnrichOptions, text: string]>([
    ['the column of the address', `a,"${hostile}"\n1,1.2.3.4\n`, {}, `are in column 2, ${shown}`],
    ['another column', `ip,"${hostile}${longest}"\n1.2.3.4,1.2.3.4\n`, {}, `also in column 2, ${shown}`],
    ['columns without a usual name', `a,"${hostile}",c\n1,1.2.3.4,1.2.3.4\n`, {}, `2, ${shown}`],
    ['columns', `a,"${hostile}",c\n1,2,3\n`, {}, `2 (${shown}`],
    ['the member of the address', json({ [hostile]: '1.1.1.1' }), {}, `addresses are in ${shown}`],
    ['other members', json({ ip: '1.1.1.1', ...others }), {}, 'also in "0'],
    ['members without a usual name', json({ ...others, [hostile]: '1.1.1.1' }), {}, 'addresses are in "0'],
    ['members beside the one that is not', json({ [hostile]: '1.1.1.1' }), { field: 'x' }, `are in ${shown}`],
    ['a member with a list', json({ [hostile]: '1.1.1.1, 2.2.2.2' }), { field: hostile }, ' holds lists'],
    ['one with a long name', json({ [longest]: '1.1.1.1,' }), { field: longest }, ' holds'],
  ])('are quoted in printable ASCII and cut: %s', (_, input, options, text) => {
    const format = input.startsWith('{') ? 'ndjson' : 'csv'
    const said = textOrMessage(() => makePlan(wholeSample(input), { format, ...options }).notes.join(' '))
    expect(said).toContain(text)
    expect(said).toMatch(/^[\x20-\x7e]{50,1500}$/)
  })
})
