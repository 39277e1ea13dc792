import { ChoiceSource } from './choices.ts'

/** Random whole numbers from 0 to below a bound of at most 2^32, the same for the same seed. */
export function seededRandom(seed: number): (bound: number) => number {
  const source = new ChoiceSource({ words: new Int32Array(0), seed })
  return (bound) => Math.floor(((source.next() >>> 0) / 2 ** 32) * bound)
}
