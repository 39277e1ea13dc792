import { DataType } from '../format.ts'
import type { ByteSink } from './byte-sink.ts'

/**
 * Pointers come in four sizes (MMDB specification, "pointer - 1"): 11, 19 and 27 bits of value, each class
 * starting where the one before it ends, and 32 bits of plain offset.
 */
const SECOND_CLASS = 2048
const THIRD_CLASS = SECOND_CLASS + (1 << 19)
const FOURTH_CLASS = THIRD_CLASS + (1 << 27)

/** Bytes that a pointer to `offset` takes, its control byte included. */
export function pointerLength(offset: number): 2 | 3 | 4 | 5 {
  if (offset < SECOND_CLASS) return 2
  if (offset < THIRD_CLASS) return 3
  return offset < FOURTH_CLASS ? 4 : 5
}

/** Writes a pointer to `offset`, counted from the start of the section that the pointer stands in. */
export function writePointer(sink: ByteSink, offset: number): void {
  const control = DataType.pointer << 5
  switch (pointerLength(offset)) {
    case 2:
      sink.byte(control | (offset >>> 8))
      sink.uint(offset, 1)
      return
    case 3:
      sink.byte(control | (1 << 3) | ((offset - SECOND_CLASS) >>> 16))
      sink.uint(offset - SECOND_CLASS, 2)
      return
    case 4:
      sink.byte(control | (2 << 3) | ((offset - THIRD_CLASS) >>> 24))
      sink.uint(offset - THIRD_CLASS, 3)
      return
    case 5:
      sink.byte(control | (3 << 3))
      sink.uint(offset, 4)
  }
}
