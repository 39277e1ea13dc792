// Takes all text that may be an address, to mask it. It is better to mask too much than to leave an address.

import { NOT_IPV4 } from '../../address/ip-text.ts'
import { BACKSLASH, COMMA, DASH, DOT, HASH } from '../ascii.ts'
import { isDigit, latin1 } from '../swar.ts'
import {
  type AddressPolicy,
  type AddressScanner,
  endOfIPv6,
  isHex,
  isOfHost,
  type Numbers,
  TOO_LARGE,
} from './address-scanner.ts'

/** What can stand right before and after an IPv6 address of any range: nothing, white space, quotes, brackets or separators. */
const BORDER = /^[\t\n\r "'(),;<=>[\]{|}]?$/
/** What can be right before an address with commas. Columns of numbers are not addresses. */
const BEFORE_COMMAS = ' "\'(='

/** The longest IPv6 address with dashes: `2001-db8--1` in the name of a host. Bytes. */
const MAX_DASHED = 39
/** Digits of an IPv4 address in a name, three for each number: `host081002069142`. */
const PACKED_DIGITS = 12
/** A name of `ip6.arpa` has 32 digits with dots between them. This many are such a name without `.ip6`. With it, fewer are enough. */
const NIBBLES = 16
const NIBBLES_BEFORE_NAME = 8

/**
 * Takes all that can be an address.
 *
 * IPv4: four decimal numbers up to 255 with dots between them, whatever is before and after them, or with dashes or commas; also
 * with octal numbers, as three numbers, or as twelve digits in a name. More than five numbers are an object identifier.
 * `name/120.0.0.0` is the version of a browser. IPv6: what is spelled as an address and is in a range that hosts have, or stands
 * alone between {@link BORDER}; with dashes for colons; and names of `ip6.arpa`.
 */
export const ANY_ADDRESS: AddressPolicy = {
  marks: '.-,',

  takesNumbers(scanner) {
    const { separator } = scanner.numbers
    if (separator === DOT) return takesDotted(scanner)
    return separator === DASH ? takesDashed(scanner) : takesCommas(scanner)
  },

  takesGroups(scanner, start, after) {
    const { address, text: bytes, from, lineEnd: end } = scanner
    const text = latin1(bytes, start, after)
    if (!address.parse(text)) return false
    const isAlone = (): boolean =>
      BORDER.test(latin1(bytes, Math.max(from, start - 1), start)) &&
      BORDER.test(latin1(bytes, after, Math.min(end, after + 1)))
    if (address.version === 6 && !isOfHost(address.words, text) && (text === '::' || !isAlone())) return false
    return take(scanner, address.version === 4 ? address.ipv4 : NOT_IPV4, start, after, false)
  },

  takesName(scanner, mark) {
    if (scanner.text[mark] === DOT) return takesNibbles(scanner, mark)
    return scanner.text[mark] === DASH && takesDashedGroups(scanner, mark)
  },

  takesDigits(scanner, at) {
    const { text: bytes, from, lineEnd: end } = scanner
    let start = at
    while (start > from && isDigit(bytes[start - 1])) start--
    let after = at
    while (after < end && isDigit(bytes[after])) after++
    scanner.resume = after
    if (after - start !== PACKED_DIGITS || !isInName(bytes, from, start, after, end)) return false
    let ipv4 = 0
    for (let octet = start; octet < after; octet += 3) {
      const value = Number(latin1(bytes, octet, octet + 3))
      if (value > 255) return false
      ipv4 = ((ipv4 << 8) | value) >>> 0
    }
    scanner.separator = DOT
    return take(scanner, ipv4, start, after, true)
  },
}

function take(scanner: AddressScanner, ipv4: number, start: number, end: number, isDoubtful: boolean): true {
  scanner.ipv4 = ipv4
  scanner.start = start
  scanner.end = end
  scanner.tokenEnd = end
  scanner.isDoubtful = isDoubtful
  return true
}

function takesDotted(scanner: AddressScanner): boolean {
  const { numbers, text: bytes, from, lineEnd: end } = scanner
  const { count, start } = numbers
  scanner.separator = DOT
  if (count === 3) return takesThree(scanner)
  if (count !== 4 && count !== 5) return false
  skipEscape(numbers, bytes)
  const isOctal = readOctal(numbers, bytes)
  // An address and a port, as tcpdump writes them, or another number before the address.
  const isFirst = areOctets(numbers, 0)
  const isSecond = count === 5 && areOctets(numbers, 1)
  if (!isFirst && !isSecond) return false
  const first = isFirst ? 0 : 1
  const ipv4 = ipv4At(numbers, first)
  const from4 = numbers.starts[first] ?? 0
  if ((ipv4 & 0xff_ffff) === 0 && isVersion(bytes, from, from4)) return false
  const isName = numbers.end + 1 < end && bytes[numbers.end] === DOT && isLetter(bytes[numbers.end + 1])
  if (isName || isOctal || (isFirst && isSecond)) return take(scanner, ipv4, start, numbers.end, true)
  return take(scanner, ipv4, from4, numbers.ends[first + 3] ?? 0, false)
}

/** `\251` and `#251` are bytes, in octal or decimal digits. These are not digits of the number after them. */
function skipEscape(numbers: Numbers, bytes: Uint8Array): void {
  const { start, starts, ends, values } = numbers
  if (bytes[start - 1] !== BACKSLASH && bytes[start - 1] !== HASH) return
  const text = latin1(bytes, start, ends[0] ?? 0)
  if (!/^[0-3]\d{3}/.test(text)) return
  numbers.start = starts[0] = start + 3
  values[0] = Math.min(Number(text.slice(3)), TOO_LARGE)
}

/** `81.2.17806`, whose last number is of two bytes. A date is not an address. */
function takesThree(scanner: AddressScanner): boolean {
  const { numbers, text: bytes } = scanner
  const [first = 0, second = 0, last = 0] = numbers.values
  if (first > 255 || second > 255 || last < 256 || last >= TOO_LARGE || numbers.hasZeros(bytes, 2))
    return false
  if (last >= 1900 && last < 2100 && first < 32 && second < 32) return false
  return take(scanner, ((first << 24) | (second << 16) | last) >>> 0, numbers.start, numbers.end, true)
}

/** In a name, as `host-81-2-69-142`. Dates and times have dashes too. */
function takesDashed(scanner: AddressScanner): boolean {
  const { numbers, text: bytes, from, lineEnd: end } = scanner
  const { count, start } = numbers
  if (count !== 4 && count !== 5) return false
  // The first number can be that of a name, such as ec2.
  const first = count === 5 && (isLetter(bytes[start - 1]) || !areOctets(numbers, 0)) ? 1 : 0
  if (!areOctets(numbers, first) || !isInName(bytes, from, start, numbers.end, end)) return false
  const isPadded = numbers.starts[first + 3] === (numbers.starts[first] ?? 0) + 12
  for (let index = first; index < first + 4; index++)
    if (numbers.hasZeros(bytes, index) && !isPadded) return false
  scanner.separator = DASH
  // The last number can be the first one of an address with dots: `web-01-02-03-81.2.69.142`.
  const after = latin1(bytes, numbers.end, Math.min(end, numbers.end + 12))
  const dotted = /^(?:\.\d{1,3}){3}/.exec(after)?.[0].length ?? 0
  return take(scanner, ipv4At(numbers, first), numbers.starts[first] ?? 0, numbers.end + dotted, true)
}

/** `81,2,69,142`, also with two numbers of a port after it, as FTP writes it. Columns of a table are not addresses. */
function takesCommas(scanner: AddressScanner): boolean {
  const { numbers, text: bytes, from, lineEnd: end } = scanner
  const { count, start } = numbers
  if ((count !== 4 && count !== 6) || !areOctets(numbers, 0) || start === from) return false
  if (!BEFORE_COMMAS.includes(String.fromCharCode(bytes[start - 1] ?? 0))) return false
  if (numbers.end < end && (bytes[numbers.end] === DOT || bytes[numbers.end] === COMMA)) return false
  scanner.separator = COMMA
  return take(scanner, ipv4At(numbers, 0), start, numbers.ends[3] ?? 0, true)
}

/** `2001-db8--1` in a name. @param mark the dash after its first group, which has four digits */
function takesDashedGroups(scanner: AddressScanner, mark: number): boolean {
  const { text: bytes, from, lineEnd: end } = scanner
  const start = mark - 4
  if (start < from || (start > from && isHex(bytes[start - 1]))) return false
  const first = (bytes[start] ?? 0) | 0x20
  if (first !== 0x32 && first !== 0x33 && first !== 0x66) return false
  const after = endOfIPv6(bytes, start, Math.min(end, start + MAX_DASHED), DASH)
  if (after === -1) return false
  const text = latin1(bytes, start, after).replaceAll('-', ':')
  if (!scanner.address.parse(text) || !isOfHost(scanner.address.words, text)) return false
  scanner.separator = DASH
  return take(scanner, NOT_IPV4, start, after, false)
}

/** The digits of an IPv6 address with dots between them, in reverse order. */
function takesNibbles(scanner: AddressScanner, mark: number): boolean {
  const { text: bytes, from, lineEnd: end } = scanner
  if (!isHex(bytes[mark + 1]) || bytes[mark + 2] !== DOT || mark + 2 >= end) return false
  let start = mark - 1
  while (start - 2 >= from && bytes[start - 1] === DOT && isHex(bytes[start - 2])) start -= 2
  let after = mark
  while (after + 1 < end && bytes[after] === DOT && isHex(bytes[after + 1]) && !isHex(bytes[after + 2]))
    after += 2
  const count = (after - start + 1) >> 1
  const isNamed =
    count >= NIBBLES_BEFORE_NAME && /^\.ip6/i.test(latin1(bytes, after, Math.min(end, after + 4)))
  scanner.separator = DOT
  return (isNamed || count >= NIBBLES) && take(scanner, 0, start, after, true)
}

function areOctets({ values, count }: Numbers, first: number): boolean {
  for (let index = first; index < first + 4; index++)
    if (index >= count || (values[index] ?? TOO_LARGE) > 255) return false
  return true
}

function ipv4At({ values }: Numbers, first: number): number {
  let ipv4 = 0
  for (let index = first; index < first + 4; index++) ipv4 = ((ipv4 << 8) | (values[index] ?? 0)) >>> 0
  return ipv4
}

/**
 * If a number has a leading zero and more than three digits, reads all with one as octal, as `inet_aton` does:
 * `0121.02.0105.0216`. Other numbers with leading zeros are decimal.
 */
function readOctal(numbers: Numbers, bytes: Uint8Array): boolean {
  const { count, starts, ends, values } = numbers
  let isOctal = false
  for (let index = 0; index < count; index++)
    isOctal ||= (ends[index] ?? 0) - (starts[index] ?? 0) > 3 && numbers.hasZeros(bytes, index)
  if (!isOctal) return false
  for (let index = 0; index < count; index++) {
    const text = latin1(bytes, starts[index] ?? 0, ends[index] ?? 0)
    values[index] = Math.min(Number.parseInt(text, /^0[0-7]+$/.test(text) ? 8 : 10), TOO_LARGE)
  }
  return true
}

/** Whether a letter, or a dot or dash and a letter, is before or after the numbers. */
function isInName(bytes: Uint8Array, from: number, start: number, after: number, end: number): boolean {
  return (
    /[A-Za-z][._-]?$/.test(latin1(bytes, Math.max(from, start - 2), start)) ||
    /^[._-]?[A-Za-z]/.test(latin1(bytes, after, Math.min(end, after + 2)))
  )
}

/** Whether the name of a product and a slash are before the number: `Chrome/120.0.0.0`. In JSON the slash can be escaped. */
function isVersion(bytes: Uint8Array, from: number, start: number): boolean {
  return /[A-Za-z]\\?\/$/.test(latin1(bytes, Math.max(from, start - 3), start))
}

function isLetter(byte: number | undefined): boolean {
  const lower = (byte ?? 0) | 0x20
  return lower >= 0x61 && lower <= 0x7a
}
