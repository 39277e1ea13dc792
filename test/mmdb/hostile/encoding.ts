// Encodes valid and invalid fields: wrong sizes, pointers to anywhere.

const EXTRA_BASES = [0, 29, 285, 65_821]

/** A control byte, with the type and size bytes that follow it. */
export function control(type: number, size: number): Buffer {
  const extra = size < 29 ? 0 : size < 285 ? 1 : size < 65_821 ? 2 : 3
  const first = extra === 0 ? size : 28 + extra
  const head = type > 7 ? [first, type - 7] : [(type << 5) | first]
  const rest = Buffer.alloc(extra)
  if (extra > 0) rest.writeUIntBE(size - (EXTRA_BASES[extra] ?? 0), 0, extra)
  return Buffer.concat([Buffer.from(head), rest])
}

/** A pointer of five bytes, to an offset of the data section. */
export function pointer(offset: number): Buffer {
  const bytes = Buffer.alloc(5)
  bytes[0] = 0b001_11_000
  bytes.writeUInt32BE(offset, 1)
  return bytes
}

export const text = (value: string | Uint8Array): Buffer => {
  const bytes = Buffer.from(value)
  return Buffer.concat([control(2, bytes.length), bytes])
}

/** A map of encoded fields. */
export const map = (...fields: readonly (readonly [key: string | Uint8Array, value: Uint8Array])[]): Buffer =>
  Buffer.concat([
    control(7, fields.length),
    ...fields.flatMap(([key, value]) => [typeof key === 'string' ? text(key) : key, value]),
  ])

/** A map of so many fields. */
export const mapOf = (count: number, field: (index: number) => readonly [string | Buffer, Buffer]): Buffer =>
  map(...Array.from({ length: count }, (_, index) => field(index)))

export const array = (...elements: readonly Uint8Array[]): Buffer =>
  Buffer.concat([control(11, elements.length), ...elements])

export function double(value: number): Buffer {
  const bytes = Buffer.alloc(8)
  bytes.writeDoubleBE(value)
  return Buffer.concat([control(3, 8), bytes])
}

/** An unsigned number of a given size. */
export function unsigned(type: number, value: bigint): Buffer {
  const hex = value === 0n ? '' : value.toString(16)
  const bytes = Buffer.from(hex.padStart(hex.length + (hex.length % 2), '0'), 'hex')
  return Buffer.concat([control(type, bytes.length), bytes])
}

/** A four-byte int32. */
export function int32(value: number): Buffer {
  const bytes = Buffer.alloc(4)
  bytes.writeInt32BE(value)
  return Buffer.concat([control(8, 4), bytes])
}
