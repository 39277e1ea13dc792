const ROUNDS = 7

/** Something to be timed: does its work `items` times. */
export interface Contender {
  readonly name: string
  readonly run: () => void
}

/**
 * Times contenders side by side, round by round, after a round to warm up, and prints the median, the spread and
 * the ratio to the last one. Only the ratios mean something: the figures themselves are the machine's.
 */
export function compare(title: string, items: number, contenders: readonly Contender[]): void {
  const rates = contenders.map((): number[] => [])
  for (let round = -1; round < ROUNDS; round++) {
    for (const [index, { run }] of contenders.entries()) {
      const started = process.hrtime.bigint()
      run()
      const seconds = Number(process.hrtime.bigint() - started) / 1e9
      if (round >= 0) rates[index]?.push(items / seconds)
    }
  }
  const base = median(rates.at(-1) ?? [])
  console.log(`\n${title}: ${items.toLocaleString('en')} items, ${ROUNDS} rounds, Node ${process.version}`)
  console.table(
    Object.fromEntries(
      contenders.map(({ name }, index) => {
        const values = rates[index] ?? []
        const row = {
          'µs each': Number((1e6 / median(values)).toFixed(2)),
          'median a second': Math.round(median(values)),
          spread: `${Math.round(Math.min(...values))} to ${Math.round(Math.max(...values))}`,
          [`times ${contenders.at(-1)?.name}`]: Number((median(values) / base).toFixed(1)),
        }
        return [name, row]
      }),
    ),
  )
}

function median(values: readonly number[]): number {
  return [...values].sort((a, b) => a - b)[values.length >> 1] ?? Number.NaN
}
