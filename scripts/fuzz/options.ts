import { parseArgs } from 'node:util'

export const USAGE = `npm run fuzz -- [--minutes N] [--only TARGET] [--seed S]
npm run fuzz -- --replay FILE

Tries random inputs against the properties of test/fuzz/targets until the time is over. An input that breaks one is
made small, written to test/fuzz/seeds, and tried with the tests from then on.

  --minutes N    for all targets together; default 5
  --only TARGET  one target instead of all
  --seed S       a whole number: the same inputs again; default random
  --replay FILE  tries one seed
  --help         shows this`

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
 * @param targets their names
 * @throws TypeError when an option is unknown or its value makes no sense
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
