import type fc from 'fast-check'

/** Smaller inputs that are tried, at most. */
const MAX_TRIES = 5000

/**
 * The smallest input found that still fails.
 *
 * @param fails what an input fails with, or `null`
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
