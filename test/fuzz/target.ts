import type fc from 'fast-check'
import type { Format } from '../../src/enrich/formats/formats.ts'

/** A part of the library that reads untrusted input, and its properties, which must hold for every input. */
export interface Target<Input = unknown> {
  /** The name on the command line, and the folder of its seeds. */
  readonly name: string
  /** The formats of `enrich` whose lines it reads. */
  readonly formats?: readonly Format[]
  /** Inputs of plain data, as `encodeSeed` writes them. */
  readonly inputs: fc.Arbitrary<Input>
  /** How many random inputs `npm test` tries. */
  readonly shortRuns: number
  /**
   * @throws anything when a property does not hold. Must not change the input.
   */
  check(input: Input): void
}
