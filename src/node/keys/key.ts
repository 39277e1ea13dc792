import crypto, { createHash, randomBytes } from 'node:crypto'
import { crc32 } from '../../bytes/gzip-member.ts'

/** Marks live keys, for people and for scanners of secrets. */
const KEY_PREFIX = 'live_'
const KEY_BYTES = 32
/** 62 ** 43 is the first power of 62 above 2 ** 256. */
const SECRET_CHARS = 43
/** 62 ** 6 is above 2 ** 32. */
const CHECKSUM_CHARS = 6

const DIGITS = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
const CHECKSUM_START = KEY_PREFIX.length + SECRET_CHARS
const KEY = new RegExp(`^${KEY_PREFIX}[0-9A-Za-z]{${SECRET_CHARS + CHECKSUM_CHARS}}$`)

/** Makes a key: 256 random bits in base62, and a checksum of them. */
export function makeKey(): string {
  const secret = base62(BigInt(`0x${randomBytes(KEY_BYTES).toString('hex')}`))
  return keyOf(secret)
}

/** Makes the name of a key, which is not secret. */
export function makeKeyId(): string {
  return `key_${randomBytes(6).toString('hex')}`
}

/** The key of a secret: 43 digits of base62. */
export function keyOf(secret: string): string {
  return KEY_PREFIX + secret + checksumOf(secret)
}

/** Whether a text has the form of a key and its checksum is right. Finds mistyped keys without a search. */
export function isWellFormedKey(text: string): boolean {
  return (
    KEY.test(text) && checksumOf(text.slice(KEY_PREFIX.length, CHECKSUM_START)) === text.slice(CHECKSUM_START)
  )
}

/**
 * The SHA-256 digest of a key in hexadecimal, which is all that the file has of it. A key has 256 random bits, so it needs no
 * salt.
 */
export function digestOf(key: string): string {
  // Node 20.12 and later have a function that is faster.
  return typeof crypto.hash === 'function'
    ? crypto.hash('sha256', key, 'hex')
    : createHash('sha256').update(key).digest('hex')
}

/** Whether two digests of keys are equal, in a time that does not depend on how many of their digits are. */
export function equalDigests(a: string, b: string): boolean {
  return crypto.timingSafeEqual(Buffer.from(a), Buffer.from(b))
}

const secretBytes = new Uint8Array(SECRET_CHARS)

function checksumOf(secret: string): string {
  for (let at = 0; at < SECRET_CHARS; at++) secretBytes[at] = secret.charCodeAt(at)
  let text = ''
  for (let rest = crc32(secretBytes); text.length < CHECKSUM_CHARS; rest = Math.floor(rest / 62)) {
    text = DIGITS.charAt(rest % 62) + text
  }
  return text
}

function base62(value: bigint): string {
  let text = ''
  for (let rest = value; text.length < SECRET_CHARS; rest /= 62n) text = DIGITS[Number(rest % 62n)] + text
  return text
}
