/** An input that is kept: a past finding, or a case that random inputs rarely reach. */
export interface Seed {
  /** What it is and why it is kept. */
  readonly note: string
  readonly input: unknown
}

/**
 * A seed as readable JSON: bytes are `{"$text":…}` if they are readable, otherwise `{"$base64":…}`; numbers that JSON
 * does not have are `{"$bigint":…}` or `{"$number":…}`.
 */
export function encodeSeed(seed: Seed): string {
  return `${JSON.stringify(plain(seed), null, 2)}\n`
}

/** @throws Error when the text is not a seed */
export function decodeSeed(text: string): Seed {
  const value: unknown = JSON.parse(text, (_key, each: unknown) => special(each))
  if (typeof value !== 'object' || value === null || !('note' in value && 'input' in value)) {
    throw new Error('a seed is a JSON object with a note and an input')
  }
  return { note: String(value.note), input: value.input }
}

function plain(value: unknown): unknown {
  if (typeof value === 'bigint') return { $bigint: String(value) }
  if (typeof value === 'number' && (!Number.isFinite(value) || Object.is(value, -0))) {
    return { $number: Object.is(value, -0) ? '-0' : String(value) }
  }
  if (value instanceof Uint8Array) return plainBytes(value)
  if (Array.isArray(value)) return value.map(plain)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, plain(each)]))
}

function plainBytes(bytes: Uint8Array): object {
  const text = new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes)
  const isSame = Buffer.from(text).equals(bytes)
  // A damaged database has some readable parts; text has only a few unreadable ones.
  const foreign = text.match(/[^\x20-\x7e\s]/g)?.length ?? 0
  return isSame && foreign * 8 <= text.length + 8
    ? { $text: text }
    : { $base64: Buffer.from(bytes).toString('base64') }
}

function special(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value
  if ('$text' in value) return new TextEncoder().encode(String(value.$text))
  if ('$base64' in value) return new Uint8Array(Buffer.from(String(value.$base64), 'base64'))
  if ('$bigint' in value) return BigInt(String(value.$bigint))
  if ('$number' in value) return Number(value.$number)
  return value
}
