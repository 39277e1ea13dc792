import type { DataTypeNumber } from '../format.ts'
import type { ByteSink } from './byte-sink.ts'

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
