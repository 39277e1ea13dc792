import { isUint8Array } from '../../realm.ts'
import { DataType, type DataTypeNumber } from '../format.ts'
import { ByteSink } from './byte-sink.ts'
import { writeControlByte } from './control-byte.ts'
import { isTypedNumber, TypedNumber } from './value.ts'

/** A value without parts. */
export type Scalar = string | number | bigint | boolean | Uint8Array | TypedNumber

const utf8 = new TextEncoder()
const LONE_SURROGATE = /\p{Surrogate}/u
const NO_BYTES = new Uint8Array(0)

/** A scalar as it stands in the data section, control byte and payload, and how many bytes the payload has. */
export type EncodedScalar = { readonly bytes: Uint8Array; readonly payloadLength: number }

/**
 * A scalar of any length: the caller knows how much a record may hold.
 *
 * @throws TypeError or RangeError, without a place: the caller knows where in the record the value is
 */
export function encodeScalar(value: Scalar): EncodedScalar {
  const sink = new ByteSink(16)
  if (typeof value === 'boolean') {
    // A boolean has no payload: its size is its value.
    writeControlByte(sink, DataType.boolean, value ? 1 : 0)
    return { bytes: sink.view(), payloadLength: 0 }
  }
  const [type, payload] = typedPayload(value)
  writeControlByte(sink, type, payload.length)
  sink.append(payload)
  return { bytes: sink.view(), payloadLength: payload.length }
}

function typedPayload(value: Exclude<Scalar, boolean>): [DataTypeNumber, Uint8Array] {
  if (typeof value === 'string') {
    if (LONE_SURROGATE.test(value)) {
      throw new TypeError('the text holds half of a surrogate pair, which UTF-8 cannot say')
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
  if (value < -0x80000000) throw new RangeError(`${value} is below what int32 holds: give double(…)`)
  if (value < 0) return new TypedNumber('int32', value)
  if (value <= 0xffff) return new TypedNumber('uint16', value)
  if (value <= 0xffffffff) return new TypedNumber('uint32', value)
  if (!Number.isSafeInteger(value))
    throw new RangeError(`${value} is not an exact integer: give a bigint or double(…)`)
  return new TypedNumber('uint64', BigInt(value))
}

function smallestBigintType(value: bigint): TypedNumber {
  if (value < 0n)
    throw new RangeError(`${value} is negative, and a bigint is written unsigned: give int32(…)`)
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
      // Two's complement: a negative int32 always has its highest bit set, and so all its four bytes.
      return withoutLeadingZeros(BigInt.asUintN(type === 'int32' ? 32 : 128, BigInt(value)))
  }
}

/** Integers of every type may be written in fewer bytes than they have, zero in none. */
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
