import type { Address } from '../address/address.ts'

/** The kind of a hop of a forwarding field. An address is stored in the `Address` that the caller passes. */
export type Hop = 'address' | 'unidentified' | 'malformed'

const UNKNOWN = 'unknown'
const PORT = /^\d{1,5}$/
/** RFC 7239 section 6.3: `_` and letters, digits, `.`, `_`, `-`. */
const OBFUSCATED = /^_[0-9A-Za-z._-]+$/
/**
 * `token = value`, where the value is a token or a quoted string (RFC 9110 sections 5.6.2 and 5.6.4). Without quotes, `:`, `[`
 * and `]` are allowed too: proxies write `host=localhost:4430`, and these characters separate nothing.
 */
const PAIR =
  /^([!#$%&'*+.^_`|~0-9A-Za-z-]+)=(?:([[\]:!#$%&'*+.^_`|~0-9A-Za-z-]+)|"((?:[\t \x21\x23-\x5b\x5d-\x7e\x80-\xff]|\\[\t \x21-\x7e\x80-\xff])*)")$/
/** What is between semicolons outside quoted strings. A quote without an end quotes the rest. */
const PARTS = /(?:"(?:\\.|[^"\\])*"?|[^;"])+/gs
/** The parameters of RFC 7239 section 5. Messages name these only, since a caller can write any other. */
const PARAMETERS: readonly string[] = ['by', 'for', 'host', 'proto']

/**
 * Reads one hop of `X-Forwarded-For`, or the value of a single-address field, without surrounding blanks: `address`,
 * `IPv4:port`, `[IPv6]`, `[IPv6]:port`, `unknown` or `_obfuscated`. Unbracketed text with two or more colons is an
 * IPv6 address without a port, unless it ends in IPv4 and a port: `::ffff:192.0.2.1:80`.
 */
export function readHop(text: string, address: Address): Hop {
  if (address.parse(text)) return 'address'
  if (isUnidentified(text)) return 'unidentified'
  const node = text.startsWith('[') ? bracketed(text) : withPort(text)
  return node !== null && isPort(node.port) && address.parse(node.address) ? 'address' : 'malformed'
}

/** `readHop` for text with a port, which follows the last colon, also of IPv6 without brackets. */
export function readHopWithPort(text: string, address: Address): Hop {
  const colon = text.lastIndexOf(':')
  if (colon < 0 || text.startsWith('[')) return readHop(text, address)
  return isPort(text.slice(colon + 1)) && address.parse(text.slice(0, colon)) ? 'address' : 'malformed'
}

/**
 * Reads one element of `Forwarded` (RFC 7239 section 4): every parameter is well-formed and none is repeated. Empty pairs are
 * allowed. An element without `for` is unidentified.
 */
export function readElement(text: string, address: Address): Hop {
  const parameters = parametersOf(text)
  if (typeof parameters === 'string') return 'malformed'
  const node = parameters.get('for')
  if (node === undefined) return 'unidentified'
  return node.startsWith('"')
    ? readNode(node.slice(1, -1).replace(/\\(.)/g, '$1'), true, address)
    : readNode(node, false, address)
}

/** What is wrong with a malformed element of `Forwarded`. */
export function explainElement(text: string): string {
  const parameters = parametersOf(text)
  return typeof parameters === 'string'
    ? parameters
    : 'its parameter for is not an address; with a port it needs quotes, and IPv6 then needs brackets too'
}

/** The values of an element of `Forwarded` by lower-case name, with their quotes, or what is wrong with it. */
function parametersOf(text: string): ReadonlyMap<string, string> | string {
  const values = new Map<string, string>()
  for (const part of text.match(PARTS) ?? []) {
    const pair = trim(part)
    if (pair === '') continue
    const name = trim(pair.split('=', 1)[0] ?? '').toLowerCase()
    const its = PARAMETERS.includes(name) ? `its parameter ${name}` : 'one of its parameters'
    if (!PAIR.test(pair)) return `${its} is neither a token nor a quoted string`
    if (values.has(name)) return `${its} is given twice`
    values.set(name, pair.slice(pair.indexOf('=') + 1))
  }
  return values
}

/**
 * Returns where the last element of `Forwarded` before `end` starts: after the last comma outside quoted strings.
 * The search runs from the right, so that an unbalanced quote that the caller wrote on the left cannot swallow the
 * elements that proxies appended.
 */
export function startOfLastElement(field: string, end: number): number {
  let quoted = false
  for (let at = end - 1; at >= 0; at--) {
    const character = field[at]
    if (character === '"' && !(quoted && isEscaped(field, at))) quoted = !quoted
    else if (character === ',' && !quoted) return at + 1
  }
  return 0
}

/** Removes the white space that RFC 9110 section 5.6.3 allows around an element: spaces and tabs only. */
export function trim(text: string): string {
  let start = 0
  let end = text.length
  while (start < end && isBlank(text.charCodeAt(start))) start++
  while (end > start && isBlank(text.charCodeAt(end - 1))) end--
  return text.slice(start, end)
}

/** Whether a character is a space or a tab. */
export function isBlank(code: number): boolean {
  return code === 0x20 || code === 0x09
}

interface Node {
  readonly address: string
  /** `null` if there is none. */
  readonly port: string | null
}

/**
 * Reads a node of RFC 7239 section 6, which has no zone. In quotes, IPv6 addresses are in brackets, and every node can have a port
 * or an obfuscated port. Without quotes, it is IPv4 only by the RFC. Proxies such as AWS API Gateway also write IPv6 so, without
 * brackets. A port needs quotes.
 */
function readNode(text: string, isQuoted: boolean, address: Address): Hop {
  const isBracketed = text.startsWith('[')
  const bare = { address: text, port: null }
  const node = isBracketed ? bracketed(text) : isQuoted ? (withPort(text) ?? bare) : bare
  if (node === null || !(isPort(node.port) || OBFUSCATED.test(node.port ?? ''))) return 'malformed'
  if (isUnidentified(node.address)) return 'unidentified'
  const hasForm = isQuoted ? node.address.includes(':') === isBracketed : node.port === null
  return hasForm && !node.address.includes('%') && address.parse(node.address) ? 'address' : 'malformed'
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

/** `name:port`. A name with a colon must have a dot: only a port can follow the IPv4 part of IPv6. */
function withPort(text: string): Node | null {
  const colon = text.lastIndexOf(':')
  const address = text.slice(0, colon)
  if (colon < 0 || (address.includes(':') && !address.includes('.'))) return null
  return { address, port: text.slice(colon + 1) }
}

/** Whether an odd number of backslashes precedes a character. */
function isEscaped(text: string, at: number): boolean {
  let before = at
  while (before > 0 && text[before - 1] === '\\') before--
  return (at - before) % 2 === 1
}
