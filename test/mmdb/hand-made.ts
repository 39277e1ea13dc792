import { array, control, map, text, unsigned } from './hostile/encoding.ts'

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

/** A minimal encoder, independent of the writer: no pointers, numbers as uint32. */
export function encode(value: HandMade): Uint8Array {
  if (typeof value === 'string') return text(value)
  if (typeof value === 'boolean') return control(14, Number(value))
  if (typeof value === 'number') return unsigned(6, BigInt(value))
  if (typeof value === 'bigint') return unsigned(9, value)
  if (Array.isArray(value)) return array(...value.map(encode))
  if ('hex' in value && typeof value.hex === 'string') return bytesOf(value.hex)
  const pairs: [string, HandMade][] = value instanceof Map ? [...value] : Object.entries(value)
  return map(...pairs.map(([key, each]) => [key, encode(each)] as const))
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

/** What a record of a node leads to: a node by its number, nothing, or the value at an offset of the data section. */
export type Child = number | null | { readonly data: number }

/** A node of a search tree. */
export type Node = readonly [left: Child, right: Child]

/** A hand-made database with a search tree of these nodes, in records of 32 bits. */
export function handMadeTree(
  nodes: readonly Node[],
  data: Uint8Array,
  metadata: Readonly<Record<string, HandMade>> = {},
): Uint8Array {
  const tree = Buffer.alloc(8 * nodes.length)
  for (const [index, child] of nodes.flat().entries()) {
    const value = typeof child === 'number' ? child : nodes.length + (child === null ? 0 : 16 + child.data)
    tree.writeUInt32BE(value, 4 * index)
  }
  return handMade(data, { node_count: nodes.length, record_size: 32, ...metadata }, tree)
}

function mapOf(fields: Readonly<Record<string, HandMade | undefined>>): Map<string, HandMade> {
  const map = new Map<string, HandMade>()
  for (const [key, value] of Object.entries(fields)) if (value !== undefined) map.set(key, value)
  return map
}
