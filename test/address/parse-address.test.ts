import { describe, expect, it } from 'vitest'
import { parseAddress } from '../../src/address/parse-address.ts'
import { describeSpecialPurpose } from '../../src/address/special-purpose.ts'
import { MalformedAddressError, UnresolvableAddressError } from '../../src/errors.ts'
import { hasShared, sharedJson } from '../shared.ts'

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

/** What came of a text, in the vectors' words. */
function outcomeOf(input: unknown): object {
  try {
    // The vectors hold a value that is not a text.
    const { address, lookup } = parseAddress(input as string)
    return { outcome: 'lookup', address, lookup }
  } catch (error) {
    if (error instanceof MalformedAddressError) return { outcome: 'malformed', status: error.status }
    if (!(error instanceof UnresolvableAddressError)) throw error
    const { status, reason, address } = error
    return { outcome: 'unresolvable', status, reason, address }
  }
}

describe.skipIf(!hasShared)('the address vectors', () => {
  const { vectors } = sharedJson<{ vectors: Vector[] }>('vectors/address-vectors.json', { vectors: [] })

  it('are there', () => {
    expect(vectors.length).toBeGreaterThan(100)
  })

  it.each(vectors)('$id $input', ({ input, expect: expected, why }) => {
    expect(outcomeOf(input), why).toEqual(expected)
  })
})

describe('parseAddress', () => {
  it.each([
    ['8.8.8.8', { address: '8.8.8.8', lookup: '8.8.8.8', family: 4 }],
    ['::FFFF:8.8.8.8', { address: '8.8.8.8', lookup: '8.8.8.8', family: 4 }],
    ['2606:4700:0::1111', { address: '2606:4700::1111', lookup: '2606:4700::1111', family: 6 }],
    // The family is the address's own, though IPv4 answers for it.
    ['2002:808:808::', { address: '2002:808:808::', lookup: '8.8.8.8', family: 6 }],
    ['64:ff9b::808:808', { address: '64:ff9b::808:808', lookup: '8.8.8.8', family: 6 }],
  ])('%s', (text, expected) => {
    expect(parseAddress(text)).toEqual(expected)
  })

  it('says what is wrong with a text', () => {
    expect(() => parseAddress('8.8.8.8:53')).toThrow(
      new MalformedAddressError('"8.8.8.8:53" is not an IP address: remove the port'),
    )
  })

  it('names the address asked for, not the one inside', () => {
    expect(outcomeOf('2002:7f00:1::')).toEqual({
      outcome: 'unresolvable',
      status: 422,
      reason: 'loopback',
      address: '2002:7f00:1::',
    })
  })

  it.each([
    ['0.0.0.0', 'unspecified', '0.0.0.0 has no location: it is the unspecified address'],
    ['::1', 'loopback', '::1 has no location: it is a loopback address, the machine itself'],
    ['10.0.0.1', 'private', '10.0.0.1 has no location: it is an address of a private network'],
    [
      '100.64.0.1',
      'shared',
      '100.64.0.1 has no location: it is shared address space, behind carrier-grade NAT',
    ],
    ['fe80::1%en0', 'link-local', 'fe80::1 has no location: it is valid on one link only'],
    ['ff02::1', 'multicast', 'ff02::1 has no location: it is a multicast group, not a host'],
    ['192.0.2.1', 'documentation', '192.0.2.1 has no location: it is reserved for documentation'],
    ['198.18.0.1', 'benchmarking', '198.18.0.1 has no location: it is reserved for benchmarking'],
    ['240.0.0.1', 'reserved', '240.0.0.1 has no location: it is reserved and not globally reachable'],
  ] as const)('has a sentence for %s, %s', (text, reason, message) => {
    expect(() => parseAddress(text)).toThrow(message)
    expect(message).toContain(describeSpecialPurpose('', reason).trim())
  })
})
