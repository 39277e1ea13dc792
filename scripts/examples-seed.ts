import fc from 'fast-check'

// The long run repeats the random examples of another one with its EXAMPLES_SEED, a whole number.
const { EXAMPLES_SEED: seed } = process.env
if (seed !== undefined) fc.configureGlobal({ seed: Number(seed) })
