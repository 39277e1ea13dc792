import fc from 'fast-check'

/** A reproducible source of random numbers for fast-check. SplitMix32. */
export class SeededSource {
  #state: number

  /** @param seed a whole number of 32 bits */
  constructor(seed: number) {
    this.#state = seed | 0
  }

  clone(): SeededSource {
    return new SeededSource(this.#state)
  }

  /** 32 bits. */
  next(): number {
    this.#state = (this.#state + 0x9e3779b9) | 0
    let mixed = this.#state ^ (this.#state >>> 16)
    mixed = Math.imul(mixed, 0x21f0aaad)
    mixed ^= mixed >>> 15
    mixed = Math.imul(mixed, 0x735a2d97)
    return (mixed ^ (mixed >>> 15)) | 0
  }

  getState(): readonly number[] {
    return [this.#state]
  }
}

/** Generates the input of a seed, with the context that fast-check needs to shrink it. */
export function generate(inputs: fc.Arbitrary<unknown>, seed: number): fc.Value<unknown> {
  const source = new SeededSource(seed)
  // fast-check's bias towards small values. Three of eight inputs have none.
  const bias = source.next() & 7
  return inputs.generate(new fc.Random(source), bias < 3 ? undefined : bias - 1)
}

/** How many smaller inputs are tried. */
const MAX_TRIES = 5000

/**
 * The smallest input found that still fails.
 *
 * @param fails runs an input and returns its failure, or `null`
 */
export function smallest(
  inputs: fc.Arbitrary<unknown>,
  failing: fc.Value<unknown>,
  failure: unknown,
  fails: (input: unknown) => { readonly failure: unknown } | null,
): { readonly input: unknown; readonly failure: unknown } {
  let best = { value: failing, failure }
  let tries = 0
  for (let isSmaller = true; isSmaller; ) {
    isSmaller = false
    for (const value of inputs.shrink(best.value.value, best.value.context)) {
      if (++tries > MAX_TRIES) break
      const failed = fails(value.value)
      if (failed === null) continue
      best = { value, failure: failed.failure }
      isSmaller = true
      break
    }
  }
  return { input: best.value.value, failure: best.failure }
}
