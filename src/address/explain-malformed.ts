import { quoted } from '../errors.ts'
import { MAX_ADDRESS_CHARS, NOT_IPV4, NOT_IPV6, parseIPv4, parseIPv6 } from './ip-text.ts'

/**
 * Explains in one sentence why `Address.parse` refused a value, and what to write instead if that is clear. Not a
 * part of the parser, which only returns a boolean, so that large amounts of bad input cost little.
 */
export function explainMalformed(value: unknown): string {
  if (typeof value !== 'string') {
    return `An IP address must be a string, not ${value === null ? 'null' : `of type ${typeof value}`}`
  }
  return `${quoted(value)} is not an IP address: ${faultOf(value)}`
}

function faultOf(text: string): string {
  if (text === '') return 'it is empty'
  if (text.length > MAX_ADDRESS_CHARS) return `it is ${text.length} characters long`
  if (text.trim() !== text) return 'remove the white space around it'
  if (text.startsWith('[')) return 'remove the brackets, and the port if there is one'
  if (text.includes('/')) {
    return isAddress(text.slice(0, text.indexOf('/')))
      ? 'it is a network: give one address of it'
      : 'it contains a "/"'
  }
  if (text.includes(',')) return 'it is a list: give one address'
  if (text.includes('%')) return faultOfZone(text)
  const foreign = /[^0-9A-Fa-f:.]/.exec(text)
  if (foreign !== null) {
    return `${quoted(foreign[0])} at position ${foreign.index} is not allowed; host names are not resolved`
  }
  return text.includes(':') ? faultOfIPv6(text) : faultOfIPv4(text)
}

function isAddress(text: string): boolean {
  return parseIPv4(text) !== NOT_IPV4 || parseIPv6(text, text.length, new Uint32Array(4)) !== NOT_IPV6
}

function faultOfZone(text: string): string {
  const address = text.slice(0, text.indexOf('%'))
  if (!isAddress(address)) return `${quoted(address)} before the zone is not an address`
  return 'a zone must be 1 to 32 letters, digits or "-._~", and is allowed for link-local and non-global multicast IPv6 addresses only (RFC 4007 section 11)'
}

// Most bad input is a dotted quad, and there can be much of it, so read it without substrings.
function faultOfIPv4(text: string): string {
  const ends = dotsOf(text)
  if (ends.push(text.length) !== 4) {
    return `IPv4 has four decimal numbers separated by dots; this has ${ends.length === 1 ? 'one' : ends.length}`
  }
  let start = 0
  for (let index = 0; index < 4; index++) {
    const end = ends[index] ?? 0
    const fault = faultOfOctet(text, start, end)
    if (fault !== null) return `number ${index + 1} of 4 ${fault}`
    start = end + 1
  }
  return 'it does not have the form 192.0.2.1'
}

function dotsOf(text: string): number[] {
  const dots: number[] = []
  for (let at = text.indexOf('.'); at >= 0; at = text.indexOf('.', at + 1)) dots.push(at)
  return dots
}

function faultOfOctet(text: string, start: number, end: number): string | null {
  if (start === end) return 'is missing'
  let value = 0
  for (let at = start; at < end; at++) {
    const digit = text.charCodeAt(at) - 48
    if (digit < 0 || digit > 9) return 'is not decimal'
    value = value * 10 + digit
  }
  if (value > 255) return 'is over 255'
  if (end - start === 1 || text[start] !== '0') return null
  return `has a leading zero, which some programs read as octal: write ${value} for decimal`
}

function faultOfIPv6(text: string): string {
  const withoutPort = text.slice(0, text.lastIndexOf(':'))
  if (parseIPv4(withoutPort) !== NOT_IPV4) return 'remove the port'
  if (text.includes(':::')) return 'it has three colons in a row'
  if (text.indexOf('::') !== text.lastIndexOf('::')) return 'it has "::" more than once'
  if (/[0-9A-Fa-f]{5}/.test(text)) return 'a group has more than four hexadecimal digits'
  if (text.includes('.')) return 'a dotted part must be a strict IPv4 address at the end'
  return 'IPv6 has eight groups separated by colons, or fewer with one "::"'
}
