import { DataType } from '../format.ts'
import { FieldBuffer, pointerLength, writeControlByte, writePointer } from './field-encoding.ts'
import type { Composite, ValueTable } from './value-table.ts'

/**
 * Encodes the data section: the values of a {@link ValueTable}, in the order in which they are requested. A value
 * that was written before is replaced by a pointer to it if the pointer is shorter.
 *
 * Numbers and booleans are always written in place: a pointer would save only a few bytes, and readers would have to
 * follow it.
 */
export class DataSectionEncoder {
  readonly #values: ValueTable
  readonly #pointers: boolean
  readonly #buffer: FieldBuffer
  /** Where each value was written, by its id. */
  readonly #written: { readonly offset: number; readonly length: number }[] = []

  /** @param options `before` are bytes that the section starts with, such as those of another file */
  constructor(
    values: ValueTable,
    { pointers = true, before }: { readonly pointers?: boolean; readonly before?: Uint8Array } = {},
  ) {
    this.#values = values
    this.#pointers = pointers
    this.#buffer = new FieldBuffer((before?.length ?? 0) + (1 << 16))
    if (before !== undefined) this.#buffer.append(before)
  }

  /** The bytes so far. */
  get bytes(): Uint8Array {
    return this.#buffer.view()
  }

  /** The offset of a value in the section. Writes the value if it is not in the section. */
  offsetOf(id: number): number {
    const written = this.#written[id]
    if (written !== undefined) return written.offset
    const offset = this.#buffer.length
    this.#writeInPlace(id)
    // A record is written once, even if it is a short scalar: readers distinguish records by offset.
    this.#written[id] ??= { offset, length: this.#buffer.length - offset }
    return offset
  }

  #write(id: number): void {
    const written = this.#written[id]
    if (this.#pointers && written !== undefined && pointerLength(written.offset) < written.length) {
      writePointer(this.#buffer, written.offset)
    } else {
      this.#writeInPlace(id)
    }
  }

  #writeInPlace(id: number): void {
    const offset = this.#buffer.length
    const entry = this.#values.entry(id)
    if (entry instanceof Uint8Array) {
      this.#buffer.append(entry)
      if (!isShareable(entry)) return
    } else {
      this.#writeComposite(entry)
    }
    this.#written[id] ??= { offset, length: this.#buffer.length - offset }
  }

  #writeComposite({ type, parts }: Composite): void {
    writeControlByte(this.#buffer, type, type === DataType.map ? parts.length / 2 : parts.length)
    for (const part of parts) this.#write(part)
  }
}

/** Only text and bytes can be much longer than a pointer. The control byte's high bits are the type. */
function isShareable(scalar: Uint8Array): boolean {
  const type = (scalar[0] ?? 0) >> 5
  return type === DataType.utf8String || type === DataType.bytes
}
