import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { shownName } from '../../src/enrich/errors.ts'
import { anyCharacter } from '../any-character.ts'

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
