import type fc from 'fast-check'

/** A part of the library that takes what strangers write, and what must hold of it whatever they write. */
export interface Target<Input = unknown> {
  /** Of the command line, and of the folder of its seeds. */
  readonly name: string
  /** Inputs of plain data, as {@link encodeSeed} writes them. */
  readonly inputs: fc.Arbitrary<Input>
  /** How many inputs the short form tries, with the tests. */
  readonly shortRuns: number
  /**
   * @throws whatever, when a property does not hold; it must not change the input
   */
  check(input: Input): void
}
