import type { ByteSink } from './byte-sink.ts'

/** Type numbers of the section "Output Data Section" of the MMDB specification. */
export const DataType = {
  pointer: 1,
  utf8String: 2,
  double: 3,
  bytes: 4,
  uint16: 5,
  uint32: 6,
  map: 7,
  int32: 8,
  uint64: 9,
  uint128: 10,
  array: 11,
  boolean: 14,
  float: 15,
} as const

export type DataTypeNumber = (typeof DataType)[keyof typeof DataType]

/**
 * Writes the control byte, the byte of an extended type, and the bytes of a size from 29 on, in the order
 * that the specification gives them: the extended type stands before the size.
 *
 * @param size below 65,821 + 2^24 ("Payload Size"); what a `ValueTable` takes is smaller
 */
export function writeControlByte(sink: ByteSink, type: DataTypeNumber, size: number): void {
  const extended = type > 7
  const high = extended ? 0 : type << 5
  const [low, rest, restBytes] = sizeParts(size)
  sink.byte(high | low)
  if (extended) sink.byte(type - 7)
  sink.uint(rest, restBytes)
}

/** The five bits of the control byte, the number that follows it, and the bytes that this number takes. */
function sizeParts(size: number): [low: number, rest: number, restBytes: number] {
  if (size < 29) return [size, 0, 0]
  if (size < 285) return [29, size - 29, 1]
  if (size < 65_821) return [30, size - 285, 2]
  return [31, size - 65_821, 3]
}
