import { wrongOption } from '../option-names.ts'
import type { RequiredRowOption } from './formats/format-definition.ts'
import {
  checkOptions,
  definitionOf,
  FORMAT_DEFINITIONS,
  FORMATS,
  type Format,
  type Plan,
} from './formats/formats.ts'
import type { LineOptions, RowLineOptions } from './options.ts'
import { RAW } from './writing/json-text.ts'

/** How rows are read and what is added to them. Nothing is guessed. */
export interface RowOptions extends RowLineOptions {
  readonly format: Format
}

/** The required options that are missing. */
export function missingRowOptions(
  options: RowLineOptions & { readonly format?: Format | undefined },
): ('format' | RequiredRowOption)[] {
  const { format, field, quoting, timeField, at } = options
  if (format === undefined) return ['format']
  const given = { field, quoting, at: at ?? timeField }
  const required = FORMAT_DEFINITIONS.find(({ name }) => name === format)?.requiredForRows ?? []
  return required.filter((name) => given[name] === undefined)
}

/** Whether `timeField` can be given in place of `at`. */
export function hasTimeField(format: Format): boolean {
  return definitionOf(format).options.includes('timeField')
}

/**
 * Checks the options and makes a plan without looking at a row.
 *
 * @throws TypeError when an option is missing or wrong
 * @throws InvalidLocaleError when `locale` is not a BCP 47 tag
 * @throws EnrichError when the format has no such field, or a row would have two members with one name
 */
export function makeRowPlan(options: RowOptions): Plan {
  const { format, quoting, onBadLine = 'raw' } = options
  for (const name of missingRowOptions(options)) {
    if (name === 'at' && hasTimeField(format))
      throw wrongOption`<at> or <timeField> must be given for rows: nothing is guessed`
    throw wrongOption`<${name}> must be given for rows: nothing is guessed`
  }
  checkOptions(options)
  const definition = definitionOf(format)
  if (definition.planRows === null) {
    throw wrongOption`<format> cannot be ${format} for rows: lines before the records name their columns`
  }
  if (onBadLine !== 'raw' && onBadLine !== 'keep') {
    throw wrongOption`<onBadLine> must be raw or keep: every input row needs an output row`
  }
  const { onlyFailed, dropUnresolved }: LineOptions = options
  const leaving = onlyFailed ? 'onlyFailed' : dropUnresolved ? 'dropUnresolved' : undefined
  if (leaving !== undefined) {
    throw wrongOption`<${leaving}> is not for rows: every input row needs an output row`
  }
  if (options.append === true && options.into !== undefined) {
    throw wrongOption`<into> is not for <append>: the location has no name then`
  }
  if (options.into === RAW) throw wrongOption`<into> must not be ${RAW}`
  if (definition.planRows !== undefined) return definition.planRows(options)
  if (quoting !== undefined) throw wrongOption`<quoting> is for ${quotedFormats().join(' and ')}`
  return definition.plan(new Uint8Array(0), true, options).plan
}

/** The formats whose rows need the option `quoting`. */
function quotedFormats(): Format[] {
  return FORMATS.filter((name) => definitionOf(name).requiredForRows.includes('quoting')).sort()
}
