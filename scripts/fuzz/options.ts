import { parseArgs } from 'node:util'

export const USAGE = `npm run fuzz -- [--minutes N] [--only TARGET] [--seed S]
npm run fuzz -- --replay FILE

Checks the properties of test/fuzz/targets with random inputs until the time is over. An input that breaks one is
minimised and written to test/fuzz/seeds, and npm test checks it from then on.

  --minutes N    time for all targets together; default 5
  --only TARGET  run one target instead of all
  --seed S       whole number that repeats the same inputs; default random
  --replay FILE  run one seed
  --help         show this help`

export interface FuzzOptions {
  readonly minutes: number
  /** Name of a target, or `null` for all. */
  readonly only: string | null
  readonly seed: number
  /** Path of a seed, or `null`. */
  readonly replay: string | null
  readonly help: boolean
}

/**
 * @param targets names of the targets
 * @throws TypeError when an option is unknown or its value is invalid
 */
export function parseOptions(args: readonly string[], targets: readonly string[]): FuzzOptions {
  const { values } = parseArgs({
    args: [...args],
    options: {
      minutes: { type: 'string', default: '5' },
      only: { type: 'string' },
      seed: { type: 'string' },
      replay: { type: 'string' },
      help: { type: 'boolean', default: false },
    },
  })
  const minutes = Number(values.minutes)
  if (!(minutes > 0 && minutes < 100_000)) throw new TypeError('--minutes must be a number above 0')
  if (values.only !== undefined && !targets.includes(values.only)) {
    throw new TypeError(`--only must be one of ${targets.join(', ')}`)
  }
  const seed = values.seed === undefined ? Math.floor(Math.random() * 2 ** 31) : Number(values.seed)
  if (!Number.isSafeInteger(seed)) throw new TypeError('--seed must be a whole number')
  return {
    minutes,
    only: values.only ?? null,
    seed,
    replay: values.replay ?? null,
    help: values.help,
  }
}
