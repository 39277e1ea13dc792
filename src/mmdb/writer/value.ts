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
