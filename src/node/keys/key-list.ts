import crypto, { createHash, randomBytes } from 'node:crypto'
import { crc32 } from '../../bytes/extract.ts'
import { GeofixError, quoted } from '../../errors.ts'

/** A key as the file has it. */
export interface KeyEntry {
  /** A random name that is not secret. */
  readonly id: string
  readonly plan: string
  readonly label: string
  /** When it was made: ISO 8601. */
  readonly created: string
  /** When it stops being valid; `null` if never. */
  readonly expires: string | null
  /** SHA-256 of the key, in hexadecimal. */
  readonly digest: string
}

/** Larger files are refused: a million keys are more than a file is for. */
export const MAX_KEY_FILE_BYTES = 256 * 1024 * 1024
/** The longest label. Characters. */
export const MAX_LABEL_CHARS = 200

const ID = /^[\w-]{1,64}$/
const PLAN = /^[\w-]{1,40}$/
const DIGEST = /^[0-9a-f]{64}$/

/** A key file cannot be read, is damaged, or others can write it. */
export class KeyFileError extends GeofixError {
  override readonly name = 'KeyFileError'
  readonly code = 'INVALID_KEY_FILE'
  readonly status = null
}

/**
 * Reads the text of a key file: `{ "keys": [ … ] }`.
 *
 * @throws KeyFileError when the text is not such a list, or two keys have one id or digest
 */
export function parseKeyList(text: string): readonly KeyEntry[] {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (cause) {
    throw new KeyFileError('it is not JSON: restore it from a copy', { cause })
  }
  const { keys }: { keys?: unknown } = typeof value === 'object' && value !== null ? value : {}
  if (!Array.isArray(keys)) throw new KeyFileError('it is not { "keys": [ … ] }')
  const entries = keys.map(entryOf)
  for (const member of ['id', 'digest'] as const) {
    if (new Set(entries.map((entry) => entry[member])).size < entries.length) {
      throw new KeyFileError(`two keys have the same ${member}`)
    }
  }
  return entries
}

/** The text of a key file: a line for each key, so that a change is a line in a diff. */
export function keyListText(entries: readonly KeyEntry[]): string {
  const lines = entries.map((entry) => `  ${JSON.stringify(entry)}`)
  return lines.length === 0 ? '{"keys":[]}\n' : `{"keys":[\n${lines.join(',\n')}\n]}\n`
}

function entryOf(value: unknown, index: number): KeyEntry {
  const members: Partial<Record<keyof KeyEntry, unknown>> =
    typeof value === 'object' && value !== null ? value : {}
  const text = (member: keyof KeyEntry, isValid: (text: string) => boolean): string => {
    const each = members[member]
    if (typeof each === 'string' && isValid(each)) return each
    const shown = member === 'digest' ? '' : `: ${quoted(String(each))}`
    throw new KeyFileError(`the ${member} of key ${index + 1} is not valid${shown}`)
  }
  return {
    id: text('id', (each) => ID.test(each)),
    plan: text('plan', (each) => PLAN.test(each)),
    label: text('label', (each) => each.length <= MAX_LABEL_CHARS),
    created: text('created', isInstant),
    expires: members.expires === null ? null : text('expires', isInstant),
    digest: text('digest', (each) => DIGEST.test(each)),
  }
}

/** A time as `Date.prototype.toISOString` writes it, so that no local time can be meant. */
function isInstant(text: string): boolean {
  const instant = new Date(text)
  return !Number.isNaN(instant.getTime()) && /^\d{4}-\d\d-\d\dT[\d:.]+Z$/.test(text)
}

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
  return keyOf(base62(BigInt(`0x${randomBytes(KEY_BYTES).toString('hex')}`), SECRET_CHARS))
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
  // Node 20.12 and later have a function that takes half of the time.
  return typeof crypto.hash === 'function'
    ? crypto.hash('sha256', key, 'hex')
    : createHash('sha256').update(key).digest('hex')
}

/** Whether two digests of keys are equal, in a time that does not depend on how many of their digits are. */
export function equalDigests(a: string, b: string): boolean {
  return crypto.timingSafeEqual(Buffer.from(a), Buffer.from(b))
}

function checksumOf(secret: string): string {
  return base62(BigInt(crc32(Buffer.from(secret))), CHECKSUM_CHARS)
}

function base62(value: bigint, digits: number): string {
  let text = ''
  for (let rest = value; text.length < digits; rest /= 62n) text = DIGITS[Number(rest % 62n)] + text
  return text
}
