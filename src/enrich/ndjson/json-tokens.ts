const QUOTE = 0x22
const MINUS = 0x2d
const DOT = 0x2e
const ZERO = 0x30
const NINE = 0x39
const BACKSLASH = 0x5c

/** A token does not end as RFC 8259 has it. */
export const FAULT = -1

const TRUE = /* @__PURE__ */ new TextEncoder().encode('true')
const FALSE = /* @__PURE__ */ new TextEncoder().encode('false')
const NULL = /* @__PURE__ */ new TextEncoder().encode('null')

/** Behind the white space of RFC 8259 section 2. */
export function skipBlanks(bytes: Uint8Array, start: number, end: number): number {
  let at = start
  while (at < end) {
    const byte = bytes[at] ?? 0
    if (byte > 0x20 || (byte !== 0x20 && byte !== 0x09 && byte !== 0x0a && byte !== 0x0d)) break
    at++
  }
  return at
}

/** @param at behind the backslash. @returns how long the escape is from there; 0 when it is none */
export function escapeLength(bytes: Uint8Array, at: number): number {
  switch (bytes[at]) {
    case QUOTE:
    case BACKSLASH:
    case 0x2f: // solidus
    case 0x62: // b
    case 0x66: // f
    case 0x6e: // n
    case 0x72: // r
    case 0x74: // t
      return 1
    case 0x75: // u
      for (let i = 1; i <= 4; i++) if (!isHex(bytes[at + i] ?? 0)) return 0
      return 5
    default:
      return 0
  }
}

/** Whether a number begins with a byte. */
export function startsNumber(byte: number): boolean {
  return byte === MINUS || isDigit(byte)
}

/** RFC 8259 section 6. The line end behind the last byte ends a number too. @returns where it ends, or FAULT */
export function numberEnd(bytes: Uint8Array, start: number): number {
  let at = bytes[start] === MINUS ? start + 1 : start
  if (bytes[at] === ZERO) at++
  else {
    if (!isDigit(bytes[at] ?? 0)) return FAULT
    while (isDigit(bytes[at] ?? 0)) at++
  }
  if (bytes[at] === DOT) {
    at++
    if (!isDigit(bytes[at] ?? 0)) return FAULT
    while (isDigit(bytes[at] ?? 0)) at++
  }
  if (bytes[at] === 0x65 || bytes[at] === 0x45) {
    at++
    if (bytes[at] === MINUS || bytes[at] === 0x2b) at++
    if (!isDigit(bytes[at] ?? 0)) return FAULT
    while (isDigit(bytes[at] ?? 0)) at++
  }
  return at
}

/** `true`, `false` or `null`. @returns where it ends, or FAULT */
export function wordEnd(bytes: Uint8Array, start: number, end: number): number {
  const first = bytes[start]
  const word = first === 0x74 ? TRUE : first === 0x66 ? FALSE : NULL
  if (start + word.length > end) return FAULT
  for (let i = 0; i < word.length; i++) if (bytes[start + i] !== word[i]) return FAULT
  return start + word.length
}

function isHex(byte: number): boolean {
  return isDigit(byte) || (byte >= 0x41 && byte <= 0x46) || (byte >= 0x61 && byte <= 0x66)
}

function isDigit(byte: number): boolean {
  return byte >= ZERO && byte <= NINE
}
