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
 * Pointers have four sizes (MMDB specification, "pointer - 1"): 11, 19 and 27 bits of value, where each range
 * starts at the end of the one before, and a 32-bit offset.
 */
const MIN_19_BIT_POINTER = 2048
const MIN_27_BIT_POINTER = MIN_19_BIT_POINTER + (1 << 19)
const MIN_32_BIT_POINTER = MIN_27_BIT_POINTER + (1 << 27)

/** Bytes of a pointer to `offset`, including its control byte. */
export function pointerLength(offset: number): 2 | 3 | 4 | 5 {
  if (offset < MIN_19_BIT_POINTER) return 2
  if (offset < MIN_27_BIT_POINTER) return 3
  return offset < MIN_32_BIT_POINTER ? 4 : 5
}

/** Writes a pointer to `offset`, counted from the start of the section. */
export function writePointer(buffer: FieldBuffer, offset: number): void {
  const control = DataType.pointer << 5
  switch (pointerLength(offset)) {
    case 2:
      buffer.byte(control | (offset >>> 8))
      buffer.uint(offset, 1)
      return
    case 3:
      buffer.byte(control | (1 << 3) | ((offset - MIN_19_BIT_POINTER) >>> 16))
      buffer.uint(offset - MIN_19_BIT_POINTER, 2)
      return
    case 4:
      buffer.byte(control | (2 << 3) | ((offset - MIN_27_BIT_POINTER) >>> 24))
      buffer.uint(offset - MIN_27_BIT_POINTER, 3)
      return
    case 5:
      buffer.byte(control | (3 << 3))
      buffer.uint(offset, 4)
  }
}

/** A value that is not a map or an array. */
export type Scalar = string | number | bigint | boolean | Uint8Array | TypedNumber

/** A scalar as stored in the data section (control byte and payload), and the size of its payload. */
export type EncodedScalar = { readonly bytes: Uint8Array; readonly payloadLength: number }

const utf8 = new TextEncoder()
const LONE_SURROGATE = /\p{Surrogate}/u
const NO_BYTES = new Uint8Array(0)

/**
 * Encodes a scalar of any length; the caller enforces the limits of a record.
 *
 * @throws TypeError or RangeError; the caller adds where in the record the value is
 */
export function encodeScalar(value: Scalar): EncodedScalar {
  const buffer = new FieldBuffer(16)
  if (typeof value === 'boolean') {
    // A boolean has no payload: its size is its value.
    writeControlByte(buffer, DataType.boolean, value ? 1 : 0)
    return { bytes: buffer.view(), payloadLength: 0 }
  }
  const [type, payload] = typedPayload(value)
  writeControlByte(buffer, type, payload.length)
  buffer.append(payload)
  return { bytes: buffer.view(), payloadLength: payload.length }
}

function typedPayload(value: Exclude<Scalar, boolean>): [DataTypeNumber, Uint8Array] {
  if (typeof value === 'string') {
    if (LONE_SURROGATE.test(value)) {
      throw new TypeError('the text contains an unpaired surrogate, which UTF-8 cannot encode')
    }
    return [DataType.utf8String, utf8.encode(value)]
  }
  if (isUint8Array(value)) return [DataType.bytes, value]
  const typed = typeof value === 'number' ? smallestType(value) : value
  const number = isTypedNumber(typed) ? typed : smallestBigintType(typed)
  return [DataType[number.type], numberPayload(number)]
}

function smallestType(value: number): TypedNumber {
  if (!Number.isFinite(value)) throw new RangeError(`${value} is not a finite number`)
  if (!Number.isInteger(value)) return new TypedNumber('double', value)
  if (value < -0x80000000) throw new RangeError(`${value} is below the range of int32: use double(…)`)
  if (value < 0) return new TypedNumber('int32', value)
  if (value <= 0xffff) return new TypedNumber('uint16', value)
  if (value <= 0xffffffff) return new TypedNumber('uint32', value)
  if (!Number.isSafeInteger(value))
    throw new RangeError(`${value} is not an exact integer: use a bigint or double(…)`)
  return new TypedNumber('uint64', BigInt(value))
}

function smallestBigintType(value: bigint): TypedNumber {
  if (value < 0n) throw new RangeError(`${value} is negative, and a bigint must not be: use int32(…)`)
  if (value >= 1n << 128n) throw new RangeError(`${value} does not fit in 128 bits`)
  return new TypedNumber(value < 1n << 64n ? 'uint64' : 'uint128', value)
}

function numberPayload({ type, value }: TypedNumber): Uint8Array {
  switch (type) {
    case 'float': {
      const bytes = new Uint8Array(4)
      new DataView(bytes.buffer).setFloat32(0, Number(value))
      return bytes
    }
    case 'double': {
      const bytes = new Uint8Array(8)
      new DataView(bytes.buffer).setFloat64(0, Number(value))
      return bytes
    }
    default:
      // Two's complement: the highest bit of a negative int32 is set, so it always has four bytes.
      return withoutLeadingZeros(BigInt.asUintN(type === 'int32' ? 32 : 128, BigInt(value)))
  }
}

/** The format lets integers omit leading zero bytes; 0 has no bytes at all. */
function withoutLeadingZeros(value: bigint): Uint8Array {
  if (value === 0n) return NO_BYTES
  const hex = value.toString(16)
  const bytes = new Uint8Array(Math.ceil(hex.length / 2))
  let rest = value
  for (let index = bytes.length - 1; index >= 0; index--) {
    bytes[index] = Number(rest & 0xffn)
    rest >>= 8n
  }
  return bytes
}
