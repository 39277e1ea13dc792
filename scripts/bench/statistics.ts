/** What rounds have shown: the middle, and how far they lie apart. */
export interface Measurement {
  readonly median: number
  readonly lowest: number
  readonly highest: number
  readonly rounds: readonly number[]
}

export function measurement(rounds: readonly number[]): Measurement {
  const sorted = [...rounds].sort((a, b) => a - b)
  const [lowest, highest] = [sorted[0], sorted.at(-1)]
  if (lowest === undefined || highest === undefined) throw new Error('there is no round to be measured')
  const upper = sorted[sorted.length >> 1] ?? highest
  const lower = sorted[(sorted.length - 1) >> 1] ?? lowest
  return { median: (lower + upper) / 2, lowest, highest, rounds }
}
