import { utf8Encoder } from '../../bytes/utf8.ts'
import { isUint8Array } from '../../realm.ts'
import { DataType, type DataTypeNumber } from '../format.ts'
import { isTypedNumber, TypedNumber } from './value.ts'

/** A growing buffer of encoded fields. */
export class FieldBuffer {
  #bytes: Uint8Array
  #length = 0

  constructor(capacity = 1024) {
    this.#bytes = new Uint8Array(capacity)
  }

  get length(): number {
    return this.#length
  }

  byte(value: number): void {
    this.#reserve(1)
    this.#bytes[this.#length++] = value
  }

  /** The low `count` bytes of an unsigned integer below 2^32, most significant byte first. */
  uint(value: number, count: number): void {
    for (let shift = (count - 1) * 8; shift >= 0; shift -= 8) this.byte((value >>> shift) & 0xff)
  }

  append(bytes: Uint8Array): void {
    this.#reserve(bytes.length)
    this.#bytes.set(bytes, this.#length)
    this.#length += bytes.length
  }

  /** The 32-bit number at an offset, most significant byte first. */
  uintAt(offset: number): number {
    const bytes = this.#bytes
    let value = 0
    for (let at = offset; at < offset + 4; at++) value = (value << 8) | (bytes[at] ?? 0)
    return value >>> 0
  }

  /** Removes the bytes from an offset on. */
  cut(length: number): void {
    this.#length = length
  }

  /** A view of the bytes so far. Valid until the next write, which may move the bytes. */
  view(): Uint8Array {
    return this.#bytes.subarray(0, this.#length)
  }

  #reserve(count: number): void {
    const needed = this.#length + count
    if (needed <= this.#bytes.length) return
    const grown = new Uint8Array(Math.max(needed, this.#bytes.length * 2))
    grown.set(this.view())
    this.#bytes = grown
  }
}

/**
 * Writes the control byte, the byte of an extended type, and the extra bytes of a size from 29, in the order of
 * the specification: the extended type precedes the size.
 *
 * @param size below 65,821 + 2^24 ("Payload Size"); `ValueTable` accepts only smaller values
 */
export function writeControlByte(buffer: FieldBuffer, type: DataTypeNumber, size: number): void {
  const isExtended = type > 7
  const high = isExtended ? 0 : type << 5
  const [low, rest, restBytes] = sizeParts(size)
  buffer.byte(high | low)
  if (isExtended) buffer.byte(type - 7)
  buffer.uint(rest, restBytes)
}

/** The five size bits of the control byte, the number that follows it, and how many bytes this number has. */
function sizeParts(size: number): [low: number, rest: number, restBytes: number] {
  if (size < 29) return [size, 0, 0]
  if (size < 285) return [29, size - 29, 1]
  if (size < 65_821) return [30, size - 285, 2]
  return [31, size - 65_821, 3]
}

/**
 * Pointers have four sizes (MMDB specification, "pointer - 1"): 11, 19 and 27 bits of value, where each range starts at
 * the end of the one before, and a 32-bit offset.
 */
const POINTER_RANGES = [0, 2048, 2048 + (1 << 19), 2048 + (1 << 19) + (1 << 27)] as const

/** Bytes of a pointer to `offset`, including its control byte: 2 to 5. */
export function pointerLength(offset: number): number {
  return 1 + POINTER_RANGES.filter((start) => offset >= start).length
}

/** Writes a pointer to `offset`, counted from the start of the section. */
export function writePointer(buffer: FieldBuffer, offset: number): void {
  const size = pointerLength(offset) - 2
  const value = size === 3 ? offset : offset - (POINTER_RANGES[size] ?? 0)
  const high = size === 3 ? 0 : value >>> (8 * (size + 1))
  buffer.byte((DataType.pointer << 5) | (size << 3) | high)
  buffer.uint(value, size + 1)
}

/** A value that is not a map or an array. */
export type Scalar = string | number | bigint | boolean | Uint8Array | TypedNumber

const NO_PAYLOAD = new Uint8Array(0)
/** The number that was encoded last. */
const NUMBER = new DataView(new ArrayBuffer(16))

const utf8 = utf8Encoder()
const LONE_SURROGATE = /\p{Surrogate}/u

/**
 * Writes a scalar of any length, as it is stored in the data section; the caller enforces the limits of a record.
 *
 * @returns bytes of its payload
 * @throws TypeError or RangeError before it writes; the caller adds where in the record the value is
 */
export function writeScalar(buffer: FieldBuffer, value: Scalar): number {
  // A boolean has no payload: its size is its value.
  const [type, payload, size] =
    typeof value === 'boolean'
      ? ([DataType.boolean, NO_PAYLOAD, Number(value)] as const)
      : typedPayload(value)
  writeControlByte(buffer, type, size ?? payload.length)
  buffer.append(payload)
  return payload.length
}

function typedPayload(
  value: Exclude<Scalar, boolean>,
): readonly [type: DataTypeNumber, payload: Uint8Array, size?: number] {
  if (typeof value === 'string') {
    if (LONE_SURROGATE.test(value)) {
      throw new TypeError('the text contains an unpaired surrogate, which UTF-8 cannot encode')
    }
    return [DataType.utf8String, utf8.encode(value)]
  }
  if (isUint8Array(value)) return [DataType.bytes, value]
  const typed = isTypedNumber(value) ? value : smallestType(value)
  return [DataType[typed.type], numberPayload(typed)]
}

function smallestType(value: number | bigint): TypedNumber {
  if (typeof value === 'bigint') {
    if (value < 0n) throw new RangeError(`${value} is negative, and a bigint must not be: use int32(…)`)
    if (value >= 1n << 128n) throw new RangeError(`${value} does not fit in 128 bits`)
    return new TypedNumber(value < 1n << 64n ? 'uint64' : 'uint128', value)
  }
  if (!Number.isFinite(value)) throw new RangeError(`${value} is not a finite number`)
  if (!Number.isInteger(value)) return new TypedNumber('double', value)
  if (value < -0x80000000) throw new RangeError(`${value} is below the range of int32: use double(…)`)
  if (value < 0) return new TypedNumber('int32', value)
  if (value <= 0xffffffff) return new TypedNumber(value <= 0xffff ? 'uint16' : 'uint32', value)
  if (!Number.isSafeInteger(value))
    throw new RangeError(`${value} is not an exact integer: use a bigint or double(…)`)
  return new TypedNumber('uint64', value)
}

/** The bytes of a number. Valid until the next call. */
function numberPayload({ type, value }: TypedNumber): Uint8Array {
  if (type === 'float') NUMBER.setFloat32(0, Number(value))
  else if (type === 'double') NUMBER.setFloat64(0, Number(value))
  else {
    // Two's complement: the highest bit of a negative int32 is set, so it always has four bytes.
    const bits = BigInt.asUintN(type === 'int32' ? 32 : 128, BigInt(value))
    NUMBER.setBigUint64(0, bits >> 64n)
    NUMBER.setBigUint64(8, BigInt.asUintN(64, bits))
    const bytes = new Uint8Array(NUMBER.buffer)
    // The format lets integers omit leading zero bytes; 0 has no bytes at all.
    const start = bytes.findIndex((byte) => byte !== 0)
    return bytes.subarray(start < 0 ? bytes.length : start)
  }
  return new Uint8Array(NUMBER.buffer, 0, type === 'float' ? 4 : 8)
}
