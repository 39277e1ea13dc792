import fc from 'fast-check'
import type { Target } from '../../fuzz/target.ts'

/** Targets that fail in each of the ways that a run must survive. */
export const FAULTY_TARGETS: readonly Target[] = [
  {
    name: 'fails',
    inputs: fc.array(fc.nat(1000)),
    shortRuns: 1,
    check: (input) => {
      if (Array.isArray(input) && input.some((each) => each >= 700)) throw new Error('a number is too large')
    },
  },
  {
    name: 'hangs',
    inputs: fc.nat(1000),
    shortRuns: 1,
    check: (input) => {
      while (Number(input) > 500 && performance.now() > 0) {
        // On purpose.
      }
    },
  },
  {
    name: 'eats',
    inputs: fc.constant('all memory'),
    shortRuns: 1,
    check: () => {
      for (const eaten: unknown[] = []; ; ) eaten.push(new Array(1000).fill(eaten.length))
    },
  },
  { name: 'is sound', inputs: fc.nat(), shortRuns: 1, check: () => {} },
]
