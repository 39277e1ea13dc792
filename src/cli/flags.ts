// What the definitions of options give: the flags of commander, and the help, which program.ts lays out.
import { type Command, InvalidArgumentError } from 'commander'
import type { OptionDefinition, OptionGroups } from '../option-kinds.ts'
import { UsageError } from './terminal.ts'

/** Adds the options of a command. @param isWhole whether the help has all that is known about each */
export function addOptions(
  command: Command,
  groups: OptionGroups,
  isWhole: boolean,
  { mostUsed = [], formatsOf }: Partial<HelpTexts> = {},
): void {
  const all = Object.entries(groups).flatMap(([heading, definitions]) =>
    Object.entries(definitions).map(([name, definition]) => {
      const isFirst = mostUsed.includes(name)
      return { name, definition, isFirst, heading: isFirst ? 'Most used' : heading }
    }),
  )
  const sorted = [...all.filter(({ isFirst }) => isFirst), ...all.filter(({ isFirst }) => !isFirst)]
  for (const { name, definition, heading } of sorted) {
    const { flags, kind, isRepeatable = false, isRequired = false } = definition
    if (flags === undefined) continue
    const text = helpOf(definition, isWhole, formatsOf?.(name))
    const option = command.createOption(flags, isRequired ? `required: ${text}` : text)
    option.helpGroup(`${heading}:`).makeOptionMandatory(isRequired)
    // The value has the name of the definition, and not that of the flag.
    option.attributeName = () => name
    if (option.required) {
      option.argParser((text, previous: unknown) => {
        // commander itself would let the last value win.
        if (previous !== undefined && !isRepeatable)
          throw new InvalidArgumentError('This option can be given only once.')
        const values = collect((each) => readValue(kind, each), text, previous)
        return isRepeatable ? values : values[0]
      })
    }
    command.addOption(option)
  }
  if (mostUsed.length === 0 || !isWhole) return
  // The text of an option can be long: it has the whole width.
  command.configureHelp({
    formatItem: (term, _, description, helper) => {
      const width = (helper.helpWidth ?? DEFAULT_WIDTH) - TEXT_INDENT
      const text = helper.boxWrap(description, width).replace(/^/gm, ' '.repeat(TEXT_INDENT))
      return `  ${term}\n${text}`
    },
  })
}

/** Columns of a terminal whose width is not known. */
const DEFAULT_WIDTH = 80
const TEXT_INDENT = 6

/** @throws UsageError when the text is not of this kind */
function readValue({ read, what, write = what }: OptionDefinition['kind'], text: string): unknown {
  const value = read?.(text)
  if (value === undefined) throw new UsageError(`Write ${write}.`)
  return value
}

/** Adds a value to those of an option or argument. commander prints an InvalidArgumentError with the name of these. */
export function collect(read: (text: string) => unknown, text: string, previous: unknown): unknown[] {
  try {
    return [...(Array.isArray(previous) ? previous : []), read(text)]
  } catch (error) {
    throw error instanceof UsageError ? new InvalidArgumentError(error.message) : error
  }
}

/** What the help of a command says besides its options. */
export interface HelpTexts {
  /** The options that come first. */
  readonly mostUsed: readonly string[]
  /** The formats that have an option; none for all. */
  readonly formatsOf?: (name: string) => readonly string[]
  /** What the arguments are, and the like; only in `--help`. */
  readonly about: string
  /** The first ones are also in `-h`. */
  readonly examples: readonly string[]
  /** The exit statuses; only in `--help`. */
  readonly statuses: string
}

/** The short help has this many examples. The whole help has all. */
const EXAMPLES_SHOWN = 6

/** The text after the options. @param command as it is called, such as `geofix enrich` */
export function textAfter(
  { about, examples, statuses }: HelpTexts,
  command: string,
  isWhole: boolean,
): string {
  const shown = (isWhole ? examples : examples.slice(0, EXAMPLES_SHOWN)).map((line) => `  ${line}`).join('\n')
  return isWhole
    ? `\n${about}\n\nExamples:\n${shown}\n\n${statuses}`
    : `\nExamples:\n${shown}\n\n${command} --help says more about each option.`
}

/**
 * What the help says about an option, without Markdown.
 *
 * @param isWhole as `--help` does, and not only the first sentence, as `-h` does
 * @param formats those that have it; none for all
 */
export function helpOf(
  { text = '' }: OptionDefinition,
  isWhole: boolean,
  formats: readonly string[] = [],
): string {
  const shown = isWhole ? withFormats(text, formats) : text.replace(/\. .*$/s, '')
  return shown.replaceAll('`', '').replace(/\[([^\]]*)\]\([^)]*\)/g, '$1')
}

/** @param formats those that have the option; none for all */
export function withFormats(text: string, formats: readonly string[]): string {
  return formats.length === 0
    ? text
    : `${text}. Only for ${formats.map((format) => `\`${format}\``).join(', ')}`
}
