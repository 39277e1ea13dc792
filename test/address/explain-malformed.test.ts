import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { Address } from '../../src/address/address.ts'
import { explainMalformed } from '../../src/address/explain-malformed.ts'
import { anyCharacter } from '../any-character.ts'
import { processorMs } from '../processor-time.ts'
import { anyText } from './arbitraries.ts'

describe('explainMalformed', () => {
  it.each([
    ['', '"" is not an IP address: it is empty'],
    [' 8.8.8.8', '" 8.8.8.8" is not an IP address: remove the white space around it'],
    ['8.8.8.8\n', '"8.8.8.8\\n" is not an IP address: remove the white space around it'],
    ['\u00a08.8.8.8', '"\\u00a08.8.8.8" is not an IP address: remove the white space around it'],
    ['[::1]:80', '"[::1]:80" is not an IP address: remove the brackets, and the port if there is one'],
    ['8.8.8.8:53', '"8.8.8.8:53" is not an IP address: remove the port'],
    // Only the faulty number is named: a single zero, a zero inside and 255 are valid.
    ['0.255.100.256', '"0.255.100.256" is not an IP address: number 4 of 4 is over 255'],
    ['.1.2.3', '".1.2.3" is not an IP address: number 1 of 4 is missing'],
    ['1'.repeat(97), `"${'1'.repeat(60)}"... is not an IP address: it is 97 characters long`],
    [
      `${'1'.repeat(96)}`,
      `"${'1'.repeat(60)}"... is not an IP address: IPv4 has four decimal numbers separated by dots; this has one`,
    ],
    ['8.8.8.0/24', '"8.8.8.0/24" is not an IP address: it is a network: give one address of it'],
    ['2001:db8::/32', '"2001:db8::/32" is not an IP address: it is a network: give one address of it'],
    ['a/b', '"a/b" is not an IP address: it contains a "/"'],
    [
      'localhost',
      '"localhost" is not an IP address: "l" at position 0 is not allowed; host names are not resolved',
    ],
    [
      '1.2.3.x',
      '"1.2.3.x" is not an IP address: "x" at position 6 is not allowed; host names are not resolved',
    ],
    [
      '8.8.8.8\0',
      '"8.8.8.8\\u0000" is not an IP address: "\\u0000" at position 7 is not allowed; host names are not resolved',
    ],
    // What X-Forwarded-For holds.
    ['8.8.8.8, 10.0.0.1', '"8.8.8.8, 10.0.0.1" is not an IP address: it is a list: give one address'],
    ['1.2.3', '"1.2.3" is not an IP address: IPv4 has four decimal numbers separated by dots; this has 3'],
    [
      '2130706433',
      '"2130706433" is not an IP address: IPv4 has four decimal numbers separated by dots; this has one',
    ],
    ['1..2.3', '"1..2.3" is not an IP address: number 2 of 4 is missing'],
    ['1.2.3.', '"1.2.3." is not an IP address: number 4 of 4 is missing'],
    ['a.2.3.4', '"a.2.3.4" is not an IP address: number 1 of 4 is not decimal'],
    ['1.256.3.4', '"1.256.3.4" is not an IP address: number 2 of 4 is over 255'],
    [
      '1.2.3.010',
      '"1.2.3.010" is not an IP address: number 4 of 4 has a leading zero, which some programs read as octal: write 10 for decimal',
    ],
    ['00.0.0.0', /write 0 for decimal$/],
    ['0999.0.0.0', /number 1 of 4 is over 255$/], // no advice to write 999
    [`0${'9'.repeat(80)}.0.0.0`, /number 1 of 4 is over 255$/], // nor 1e+80
    ['1:::2', '"1:::2" is not an IP address: it has three colons in a row'],
    ['1::2::3', '"1::2::3" is not an IP address: it has "::" more than once'],
    ['12345::', '"12345::" is not an IP address: a group has more than four hexadecimal digits'],
    ['::1.2.3', '"::1.2.3" is not an IP address: a dotted part must be a strict IPv4 address at the end'],
    [
      '1:2:3',
      '"1:2:3" is not an IP address: IPv6 has eight groups separated by colons, or fewer with one "::"',
    ],
    ['fe80::1%', /: a zone must be 1 to 32 letters, .* link-local .*RFC 4007 section 11\)$/],
    ['2606:4700::1%eth0', /: a zone must be 1 to 32 letters,/],
    ['host%eth0', '"host%eth0" is not an IP address: "host" before the zone is not an address'],
    ['1'.repeat(97), /: it is 97 characters long$/],
  ])('%j', (text, expected) => {
    const message = explainMalformed(text)
    if (expected instanceof RegExp) expect(message).toMatch(expected)
    else expect(message).toBe(expected)
  })

  it.each([
    [undefined, 'of type undefined'],
    [null, 'null'],
    [134744072, 'of type number'],
    [['8.8.8.8'], 'of type object'],
    [Symbol('x'), 'of type symbol'],
    [8n, 'of type bigint'],
  ])('%s', (value, kind) => {
    expect(explainMalformed(value)).toBe(`An IP address must be a string, not ${kind}`)
  })

  it('truncates what it quotes', () => {
    const message = explainMalformed(`${'1'.repeat(60)}2`)
    expect(message).toContain(`"${'1'.repeat(60)}"`)
    expect(message).not.toContain('12')
  })

  it.each([
    'x'.repeat(1_000_000), //
    '\u0000'.repeat(1_000_000), // each becomes six characters
    '💥'.repeat(500_000),
    ' '.repeat(1_000_000), // a regular expression could try every start of the white space
    `${'1'.repeat(500_000)}/`,
    ':'.repeat(1_000_000),
    `host${'0'.repeat(90)}%`,
    '%\u0000'.repeat(48),
  ])('stays short for any text: row %#', (text) => {
    const taken = processorMs(() => expect(explainMalformed(text).length).toBeLessThan(1000))
    expect(taken).toBeLessThan(2000)
  })

  it('is one line of printable ASCII for every refused text', () => {
    const address = new Address()
    fc.assert(
      fc.property(fc.oneof(anyText, fc.string({ unit: anyCharacter, maxLength: 200 })), (text) => {
        fc.pre(!address.parse(text))
        expect(explainMalformed(text)).toMatch(/^[\x20-\x7e]{20,1000}$/)
      }),
      { numRuns: 5000 },
    )
  })

  it('does not call a value that is not a string', () => {
    const hostile = new Proxy(Object.create(null), {
      get: () => {
        throw new Error('called')
      },
    })
    expect(explainMalformed(hostile)).toBe('An IP address must be a string, not of type object')
    fc.assert(
      fc.property(fc.anything(), (value) => {
        expect(explainMalformed(value)).toMatch(/^[\x20-\x7e]{20,1000}$/)
      }),
    )
  })
})
