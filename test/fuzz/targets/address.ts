import assert from 'node:assert/strict'
import { isIP } from 'node:net'
import fc from 'fast-check'
import ipaddr from 'ipaddr.js'
import { Address, parseAddress } from '../../../src/address/address.ts'
import { MalformedAddressError, UnresolvableAddressError } from '../../../src/errors.ts'
import { anyText, ipv4Text, ipv6Spelling } from '../../address/arbitraries.ts'
import { canonicalOf } from '../canonical.ts'
import { mutatedText } from '../mutation.ts'
import type { Target } from '../target.ts'

/** A quotation of 60 characters, each escaped to at most six, and a sentence. */
const LONGEST_MESSAGE = 700

const zone = fc.tuple(
  fc.oneof(
    fc.constantFrom('fe80::1', 'ff02::1', 'ff0e::1', 'febf::', 'fec0::1', 'fe80::1.2.3.4'),
    ipv6Spelling,
  ),
  fc.oneof(fc.constantFrom('', 'eth0', '1', '%', 'a%b', 'x'.repeat(32), 'x'.repeat(33)), fc.string()),
)

const inputs: fc.Arbitrary<string> = fc.oneof(
  { weight: 4, arbitrary: anyText },
  { weight: 2, arbitrary: zone.map(([address, id]) => `${address}%${id}`) },
  {
    weight: 3,
    arbitrary: mutatedText(
      fc.oneof(ipv6Spelling, ipv4Text),
      '0123456789abcdefgxX:.%/[]+- \t\n\0é\u0661\uff11',
    ),
  },
  { weight: 1, arbitrary: fc.tuple(anyText, fc.nat(300)).map(([text, times]) => text.repeat(times)) },
)

/** By Node's parser and RFC 4007: a zone may follow an IPv6 address of non-global scope. */
function isAddress(text: string): boolean {
  const percent = text.indexOf('%')
  if (percent === -1) return isIP(text) !== 0
  const address = text.slice(0, percent)
  if (isIP(address) !== 6 || !/^[0-9A-Za-z._~-]{1,32}$/.test(text.slice(percent + 1))) return false
  const [first = 0] = ipaddr.IPv6.parse(address).parts
  return (first & 0xffc0) === 0xfe80 || (first >> 8 === 0xff && (first & 0xf) !== 0xe)
}

/** Reused for all inputs, as in a resolver: an input must not affect the next. */
const reused = new Address()

export const address: Target<string> = {
  name: 'address',
  inputs,
  shortRuns: 6000,
  check(text) {
    const accepted = reused.parse(text)
    assert.equal(accepted, isAddress(text), 'differs from net.isIP')
    const outcome = parsed(text)
    assert.equal(outcome instanceof MalformedAddressError, !accepted)
    if (!accepted) return
    const canonical = canonicalOf(text.replace(/%.*$/s, ''))
    assert.equal(reused.text, canonical)
    assert.equal(reused.version, isIP(canonical))
    const { lookupText, special } = reused
    assert.equal(reused.family, isIP(lookupText))
    const again = new Address()
    assert.ok(again.parse(canonical), 'the canonical text is refused')
    assert.equal(again.text, canonical)
    assert.equal(again.special, special)
    assert.equal(again.lookupText, lookupText)
    if (outcome instanceof UnresolvableAddressError) assert.equal(outcome.address, canonical)
    else assert.deepEqual(outcome, { address: canonical, lookup: lookupText, family: reused.version })
  },
}

function parsed(text: string): unknown {
  try {
    return parseAddress(text)
  } catch (error) {
    assert.ok(
      error instanceof MalformedAddressError || error instanceof UnresolvableAddressError,
      String(error),
    )
    assert.match(error.message, /^[\x20-\x7e]*$/)
    assert.ok(error.message.length <= LONGEST_MESSAGE, `a message of ${error.message.length} characters`)
    return error
  }
}
