import type { Address } from '../address/address.ts'

/** What a hop of a forwarding field turned out to be; an address is left in the `Address` given. */
export type Hop = 'address' | 'unidentified' | 'malformed'

const UNKNOWN = 'unknown'
const PORT = /^\d{1,5}$/
/** RFC 7239 section 6.3: `_` and letters, digits, `.`, `_`, `-`. */
const OBFUSCATED = /^_[0-9A-Za-z._-]+$/

/**
 * Reads one hop of a list or the one value of a single-address field, without the spaces around it:
 * `address`, `IPv4:port`, `[IPv6]`, `[IPv6]:port`, `unknown` or `_obfuscated`. Unbracketed text with two or
 * more colons is an IPv6 address, whole.
 */
export function readHop(text: string, address: Address): Hop {
  if (address.parse(text)) return 'address'
  if (isUnidentified(text)) return 'unidentified'
  const node = text.startsWith('[') ? bracketed(text) : withPort(text)
  return node !== null && isPort(node.port) && address.parse(node.address) ? 'address' : 'malformed'
}

/**
 * Reads a node of RFC 7239 section 6: IPv6 always in brackets and without a zone; a port or an obfuscated
 * port behind any of them.
 */
export function readNode(text: string, address: Address): Hop {
  const node = text.startsWith('[') ? bracketed(text) : (withPort(text) ?? { address: text, port: null })
  if (node === null || !(isPort(node.port) || OBFUSCATED.test(node.port ?? ''))) return 'malformed'
  if (isUnidentified(node.address)) return 'unidentified'
  const isIPv6 = text.startsWith('[')
  const fits = !node.address.includes('%') && node.address.includes(':') === isIPv6
  return fits && address.parse(node.address) ? 'address' : 'malformed'
}

interface Node {
  readonly address: string
  /** `null` where there is none. */
  readonly port: string | null
}

function isUnidentified(text: string): boolean {
  return (text.length === UNKNOWN.length && text.toLowerCase() === UNKNOWN) || OBFUSCATED.test(text)
}

function isPort(port: string | null): boolean {
  return port === null || (PORT.test(port) && Number(port) <= 65_535)
}

/** `[IPv6]` and `[IPv6]:port`. */
function bracketed(text: string): Node | null {
  const end = text.indexOf(']')
  const address = text.slice(1, end)
  if (end < 0 || !address.includes(':')) return null
  const rest = text.slice(end + 1)
  if (rest === '') return { address, port: null }
  return rest.startsWith(':') ? { address, port: rest.slice(1) } : null
}

/** `name:port`, with no other colon. */
function withPort(text: string): Node | null {
  const colon = text.indexOf(':')
  if (colon < 0 || text.includes(':', colon + 1)) return null
  return { address: text.slice(0, colon), port: text.slice(colon + 1) }
}
