// Values of JSON in the bytes of a line, as text.

import { BACKSLASH, DELETE, QUOTE } from '../../../enrich/ascii.ts'

const TOKEN = /"(?:[^"\\]|\\.)*"|\s+/g

/** Whether a string with its quotes, `bytes[start, end)`, is ASCII without escapes: its bytes are then its value. */
export function isPlainString(bytes: Uint8Array, start: number, end: number): boolean {
  for (let at = start; at < end; at++) {
    const byte = bytes[at] ?? 0
    if (byte === BACKSLASH || byte > DELETE) return false
  }
  return true
}

/** The value of a string with its quotes. Ill-formed UTF-8 becomes U+FFFD. */
export function textIn(bytes: Uint8Array, start: number, end: number): string {
  const text = decodedIn(bytes, start, end)
  if (!text.includes('\\')) return text.slice(1, -1)
  const value: unknown = JSON.parse(text)
  return String(value)
}

/** A value as JSON, without white space between its tokens. Ill-formed UTF-8 becomes U+FFFD. */
export function jsonIn(bytes: Uint8Array, start: number, end: number): string {
  const text = decodedIn(bytes, start, end)
  const mayHaveSpaces = bytes[start] !== QUOTE && /\s/.test(text)
  return mayHaveSpaces ? text.replace(TOKEN, (token) => (token.startsWith('"') ? token : '')) : text
}

/** A text. Ill-formed UTF-8 becomes U+FFFD. */
export function decodedIn(bytes: Uint8Array, start: number, end: number): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset + start, end - start).toString()
}
