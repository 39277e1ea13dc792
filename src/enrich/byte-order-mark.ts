/** Bytes of the byte order mark (RFC 3629 section 6) that `bytes[0, end)` starts with: 3 or 0. */
export function markLength(bytes: Uint8Array, end: number = bytes.length): number {
  return end >= 3 && bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf ? 3 : 0
}
