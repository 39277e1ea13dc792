// Whose address a request has, read once more and in another way: the whole field from the left, by regular
// expressions, trust by Node's BlockList. Says nothing of fields that are not well-formed as a whole.
import { BlockList, isIP } from 'node:net'
import { parseAddress } from '../../src/address/address.ts'
import { UnresolvableAddressError } from '../../src/errors.ts'
import { canonicalOf } from './canonical.ts'

/** What became of a request. */
export interface Decision {
  readonly kind: 'found' | 'malformed' | 'unresolvable' | 'unavailable'
  readonly address?: string | undefined
  readonly lookup?: string
  readonly via?: string | undefined
  readonly reason?: string
}

interface Trust {
  readonly trustedProxies: readonly string[]
  readonly forwardedHeader: string
}

const NAMED: Readonly<Record<string, readonly string[]>> = {
  loopback: ['127.0.0.0/8', '::1/128'],
  linklocal: ['169.254.0.0/16', 'fe80::/10'],
  uniquelocal: ['10.0.0.0/8', '172.16.0.0/12', '192.168.0.0/16', 'fc00::/7'],
  // BlockList would not take it for IPv4.
  '::ffff:10.0.0.0/104': ['10.0.0.0/8'],
}
/** A zone names the same address where it means something. */
const ZONE = /^(fe[89ab][0-9a-f]|ff[0-9a-f][0-9a-df])(:[^%]*)%[0-9A-Za-z._~-]{1,32}$/i

/** An address as IPv4 where it is that, without zone; `null` when it is none. */
function addressOf(text: string): string | null {
  const plain = text.replace(ZONE, '$1$2')
  if (isIP(plain) === 0 || plain.includes('%')) return null
  return canonicalOf(plain)
}

function trustOf(proxies: readonly string[]): (address: string) => boolean {
  const list = new BlockList()
  for (const entry of proxies.flatMap((each) => NAMED[each] ?? [each])) {
    const [address = '', bits = address.includes(':') ? '128' : '32'] = entry.split('/')
    list.addSubnet(address, Number(bits), address.includes(':') ? 'ipv6' : 'ipv4')
  }
  return (address) => list.check(address, address.includes(':') ? 'ipv6' : 'ipv4')
}

type Hop = { readonly address: string } | 'unidentified' | 'malformed'

/** @returns `null` where this reading has nothing to say */
export function decide(
  { trustedProxies, forwardedHeader: via }: Trust,
  peer: string,
  field: string,
): Decision | null {
  const isTrusted = trustOf(trustedProxies)
  const caller = addressOf(peer)
  if (peer === '') return { kind: 'unavailable', reason: 'no-remote-address' }
  if (peer === 'unix:') return { kind: 'unavailable', reason: 'unix-socket' }
  if (caller === null) return { kind: 'unavailable', reason: 'bad-remote-address' }
  if (!isTrusted(caller)) return answerOf(caller, 'socket')
  if (field.length > 8192) return { kind: 'malformed', via }
  const hops = via === 'forwarded' ? forwardedHops(field) : plainHops(field, via === 'x-forwarded-for')
  if (hops === null) return null
  let farthest = { address: caller, via: 'socket' }
  for (const hop of hops.reverse()) {
    if (hop === 'malformed') return { kind: 'malformed', via }
    if (hop === 'unidentified') return { kind: 'unresolvable', reason: hop, address: undefined, via }
    if (via === 'cf-connecting-ip' || !isTrusted(hop.address)) return answerOf(hop.address, via)
    farthest = { address: hop.address, via }
  }
  return { kind: 'unresolvable', reason: 'trusted-proxy', ...farthest }
}

function answerOf(address: string, via: string): Decision {
  try {
    const { lookup } = parseAddress(address)
    return { kind: 'found', address, lookup, via }
  } catch (error) {
    if (!(error instanceof UnresolvableAddressError)) throw error
    return { kind: 'unresolvable', reason: error.reason, address, via }
  }
}

const NOBODY = /^(unknown|_[\w.-]+)$/i

function plainHops(field: string, isList: boolean): Hop[] {
  return (isList ? field.split(',') : [field])
    .map((hop) => hop.replace(/^[ \t]+|[ \t]+$/g, ''))
    .filter((hop) => hop !== '')
    .map((hop) => {
      // Case means nothing to "unknown", and \w is the same in both.
      if (NOBODY.test(hop)) return 'unidentified'
      const whole = addressOf(hop)
      if (whole !== null) return { address: whole }
      const [, v6, v4, port = '0'] =
        /^(?:\[([^\]]*:[^\]]*)\]|([^:[]*|[^[]*\.\d+))(?::(\d{1,5}))?$/.exec(hop) ?? []
      const address = addressOf(v6 ?? v4 ?? '')
      return address === null || Number(port) > 65_535 ? 'malformed' : { address }
    })
}

const TOKEN = "[!#$%&'*+.^_`|~\\dA-Za-z-]+"
const QUOTED = '"(?:[\\t \\x21\\x23-\\x5b\\x5d-\\x7e\\x80-\\xff]|\\\\[\\t \\x21-\\x7e\\x80-\\xff])*"'
const BARE = "[[\\]:!#$%&'*+.^_`|~\\dA-Za-z-]+"
const PAIR = `${TOKEN}=(?:${BARE}|${QUOTED})`
/** Blanks stand before what follows them, so that there is one way to read each of them. */
const FORWARDED = new RegExp(`^(?:[ \\t]*${PAIR})?(?:[ \\t]*[;,](?:[ \\t]*${PAIR})?)*[ \\t]*$`)

function forwardedHops(field: string): Hop[] | null {
  // A long field of one kind of character takes a regular expression that goes back a long time.
  if (field.length > 600 || !FORWARDED.test(field)) return null
  const hops: Hop[] = []
  let names = new Set<string>()
  let hop: Hop | null = null
  let isEmpty = true
  const take = (): void => {
    if (!isEmpty) hops.push(hop ?? 'unidentified')
    names = new Set()
    hop = null
    isEmpty = true
  }
  for (const [text] of field.matchAll(new RegExp(`${PAIR}|[;,]`, 'g'))) {
    if (text === ',') take()
    else {
      isEmpty = false
      if (text === ';') continue
      const equals = text.indexOf('=')
      const name = text.slice(0, equals).toLowerCase()
      if (names.has(name)) hop = 'malformed'
      names.add(name)
      const value = text.slice(equals + 1)
      if (name === 'for' && hop === null) {
        hop = value.startsWith('"') ? nodeOf(value.slice(1, -1).replace(/\\(.)/gs, '$1')) : bareNodeOf(value)
      }
    }
  }
  take()
  return hops
}

function nodeOf(text: string): Hop {
  const match = /^(?:\[([^\]%]*:[^\]%]*)\]|([^:[]*))(?::(\d{1,5}|_[\w.-]+))?$/.exec(text)
  const [, v6, name = '', port = '0'] = match ?? []
  if (match === null || Number(port) > 65_535) return 'malformed'
  if (v6 === undefined && NOBODY.test(name)) return 'unidentified'
  const address = name.includes('%') ? null : addressOf(v6 ?? name)
  return address === null ? 'malformed' : { address }
}

/** Without quotes: no port, and IPv6 with or without brackets. */
function bareNodeOf(text: string): Hop {
  if (NOBODY.test(text)) return 'unidentified'
  const inside = /^\[([^\]]*:[^\]]*)\]$/.exec(text)?.[1] ?? text
  const address = inside.includes('%') ? null : addressOf(inside)
  return address === null ? 'malformed' : { address }
}
