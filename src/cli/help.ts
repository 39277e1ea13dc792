// What the help and the guides say about options. program.ts lays it out.
import type { OptionDefinition, OptionGroups } from '../option-kinds.ts'

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

function withFormats(text: string, formats: readonly string[]): string {
  return formats.length === 0
    ? text
    : `${text}. Only for ${formats.map((format) => `\`${format}\``).join(', ')}`
}

/** The options for a guide: a table for each group. @param formatsOf the formats that have an option; none for all */
export function guideTables(
  groups: OptionGroups,
  formatsOf: (name: string) => readonly string[] = () => [],
): string {
  const tables = Object.entries(groups).map(([heading, definitions]) => {
    const rows = Object.entries(definitions).map(([name, each]) => guideRow(each, formatsOf(name)))
    return `${heading === 'Options' ? '' : `**${heading}**\n\n`}| option | |\n| --- | --- |\n${rows.join('\n')}`
  })
  return tables.join('\n\n')
}

function guideRow({ flags = '', text = '' }: OptionDefinition, formats: readonly string[]): string {
  const names = flags
    .replace(/<(.*=)?(.*)>/, (_, prefix = '', value: string) => `${prefix}${value.toUpperCase()}`)
    .split(', ')
    .map((name) => `\`${name}\``)
  return `| ${names.join(', ')} | ${withFormats(text, formats).replaceAll('|', '\\|')} |`
}
