import type { LocationField } from '../../../src/enrich/options.ts'
import { alignedSize } from '../../../src/enrich/writing/location-columns.ts'

/** Reads what `LocationColumns` writes: the values of each field, `null` for unknown ones. Checks that zeros fill the gaps. */
export function columnsOf(
  bytes: Uint8Array,
  count: number,
  fields: readonly LocationField[],
): (string | number | null)[][] {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length)
  let at = 0
  /** @returns where a part begins */
  const part = (size: number): number => {
    const start = at
    at += alignedSize(size)
    if (bytes.subarray(start + size, at).some((byte) => byte !== 0)) throw new Error('a gap is not empty')
    return start
  }
  return fields.map((field) => {
    const known = part(Math.ceil(count / 8))
    const isKnown = (index: number): boolean =>
      ((view.getUint8(known + (index >> 3)) >> (index & 7)) & 1) === 1
    const indexes = Array.from({ length: count }, (_, index) => index)
    if (['latitude', 'longitude', 'asn_number'].includes(field)) {
      const values = part(8 * count)
      return indexes.map((index) => (isKnown(index) ? view.getFloat64(values + 8 * index, true) : null))
    }
    const offsets = part(4 * (count + 1))
    const offsetAt = (index: number): number => view.getInt32(offsets + 4 * index, true)
    const texts = part(offsetAt(count))
    return indexes.map((index) => {
      const text = bytes.subarray(texts + offsetAt(index), texts + offsetAt(index + 1))
      return isKnown(index) ? new TextDecoder('utf-8', { ignoreBOM: true }).decode(text) : null
    })
  })
}
