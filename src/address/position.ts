// Positions in the address space: where a network starts, as four words, the highest first. In an IPv4 tree,
// the last word has the address.

export type Words = Uint32Array

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

/** Negative if `a` comes before `b`, zero if they are equal, positive if it comes after. */
export function compare(a: Words, b: Words): number {
  for (let i = 0; i < 4; i++) {
    const difference = (a[i] ?? 0) - (b[i] ?? 0)
    if (difference !== 0) return difference
  }
  return 0
}

// Reused for every call.
const position = new Uint32Array(4)
const rest = new Uint32Array(4)
