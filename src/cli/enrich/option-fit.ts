import type { EnrichOptions, Format } from '../../enrich/options.ts'
import { UsageError } from '../terminal.ts'

const TABLES: readonly Format[] = ['csv', 'tsv']
const LINES: readonly Format[] = ['access-log', 'list']

/** Options that only some formats have. */
const FORMATS_OF: readonly [
  flag: string,
  isGiven: (options: EnrichOptions) => boolean,
  formats: readonly Format[],
][] = [
  ['--field', ({ field }) => field !== undefined, ['ndjson', ...TABLES, 'access-log']],
  ['--time-field', ({ timeField }) => timeField !== undefined, ['ndjson', ...TABLES]],
  ['--into', ({ into }) => into !== undefined, ['ndjson', ...LINES]],
  ['--fields', ({ fields }) => fields !== undefined, TABLES],
  ['--no-header', ({ header }) => header === false, TABLES],
  ['--append', ({ append }) => append === true, LINES],
  ['--overwrite', ({ overwrite }) => overwrite === true, ['ndjson', ...TABLES]],
]

/**
 * An option that would do nothing is a misunderstanding, of the option or of the input.
 *
 * @param name of the input
 * @throws UsageError when an option is not for the format
 */
export function checkFit(options: EnrichOptions, format: Format, name: string): void {
  for (const [flag, isGiven, formats] of FORMATS_OF) {
    if (isGiven(options) && !formats.includes(format)) {
      throw new UsageError(`${flag} is for ${formats.join(', ')}, and ${name} is ${format}.`)
    }
  }
}
