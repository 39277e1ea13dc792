import type { ByteSink } from '../../bytes/byte-sink.ts'
import { isUint8Array, utf8Encoder } from '../../realm.ts'
import { DataType, type DataTypeNumber } from '../format.ts'

/**
 * A value in a record of an MMDB database. Plain JavaScript values are written as the smallest MMDB type that holds
 * them exactly. {@link float}, {@link double}, {@link int32}, {@link uint16}, {@link uint32}, {@link uint64} and
 * {@link uint128} choose the type explicitly.
 *
 * | JavaScript | MMDB |
 * | --- | --- |
 * | string | `utf8_string` |
 * | integer from 0 to 65,535; to 4,294,967,295; to `Number.MAX_SAFE_INTEGER` | `uint16`; `uint32`; `uint64` |
 * | integer from -2,147,483,648 to -1 | `int32` |
 * | any other finite number | `double` |
 * | bigint below 2^64; below 2^128 | `uint64`; `uint128` |
 * | boolean | `boolean` |
 * | `Uint8Array` | `bytes` |
 * | array | `array` |
 * | plain object, `Map` with string keys | `map`, its keys in the order given |
 *
 * Everything else is refused, including `undefined`, `null`, `NaN` and dates: the format has no type for them.
 */
export type WritableValue =
  | string
  | number
  | bigint
  | boolean
  | Uint8Array
  | TypedNumber
  | readonly WritableValue[]
  | ReadonlyMap<string, WritableValue>
  | { readonly [key: string]: WritableValue }

/** The number types of the format, by their names in the MMDB specification. */
export type NumberType = 'float' | 'double' | 'int32' | 'uint16' | 'uint32' | 'uint64' | 'uint128'

/** A registered symbol, because a program can load two copies of this package: ESM and CommonJS, or in two realms. */
const TYPED_NUMBER = Symbol.for('geofix.typedNumber')

/** A number with an explicit MMDB type. Made by `float(…)`, `uint16(…)` and the others. */
export class TypedNumber {
  constructor(
    readonly type: NumberType,
    readonly value: number | bigint,
  ) {}
}
Object.defineProperty(TypedNumber.prototype, TYPED_NUMBER, { value: true })

/** Whether a value is a {@link TypedNumber} of any copy of this package. */
export function isTypedNumber(value: unknown): value is TypedNumber {
  return typeof value === 'object' && value !== null && TYPED_NUMBER in value
}

/** A 32-bit IEEE 754 number, the nearest one. @throws RangeError when the value is not finite or too large */
export function float(value: number): TypedNumber {
  if (!Number.isFinite(Math.fround(value))) throw outOfRange('float', value, 'a finite number below 3.41e38')
  return new TypedNumber('float', Math.fround(value))
}

/** A 64-bit IEEE 754 number, even if the value is an integer. @throws RangeError when it is not finite */
export function double(value: number): TypedNumber {
  if (!Number.isFinite(value)) throw outOfRange('double', value, 'a finite number')
  return new TypedNumber('double', value)
}

/** A signed integer of 32 bits. @throws RangeError when the value is not such an integer */
export function int32(value: number): TypedNumber {
  return integer('int32', value, -0x80000000, 0x7fffffff)
}

/** An unsigned integer of 16 bits. @throws RangeError when the value is not such an integer */
export function uint16(value: number): TypedNumber {
  return integer('uint16', value, 0, 0xffff)
}

/** An unsigned integer of 32 bits. @throws RangeError when the value is not such an integer */
export function uint32(value: number): TypedNumber {
  return integer('uint32', value, 0, 0xffffffff)
}

/** An unsigned integer of 64 bits. @throws RangeError when the value is not such an integer, or is a number that is not exact */
export function uint64(value: number | bigint): TypedNumber {
  return unsigned('uint64', value, 64n)
}

/** An unsigned integer of 128 bits. @throws RangeError when the value is not such an integer, or is a number that is not exact */
export function uint128(value: number | bigint): TypedNumber {
  return unsigned('uint128', value, 128n)
}

function integer(type: NumberType, value: number, least: number, most: number): TypedNumber {
  if (!Number.isInteger(value) || value < least || value > most) {
    throw outOfRange(type, value, `an integer from ${least} to ${most}`)
  }
  return new TypedNumber(type, value)
}

function unsigned(type: NumberType, value: number | bigint, bits: bigint): TypedNumber {
  const exact = typeof value === 'bigint' || Number.isSafeInteger(value)
  if (!exact || value < 0 || BigInt(value) >= 1n << bits) {
    throw outOfRange(type, value, `an integer from 0 to 2^${bits} - 1 (a bigint above 2^53 - 1)`)
  }
  return new TypedNumber(type, BigInt(value))
}

function outOfRange(type: NumberType, value: number | bigint, range: string): RangeError {
  return new RangeError(`${type}(${value}) is out of range: it must be ${range}`)
}

/** What a value is, for the error message that refuses it. */
export function kindOf(value: unknown): string {
  if (value === null || value === undefined) return String(value)
  if (typeof value === 'object') return `a value of class ${value.constructor?.name ?? '(none)'}`
  return `a value of type ${typeof value}`
}

/** Whether a value is a plain object. It can be of another realm (such as a test runner's sandbox), which has its own Object.prototype. */
export function isPlainObject(value: unknown): value is object {
  if (typeof value !== 'object' || value === null) return false
  const prototype: unknown = Object.getPrototypeOf(value)
  return prototype === null || Object.getPrototypeOf(prototype) === null
}

/** Writes the low `count` bytes of an unsigned integer below 2^32, most significant byte first. */
export function writeUint(output: ByteSink, value: number, count: number): void {
  for (let shift = (count - 1) * 8; shift >= 0; shift -= 8) output.writeByte((value >>> shift) & 0xff)
}

/**
 * Writes the control byte, the byte of an extended type, and the extra bytes of a size from 29, in the order of
 * the specification: the extended type precedes the size.
 *
 * @param size below 65,821 + 2^24 ("Payload Size"); `ValueTable` accepts only smaller values
 */
export function writeControlByte(output: ByteSink, type: DataTypeNumber, size: number): void {
  const isExtended = type > 7
  const high = isExtended ? 0 : type << 5
  const [low, rest, restBytes] = sizeParts(size)
  output.writeByte(high | low)
  if (isExtended) output.writeByte(type - 7)
  writeUint(output, rest, restBytes)
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
export function writePointer(output: ByteSink, offset: number): void {
  const size = pointerLength(offset) - 2
  const value = size === 3 ? offset : offset - (POINTER_RANGES[size] ?? 0)
  const high = size === 3 ? 0 : value >>> (8 * (size + 1))
  output.writeByte((DataType.pointer << 5) | (size << 3) | high)
  writeUint(output, value, size + 1)
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
export function writeScalar(output: ByteSink, value: Scalar): number {
  // A boolean has no payload: its size is its value.
  const [type, payload, size] =
    typeof value === 'boolean'
      ? ([DataType.boolean, NO_PAYLOAD, Number(value)] as const)
      : typedPayload(value)
  writeControlByte(output, type, size ?? payload.length)
  output.write(payload)
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
