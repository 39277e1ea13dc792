/** Values for {@link encode}; `{ hex }` is copied as bytes. Other objects are maps. */
export type HandMade =
  | string
  | number
  | bigint
  | boolean
  | readonly HandMade[]
  | { readonly hex: string }
  | ReadonlyMap<string, HandMade>
  | { readonly [key: string]: HandMade }

export const bytesOf = (hex: string): Uint8Array =>
  new Uint8Array(Buffer.from(hex.replaceAll(' ', ''), 'hex'))

const text = (value: string): Uint8Array => new TextEncoder().encode(value)

function control(type: number, size: number, payload: Uint8Array = new Uint8Array()): Uint8Array {
  if (size >= 285) throw new Error('too large for this encoder')
  const first = Math.min(size, 29)
  const head = type > 7 ? [first, type - 7] : [(type << 5) | first]
  if (first === 29) head.push(size - 29)
  return Buffer.concat([Buffer.from(head), payload])
}

function unsigned(value: bigint): Uint8Array {
  const hex = value.toString(16)
  return value === 0n ? new Uint8Array() : bytesOf(hex.padStart(hex.length + (hex.length % 2), '0'))
}

/** A minimal encoder, independent of the writer: no pointers, numbers as uint32. */
export function encode(value: HandMade): Uint8Array {
  if (typeof value === 'string') return control(2, text(value).length, text(value))
  if (typeof value === 'boolean') return control(14, Number(value))
  if (typeof value === 'number' || typeof value === 'bigint') {
    const payload = unsigned(BigInt(value))
    return control(typeof value === 'number' ? 6 : 9, payload.length, payload)
  }
  if (Array.isArray(value)) return Buffer.concat([control(11, value.length), ...value.map(encode)])
  if ('hex' in value && typeof value.hex === 'string') return bytesOf(value.hex)
  const pairs: [string, HandMade][] = value instanceof Map ? [...value] : Object.entries(value)
  return Buffer.concat([
    control(7, pairs.length),
    ...pairs.flatMap(([key, each]) => [encode(key), encode(each)]),
  ])
}

/** The right metadata for {@link handMade}. */
export const METADATA: Readonly<Record<string, HandMade>> = {
  binary_format_major_version: 2,
  binary_format_minor_version: 0,
  build_epoch: 1_700_000_000n,
  database_type: 'Hand-Made',
  description: new Map([['en', 'made by hand']]),
  ip_version: 4,
  languages: ['en'],
  node_count: 1,
  record_size: 24,
}

export const MARKER: Uint8Array = bytesOf('abcdef 4d61784d696e642e636f6d')

/** Where the data section of {@link handMade} starts: a node of 6 bytes, and the separator. */
export const DATA_START = 22

/**
 * A hand-made database of one node: the lower half of IPv4 has the record at the start of the data section, the
 * upper half none.
 */
export function handMade(
  data: Uint8Array,
  metadata: Readonly<Record<string, HandMade | undefined>> | Uint8Array = {},
  tree: Uint8Array = bytesOf('000011 000001'),
): Uint8Array {
  const fields = metadata instanceof Uint8Array ? metadata : encode(mapOf({ ...METADATA, ...metadata }))
  return new Uint8Array(Buffer.concat([tree, new Uint8Array(16), data, MARKER, fields]))
}

function mapOf(fields: Readonly<Record<string, HandMade | undefined>>): Map<string, HandMade> {
  const map = new Map<string, HandMade>()
  for (const [key, value] of Object.entries(fields)) if (value !== undefined) map.set(key, value)
  return map
}
