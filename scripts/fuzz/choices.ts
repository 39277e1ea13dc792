import fc from 'fast-check'

/** What stands for an input: the random numbers that it is generated from, 32 bits each. */
export interface Choices {
  /** Taken first. */
  readonly words: Int32Array
  /** The numbers behind them are those of this. */
  readonly seed: number
}

/** No input needs more: the rest are those of its seed. */
export const MAX_WORDS = 65_536

/** A source of random numbers for fast-check that plays choices and writes down what was taken. */
export class ChoiceSource {
  readonly #choices: Choices
  readonly #taken: number[] = []
  #state: number

  constructor(choices: Choices) {
    this.#choices = choices
    this.#state = choices.seed | 0
  }

  /** fast-check copies its source once, and nothing else uses this one. */
  clone(): ChoiceSource {
    return this
  }

  next(): number {
    const { words } = this.#choices
    const at = this.#taken.length
    const word = at < words.length ? (words[at] ?? 0) : this.#random()
    this.#taken.push(word)
    return word
  }

  getState(): readonly number[] {
    return [this.#state, this.#taken.length]
  }

  /** All that was taken. */
  get taken(): Int32Array {
    return Int32Array.from(this.#taken.slice(0, MAX_WORDS))
  }

  /** SplitMix32. */
  #random(): number {
    this.#state = (this.#state + 0x9e3779b9) | 0
    let mixed = this.#state ^ (this.#state >>> 16)
    mixed = Math.imul(mixed, 0x21f0aaad)
    mixed ^= mixed >>> 15
    mixed = Math.imul(mixed, 0x735a2d97)
    return (mixed ^ (mixed >>> 15)) | 0
  }
}

/** An input with what fast-check needs to make it smaller. */
export interface Generated {
  readonly value: fc.Value<unknown>
  readonly taken: Int32Array
}

/** The input that choices stand for. The first of them says how much fast-check prefers small values. */
export function generate(inputs: fc.Arbitrary<unknown>, choices: Choices): Generated {
  const source = new ChoiceSource(choices)
  const bias = source.next() & 7
  const value = inputs.generate(new fc.Random(source), bias < 3 ? undefined : bias - 1)
  return { value, taken: source.taken }
}
