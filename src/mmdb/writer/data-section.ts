import { DataType } from '../format.ts'
import { ByteSink } from './byte-sink.ts'
import { writeControlByte } from './control-byte.ts'
import { pointerLength, writePointer } from './pointer.ts'
import type { Composite, ValueTable } from './value-table.ts'

/**
 * The data section: values of a {@link ValueTable} as bytes, in the order in which they are asked for. A value
 * that was written before is not written again where a pointer to it is shorter.
 *
 * Numbers and booleans always stand in place: a pointer would save four bytes of eight at most, and cost every
 * reader a jump.
 */
export class DataSection {
  readonly #values: ValueTable
  readonly #pointers: boolean
  readonly #sink = new ByteSink(1 << 16)
  /** By number of the value: where it stands and how long it is. */
  readonly #places: { readonly offset: number; readonly length: number }[] = []

  constructor(values: ValueTable, options: { readonly pointers: boolean } = { pointers: true }) {
    this.#values = values
    this.#pointers = options.pointers
  }

  /** The bytes written so far. */
  get bytes(): Uint8Array {
    return this.#sink.view()
  }

  /** The offset of the value in the section; it is written first if it is not there yet. */
  offset(number: number): number {
    const place = this.#places[number]
    if (place !== undefined) return place.offset
    const offset = this.#sink.length
    this.#writeInPlace(number)
    // A record stands once, also a short scalar: networks are told apart by the offset of their record.
    this.#places[number] ??= { offset, length: this.#sink.length - offset }
    return offset
  }

  #write(number: number): void {
    const place = this.#places[number]
    if (this.#pointers && place !== undefined && pointerLength(place.offset) < place.length) {
      writePointer(this.#sink, place.offset)
    } else {
      this.#writeInPlace(number)
    }
  }

  #writeInPlace(number: number): void {
    const offset = this.#sink.length
    const entry = this.#values.entry(number)
    if (entry instanceof Uint8Array) {
      this.#sink.append(entry)
      if (!isShareable(entry)) return
    } else {
      this.#writeComposite(entry)
    }
    this.#places[number] ??= { offset, length: this.#sink.length - offset }
  }

  #writeComposite({ type, parts }: Composite): void {
    writeControlByte(this.#sink, type, type === DataType.map ? parts.length / 2 : parts.length)
    for (const part of parts) this.#write(part)
  }
}

/** Text and bytes: the scalars that can be longer than a pointer. The type is in the control byte's high bits. */
function isShareable(scalar: Uint8Array): boolean {
  const type = (scalar[0] ?? 0) >> 5
  return type === DataType.utf8String || type === DataType.bytes
}
