import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { Address, explainMalformed, parseAddress } from '../../src/address/address.ts'
import { describeSpecialPurpose } from '../../src/address/special-purpose.ts'
import { MalformedAddressError, quoted, UnresolvableAddressError } from '../../src/errors.ts'
import { processorMs } from '../processor-time.ts'
import { tableOf } from '../table-of.ts'
import { vectorsIn } from '../vectors/vectors-in.ts'

const address = new Address()

// The fuzz target address compares Address.parse and parseAddress with net.isIP and the URL standard.
describe('Address.parse', () => {
  it('formats a text whose "::" is a part of its run of zeros as RFC 5952 does', () => {
    expect(address.parse('2001:db8::0:1')).toBe(true)
    expect(address.text).toBe('2001:db8::1')
  })

  const call = () => {
    throw new Error('called')
  }
  it.each([
    ...[undefined, null, 1, 134744072, 8n, true, Symbol('8.8.8.8'), new String('8.8.8.8'), () => '8.8.8.8'],
    [['8.8.8.8']], // an array of one element converts to that element
    ...[{ toString: () => '8.8.8.8' }, { toString: call }, Object.create(null), new Proxy({}, { get: call })],
    ...['1'.repeat(1_000_000), `${'0:'.repeat(500_000)}1`, '%'.repeat(1_000_000)],
    `fe80::1%${'x'.repeat(1_000_000)}`,
    '\ud800', // an unpaired surrogate
  ])('refuses anything else without calling it: row %#', (value) => {
    expect(address.parse(value)).toBe(false)
  })
})

type Expected =
  | { readonly outcome: 'lookup'; readonly address: string; readonly lookup: string }
  | { readonly outcome: 'malformed'; readonly status: 400 }
  | {
      readonly outcome: 'unresolvable'
      readonly status: 422
      readonly reason: string
      readonly address: string
    }

interface Vector {
  readonly id: string
  readonly input: unknown
  readonly expect: Expected
  readonly why: string
}

/** The outcome for a text, in the vectors' terms. */
function outcomeOf(input: unknown): object {
  try {
    // One of the vectors' values is not a string.
    const { address, lookup } = parseAddress(input as string)
    return { outcome: 'lookup', address, lookup }
  } catch (error) {
    if (error instanceof MalformedAddressError) return { outcome: 'malformed', status: error.status }
    if (!(error instanceof UnresolvableAddressError)) throw error
    const { status, reason, address } = error
    return { outcome: 'unresolvable', status, reason, address }
  }
}

describe('the address vectors', () => {
  const vectors = vectorsIn<Vector>('address-vectors.json')

  it('are there', () => {
    expect(vectors.length).toBeGreaterThan(100)
  })

  it.each(vectors)('$id $input', ({ input, expect: expected, why }) => {
    expect(outcomeOf(input), why).toEqual(expected)
  })
})

describe('parseAddress', () => {
  it.each([
    ['0.0.0.0', 'unspecified', '0.0.0.0 has no location: it is the unspecified address'],
    ['::1', 'loopback', '::1 has no location: it is a loopback address'],
    ['10.0.0.1', 'private', '10.0.0.1 has no location: it is a private network address'],
    ['100.64.0.1', 'shared', '100.64.0.1 has no location: it is shared address space for carrier-grade NAT'],
    ['fe80::1%en0', 'link-local', 'fe80::1 has no location: it is a link-local address'],
    ['ff02::1', 'multicast', 'ff02::1 has no location: it is a multicast group, not a host'],
    ['192.0.2.1', 'documentation', '192.0.2.1 has no location: it is reserved for documentation'],
    ['198.18.0.1', 'benchmarking', '198.18.0.1 has no location: it is reserved for benchmarking'],
    ['240.0.0.1', 'reserved', '240.0.0.1 has no location: it is reserved and not globally reachable'],
  ] as const)('has a message for %s, %s', (text, reason, message) => {
    expect(() => parseAddress(text)).toThrow(message)
    expect(message).toContain(describeSpecialPurpose('', reason).trim())
  })
})

describe('explainMalformed', () => {
  it.each([
    ...tableOf(import.meta.dirname, 'explanations.tsv'),
    ['8.8.8.8\n', 'remove the white space around it'],
    ['\u00a08.8.8.8', 'remove the white space around it'],
    ['1'.repeat(97), 'it is 97 characters long'],
    ['1'.repeat(96), 'IPv4 has four decimal numbers separated by dots; this has one'],
    ['8.8.8.8\0', '"\\u0000" at position 7 is not allowed; host names are not resolved'],
    [`0${'9'.repeat(80)}.0.0.0`, 'number 1 of 4 is over 255'], // no advice to write 1e+80
  ])('%j', (text, expected) => {
    expect(explainMalformed(text)).toBe(`${quoted(text)} is not an IP address: ${expected}`)
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
