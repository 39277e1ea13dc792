import type { FormatOption } from '../../enrich/formats/format-definition.ts'
import { definitionOf } from '../../enrich/formats/formats.ts'
import { type EnrichOptions, FORMATS, type Format } from '../../enrich/options.ts'
import { UsageError } from '../terminal.ts'

/** The flags of options that only some formats have. */
const FLAGS: readonly [flag: string, option: FormatOption, isGiven: (options: EnrichOptions) => boolean][] = [
  ['--field', 'field', ({ field }) => field !== undefined],
  ['--time-field', 'timeField', ({ timeField }) => timeField !== undefined],
  ['--into', 'into', ({ into }) => into !== undefined],
  ['--fields', 'fields', ({ fields }) => fields !== undefined],
  ['--no-header', 'header', ({ header }) => header === false],
  ['--append', 'append', ({ append }) => append === true],
  ['--overwrite', 'overwrite', ({ overwrite }) => overwrite === true],
]

/**
 * Refuses options that have no effect on the format: the user has mistaken the option or the input.
 *
 * @param name of the input
 * @throws UsageError when the format does not have a given option
 */
export function checkFit(options: EnrichOptions, format: Format, name: string): void {
  const own = definitionOf(format).options
  for (const [flag, option, isGiven] of FLAGS) {
    if (!isGiven(options) || own.includes(option)) continue
    const others = FORMATS.filter((each) => definitionOf(each).options.includes(option))
    throw new UsageError(`${flag} is for ${others.join(', ')}, and ${name} is ${format}.`)
  }
}
