// Positions in the address space: where a network starts, as four words, the highest first. In an IPv4 tree,
// the last word has the address.
import { isIPv4Compatible, translatedIPv4 } from './address.ts'
import { IPV4_REGISTRY, IPV6_REGISTRY, type SpecialPurpose } from './iana-registries.ts'
import { mappedIPv4, type Network, NOT_IPV4, parseCidr } from './ip-text.ts'
import { specialPurposeOfIPv4, specialPurposeOfIPv6 } from './special-purpose.ts'

export type Words = Uint32Array

/** The position of a network in a search tree: the first `prefixLength` bits of its first address are the path. */
export type TreePath = {
  /** Big-endian 32-bit words of the first address: one in an IPv4 tree, four in an IPv6 tree. */
  readonly words: Uint32Array
  readonly prefixLength: number
}

/** `::/96`, where an IPv6 tree holds IPv4 addresses ("IPv4 addresses in an IPv6 tree"). */
export const IPV4_IN_IPV6: TreePath = { words: /* @__PURE__ */ new Uint32Array(4), prefixLength: 96 }

/** `::ffff:0:0/96`, IPv4-mapped addresses (RFC 4291 section 2.5.5.2). */
export const IPV4_MAPPED: TreePath = { words: Uint32Array.of(0, 0, 0xffff, 0), prefixLength: 96 }

/** Where other readers find the IPv4 networks again, in files that have these aliases. */
export const IPV4_ALIASES: readonly TreePath[] = [
  IPV4_MAPPED,
  // 6to4, 2002::/16
  { words: Uint32Array.of(0x2002_0000, 0, 0, 0), prefixLength: 16 },
  // Teredo, 2001::/32
  { words: Uint32Array.of(0x2001_0000, 0, 0, 0), prefixLength: 32 },
]

/** IPv6 networks that networks such as ::/0 do not cover: addresses in them are looked up as IPv4 addresses. */
export const LOOKED_UP_AS_IPV4: readonly TreePath[] = [
  IPV4_IN_IPV6,
  ...IPV4_ALIASES,
  // NAT64, 64:ff9b::/96
  { words: Uint32Array.of(0x0064_ff9b, 0, 0, 0), prefixLength: 96 },
]

/** The least prefix length of a network that starts at a position. */
export function leastPrefixLength(words: Words): number {
  for (let i = 3; i >= 0; i--) {
    const word = words[i] ?? 0
    if (word !== 0) return 32 * i + 1 + Math.clz32(word & -word)
  }
  return 0
}

/** Moves a position to the end of a network that starts there. At the end of all addresses, it returns to zero. */
export function advance(words: Words, prefixLength: number): void {
  if (prefixLength === 0) return
  let i = (prefixLength - 1) >>> 5
  let sum = (words[i] ?? 0) + ((1 << (31 - ((prefixLength - 1) & 31))) >>> 0)
  words[i] = sum
  while (sum >= 2 ** 32 && i > 0) {
    sum = (words[--i] ?? 0) + 1
    words[i] = sum
  }
}

/** Moves a position in a network to the end of the network. At the end of all addresses, it returns to zero. */
export function moveToEnd(words: Words, prefixLength: number): void {
  for (let i = 3; i >= 0 && prefixLength < 32 * (i + 1); i--) {
    const bits = prefixLength - 32 * i
    words[i] = bits <= 0 ? 0 : (words[i] ?? 0) & (-1 << (32 - bits))
  }
  advance(words, prefixLength)
}

/** How many of their first bits two positions share. */
export function sharedBits(a: Words, b: Words): number {
  for (let i = 0; i < 4; i++) {
    const difference = (a[i] ?? 0) ^ (b[i] ?? 0)
    if (difference !== 0) return 32 * i + Math.clz32(difference)
  }
  return 128
}

/** Writes the address before a position. Zero is the end of all addresses. */
export function writeLast(end: Words, into: Words): void {
  into.set(end)
  let i = 3
  while (i > 0 && into[i] === 0) into[i--] = 0xffff_ffff
  into[i] = (into[i] ?? 0) - 1
}

/** Writes how far it is from one position to another. A whole address space has the distance zero. */
export function distance(from: Words, to: Words, into: Words): void {
  let borrow = 0
  for (let i = 3; i >= 0; i--) {
    const difference = (to[i] ?? 0) - (from[i] ?? 0) - borrow
    into[i] = difference
    borrow = difference < 0 ? 1 : 0
  }
}

/** The prefix length of the largest network that has at most a number of addresses. Zero is the whole address space. */
export function largestWithin(addresses: Words): number {
  for (let i = 0; i < 4; i++) {
    const word = addresses[i] ?? 0
    if (word !== 0) return 32 * i + 1 + Math.clz32(word)
  }
  return 0
}

