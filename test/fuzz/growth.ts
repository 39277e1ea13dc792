import assert from 'node:assert/strict'
import fc from 'fast-check'
import { processorMs } from '../processor-time.ts'

/** An input that can be made of any size: `head`, many times `unit`, `tail`. */
export interface Repeated {
  readonly head: string
  readonly unit: string
  readonly tail: string
}

/** Twice the size may take this many times as long. */
const MOST_GROWTH = 2.5
/** Less time says nothing: the compiler and the garbage collector take as much. Milliseconds. */
const LEAST_MS = 20
const FIRST_BYTES = 8 * 1024
const MOST_BYTES = 1024 * 1024
/** The time of a size is the least of so many runs. A growth is found only if each comparison shows it. */
const RUNS = 2
const COMPARISONS = 3

const encoder = new TextEncoder()

export function repeatedBytes({ head, unit, tail }: Repeated, size: number): Uint8Array {
  return encoder.encode(`${head}${unit.repeat(Math.ceil(size / unit.length))}${tail}`)
}

/**
 * Doubles the size of an input, up to 1 MiB, until a run takes long enough to be measured, and once more.
 *
 * @throws AssertionError when the time grows by more than 2.5
 */
export function checkGrowth(run: (input: Uint8Array) => void, repeated: Repeated): void {
  const time = (size: number): number => {
    const input = repeatedBytes(repeated, size)
    return Math.min(...Array.from({ length: RUNS }, () => processorMs(() => run(input))))
  }
  let size = FIRST_BYTES
  while (size < MOST_BYTES && time(size) < LEAST_MS) size *= 2
  if (size === MOST_BYTES) return
  let least = Number.POSITIVE_INFINITY
  for (let tried = 0; tried < COMPARISONS && least > MOST_GROWTH; tried++) {
    least = Math.min(least, time(2 * size) / Math.max(time(size), LEAST_MS))
  }
  assert.ok(least <= MOST_GROWTH, `${2 * size} bytes take ${least.toFixed(1)} times as long as ${size}`)
}

/** Inputs of pieces. */
export function repeatedInputs(pieces: fc.Arbitrary<string>): fc.Arbitrary<Repeated> {
  const some = fc.array(pieces, { maxLength: 3 }).map((parts) => parts.join(''))
  const unit = fc.array(pieces, { minLength: 1, maxLength: 3 }).map((parts) => parts.join(''))
  return fc.record({ head: some, unit: unit.filter((text) => text.length > 0), tail: some })
}
