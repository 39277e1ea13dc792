import assert from 'node:assert/strict'
import fc from 'fast-check'
import { createClientAddress } from '../../../src/client/client-address.ts'
import {
  AddressUnavailableError,
  isGeofixError,
  MalformedAddressError,
  UnresolvableAddressError,
} from '../../../src/errors.ts'
import { ipv4Text, ipv6Spelling } from '../../address/arbitraries.ts'
import { type Decision, decide } from '../client-oracle.ts'
import { mutatedText } from '../mutation.ts'
import type { Target } from '../target.ts'

/** A request that came over proxies. */
interface Proxied {
  readonly trustedProxies: readonly string[]
  readonly field: 'x-forwarded-for' | 'forwarded' | 'cf-connecting-ip'
  readonly peer: string
  /** The lines of the field. */
  readonly lines: readonly string[]
  /** What a caller may have written before them. */
  readonly left: string
}

/** Longer fields are not read. Characters. */
const MAX_FIELD = 8192

const known = fc.constantFrom(
  ...'10.0.0.1 10.255.0.1 192.168.1.1 127.0.0.1 ::1 fc00::1 ::ffff:10.0.0.1 2002:a00:1::1'.split(' '),
  ...'8.8.8.8 81.2.69.142 2001:4860::1 64:ff9b::a00:1 fe80::1%eth0 0.0.0.0'.split(' '),
)
const address = fc.oneof({ weight: 4, arbitrary: known }, ipv4Text, ipv6Spelling)
const port = fc.constantFrom(...[':80', ':0', ':65535', ':65536', ':', ':_p', ':080', ':x', ':123456', ''])
const node = fc.oneof(
  { weight: 4, arbitrary: address },
  { weight: 2, arbitrary: fc.tuple(address, port).map(([text, behind]) => `${text}${behind}`) },
  { weight: 3, arbitrary: fc.tuple(address, port).map(([text, behind]) => `[${text}]${behind}`) },
  {
    weight: 1,
    arbitrary: fc.constantFrom('unknown', 'UnKnown', '_hidden', '_', '_a b', 'unknown:80', '_x:_p', ''),
  },
)
const blank = fc.constantFrom('', '', ' ', '\t', '  ', '\u00a0')
const list = fc
  .array(fc.tuple(blank, node, blank), { maxLength: 6 })
  .map((hops) => hops.map((hop) => hop.join('')).join(','))

const quotedString = fc
  .tuple(node, fc.nat(30))
  .map(
    ([text, escaped]) =>
      `"${text.slice(0, escaped)}${escaped < text.length ? '\\' : ''}${text.slice(escaped)}"`,
  )
const value = fc.oneof(
  { weight: 3, arbitrary: node },
  { weight: 3, arbitrary: node.map((text) => `"${text}"`) },
  { weight: 1, arbitrary: quotedString },
  {
    weight: 1,
    arbitrary: fc.constantFrom('https', '"a,b;c"', '"\\""', '"', '', '"x\\', '"é"', '"\u0100"', 'a b'),
  },
)
const name = fc.constantFrom('for', 'for', 'for', 'For', 'by', 'host', 'proto', 'x-y', 'for ', '', 'f\u0131r')
const pair = fc.tuple(name, fc.constantFrom('=', '=', '=', ' = ', ''), value).map((parts) => parts.join(''))
const separator = fc.constantFrom(';', ';', '; ', ' ;', ';;')
const element = fc
  .tuple(fc.array(pair, { maxLength: 3 }), separator)
  .map(([pairs, between]) => pairs.join(between))
const forwarded = fc
  .array(fc.tuple(blank, element, blank), { maxLength: 5 })
  .map((elements) => elements.map((each) => each.join('')).join(','))

const FIELD_LETTERS = '0189af.:,;="\\[]_ \t%-éfor'
const text = fc.oneof(
  { weight: 3, arbitrary: list },
  { weight: 3, arbitrary: forwarded },
  { weight: 3, arbitrary: mutatedText(fc.oneof(list, forwarded), FIELD_LETTERS) },
  {
    weight: 1,
    arbitrary: fc
      .tuple(fc.string({ unit: fc.constantFrom(...FIELD_LETTERS), maxLength: 8 }), fc.nat(3000), node)
      .map(([part, times, last]) => part.repeat(times) + last),
  },
)

const trustedProxies = fc.uniqueArray(
  fc.constantFrom(
    ...'loopback linklocal uniquelocal 10.0.0.0/8 10.0.0.1 192.168.0.0/16 fc00::/7 ::1 2001:4860::/33'.split(
      ' ',
    ),
    ...'81.2.69.0/24 ::ffff:10.0.0.0/104 0.0.0.0/1 8000::/1 2002:a00::/24'.split(' '),
  ),
  { minLength: 1, maxLength: 4 },
)

const inputs: fc.Arbitrary<Proxied> = fc.record({
  trustedProxies,
  field: fc.constantFrom('x-forwarded-for', 'forwarded', 'cf-connecting-ip'),
  peer: fc.oneof(
    { weight: 6, arbitrary: fc.constantFrom('10.0.0.1', '127.0.0.1', '::1') },
    { weight: 2, arbitrary: address },
    { weight: 1, arbitrary: text },
  ),
  lines: fc.oneof(
    { weight: 4, arbitrary: text.map((line) => [line]) },
    { weight: 1, arbitrary: fc.array(text, { maxLength: 3 }) },
  ),
  left: text,
})

export const client: Target<Proxied> = {
  name: 'client',
  inputs,
  shortRuns: 1500,
  check({ trustedProxies, field, peer, lines, left }) {
    const options = { trustedProxies, forwardedHeader: field }
    const clientAddress = createClientAddress(options)
    const ask = (headers: Record<string, string | string[]>): Decision =>
      decisionOf(() => clientAddress({ headers, remoteAddress: peer }))
    const joined = lines.join(', ')
    const decision = ask({ [field]: joined })
    assert.deepEqual(ask({ [field.toUpperCase()]: [...lines] }), decision, 'lines are one field')
    const expected = decide(options, peer, joined)
    if (expected !== null) assert.deepEqual(decision, expected)
    // What a proxy has added decides alone where it is well-formed.
    const isDecidedByHop = decision.via === field && decision.reason !== 'trusted-proxy'
    const isWellFormed = decision.kind !== 'malformed' || field === 'x-forwarded-for'
    if (field === 'cf-connecting-ip' || !isDecidedByHop || !isWellFormed) return
    if (joined.length + left.length + 2 > MAX_FIELD) return
    assert.deepEqual(
      ask({ [field]: `${left}, ${joined}` }),
      decision,
      'the answer depends on what stands left',
    )
  },
}

function decisionOf(run: () => { address: string; lookup: string; via: string }): Decision {
  try {
    return { kind: 'found', ...run() }
  } catch (error) {
    assert.ok(isGeofixError(error), String(error))
    assert.ok(error.message.length <= 300, 'the message is short')
    assert.match(error.message, /^[\x20-\x7e]*$/)
    if (error instanceof MalformedAddressError) return { kind: 'malformed', via: error.via }
    if (error instanceof AddressUnavailableError) return { kind: 'unavailable', reason: error.reason }
    assert.ok(error instanceof UnresolvableAddressError)
    const { reason, address: at, via } = error
    return { kind: 'unresolvable', reason, address: at, via }
  }
}