/** The prefix length of the largest network with a position that is in a range. An `end` of zero is the end of all addresses. */
export function lengthWithin(words: Words, start: Words, end: Words): number {
  // The network has neither the address before the range nor the one after it.
  writeLast(start, before)
  const atStart = isZero(start) ? 0 : sharedBits(words, before) + 1
  return isZero(end) ? atStart : Math.max(atStart, sharedBits(words, end) + 1)
}

/** Gets a network: where it starts, valid during the call, and its prefix length as bits of a position. */
export type AddNetwork = (start: Words, prefixLength: number) => void

/** Lists the largest networks that fill a range, in the order of their addresses. `add` must not list others. */
export function listNetworks(start: Words, end: Words, add: AddNetwork): void {
  position.set(start)
  do {
    distance(position, end, rest)
    const length = Math.max(leastPrefixLength(position), largestWithin(rest))
    add(position, length)
    advance(position, length)
  } while (compare(position, end) !== 0)
}

/** Whether an end comes before another one. Zero is the end of all addresses. */
export function endsBefore(a: Words, b: Words): boolean {
  return isZero(b) ? !isZero(a) : !isZero(a) && compare(a, b) < 0
}

function isZero(words: Words): boolean {
  return words[3] === 0 && words[2] === 0 && words[1] === 0 && words[0] === 0
}

/** Whether a position comes before an end. Zero is the first position, and the end of all addresses. */
export function isBefore(position: Words, end: Words): boolean {
  return isZero(end) || compare(position, end) < 0
}

/** Negative if `a` comes before `b`, zero if they are equal, positive if it comes after. */
export function compare(a: Words, b: Words): number {
  for (let i = 0; i < 4; i++) {
    const difference = (a[i] ?? 0) - (b[i] ?? 0)
    if (difference !== 0) return difference
  }
  return 0
}

/** Where a network starts, and the position after it. Zero is the end of all addresses. IPv4 is at ::/96. */
export function boundsOf({ family, words, prefixLength }: Network): readonly [start: Words, end: Words] {
  const start = new Uint32Array(4)
  start.set(words, family === 4 ? 3 : 0)
  const end = start.slice()
  moveToEnd(end, family === 4 ? 96 + prefixLength : prefixLength)
  return [start, end]
}

/** How an address is looked up: as any other, as one with a special purpose, or as the IPv4 address in it. */
export type AddressKind = 'global' | SpecialPurpose | 'as-ipv4'

/** Addresses next to each other that are of one kind. An `end` of zero is the end of all addresses. */
export interface KindRange {
  readonly start: Words
  readonly end: Words
  readonly kind: AddressKind
}

let ranges: readonly KindRange[] | undefined

/** All addresses, in their order. IPv4 is at ::/96. */
export function kindRanges(): readonly KindRange[] {
  if (ranges !== undefined) return ranges
  const ipv6 = IPV6_REGISTRY.filter(([text]) => !/^::1?\/(0|128)$/.test(text))
  const registered = [...IPV4_REGISTRY, ...ipv6].map(([text]) => parseCidr(text))
  const paths = LOOKED_UP_AS_IPV4.map((path): Network => ({ family: 6, ...path }))
  const all = [...registered, ...paths].flatMap(boundsOf).sort(compare)
  const starts = all.filter(
    (start, index) => index === 0 || kindAt(start) !== kindAt(all[index - 1] ?? start),
  )
  ranges = starts.map((start, index) => ({ start, end: starts[index + 1] ?? FIRST, kind: kindAt(start) }))
  return ranges
}

/** The first position, which is also the end of all addresses. */
export const FIRST: Words = /* @__PURE__ */ new Uint32Array(4)

function kindAt(words: Words): AddressKind {
  if (isIPv4Compatible(words)) return specialPurposeOfIPv4(words[3] ?? 0) ?? 'global'
  if (mappedIPv4(words) !== NOT_IPV4 || translatedIPv4(words) !== NOT_IPV4) return 'as-ipv4'
  return specialPurposeOfIPv6(words) ?? 'global'
}

/** The prefix length of the largest network around a position in which all addresses are of one kind. */
export function lengthOfKind(words: Words): number {
  const all = kindRanges()
  let [low, high] = [0, all.length]
  while (high - low > 1) {
    const middle = (low + high) >> 1
    if (compare(words, all[middle]?.start ?? FIRST) < 0) high = middle
    else low = middle
  }
  return lengthWithin(words, all[low]?.start ?? FIRST, all[low]?.end ?? FIRST)
}

// Reused for every call.
const position = new Uint32Array(4)
const rest = new Uint32Array(4)
const before = new Uint32Array(4)
