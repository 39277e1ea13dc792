// Flags of commander, made of the definitions of options.
import { type Command, InvalidArgumentError } from 'commander'
import type { OptionDefinition, OptionGroups } from '../option-kinds.ts'
import { type HelpTexts, helpOf } from './help.ts'
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
    const option = command.createOption(flags, helpOf(definition, isWhole, formatsOf?.(name)))
    option.helpGroup(`${heading}:`).makeOptionMandatory(isRequired)
    // The value has the name of the definition, and not that of the flag.
    option.attributeName = () => name
    if (option.required) {
      option.argParser((text, previous: unknown) => {
        if (isRepeatable) return collect((each) => readValue(kind, each), text, previous)
        // commander itself would let the last value win.
        if (previous !== undefined) throw new InvalidArgumentError('This option can be given only once.')
        return asArgument((each) => readValue(kind, each), text)
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

/** Adds a value to those of an option or argument that can be repeated. */
export function collect(read: (text: string) => unknown, text: string, previous: unknown): unknown[] {
  return [...(Array.isArray(previous) ? previous : []), asArgument(read, text)]
}

/** Reads the value of an option. commander prints an InvalidArgumentError with the option's name. */
function asArgument(read: (text: string) => unknown, text: string): unknown {
  try {
    return read(text)
  } catch (error) {
    if (error instanceof UsageError) throw new InvalidArgumentError(error.message)
    throw error
  }
}
