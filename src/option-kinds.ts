// Options as data: one definition each, of which follow the check of a call, the parser of a command, its help, its guide,
// and the messages of both.
import { CITY_NAMES, localeOf } from './location/locale.ts'
import { wrongOption } from './option-names.ts'

/** What an option takes. */
export interface OptionKind<Value> {
  /** A value in words, after "must be" for a program and "Write" for a command. */
  readonly what: string
  /** {@link what} for a command, if a program gives something else. */
  readonly write?: string
  /** Whether a program can give the value. Absent if the code that uses the option checks it. */
  readonly accepts?: (value: unknown) => boolean
  /** Reads the value on a command line; `undefined` if it is wrong. Absent if the flag has no value. */
  readonly read?: (text: string) => Value | undefined
}

export interface OptionDefinition {
  /** The flag as the help shows it: `-o, --output <file>`. Absent if no command has the option. */
  readonly flags?: string
  readonly kind: OptionKind<unknown>
  /** What it does, in Markdown. The first sentence is what `-h` says, in at most two lines. */
  readonly text?: string
  /** The value that changes nothing. The default is `false`. */
  readonly default?: unknown
  /** Whether the command collects the values of all uses into an array. Other options can be given only once. */
  readonly isRepeatable?: boolean
  readonly isRequired?: boolean
  /** Options that cannot be given with it, with the reason: `leave nothing to write`. */
  readonly excludes?: Readonly<Record<string, string>>
  /** Options without which it has no effect. */
  readonly needs?: readonly string[]
  /** What has it of lines, rows and counts; the default is all of them. */
  readonly calls?: readonly LineCall[]
}

/** What has options of lines: lines that are written or counted, and rows for other programs. */
export type LineCall = 'enrich' | 'rows' | 'count'

/** The options of a call or a command, by the names that a program gives them. */
export type OptionDefinitions = Readonly<Record<string, OptionDefinition>>

/** Whether an option is given, with another value than its default. */
export function isGiven({ default: usual = false }: OptionDefinition, value: unknown): boolean {
  return value !== undefined && value !== usual
}

/**
 * Checks values, and whether they fit together. Ignores names that have no definition.
 *
 * @throws OptionError when a value is wrong, or two options contradict each other
 */
export function checkValues(options: object, definitions: OptionDefinitions): void {
  for (const [name, definition] of Object.entries(definitions)) {
    const value: unknown = Reflect.get(options, name)
    const { accepts, what } = definition.kind
    if (value !== undefined && accepts?.(value) === false) throw wrongOption`<${name}> must be ${what}`
  }
  checkTogether(options, definitions)
}

/** @throws OptionError when two options contradict each other, or one has no effect without another */
export function checkTogether(options: object, definitions: OptionDefinitions): void {
  const has = (name: string): boolean => {
    const definition = definitions[name]
    return definition !== undefined && isGiven(definition, Reflect.get(options, name))
  }
  for (const [name, { excludes = {}, needs = [] }] of Object.entries(definitions)) {
    if (!has(name)) continue
    for (const [other, why] of Object.entries(excludes)) {
      if (has(other)) throw wrongOption`<${name}, ${other}> ${why}: use one of them`
    }
    const missing = needs.find((each) => !has(each))
    if (missing !== undefined) throw wrongOption`<${name}> needs <${missing}>`
  }
}

/** The options of a command, by their headings in the help and the guide. */
export type OptionGroups = Readonly<Record<string, OptionDefinitions>>

/** The options of all groups. */
export function allOptions(groups: OptionGroups): OptionDefinitions {
  return Object.assign({}, ...Object.values(groups))
}

/** The flag of an option: `--output`; `undefined` if the command does not have the option. */
export function flagOf(groups: OptionGroups, name: string): string | undefined {
  return allOptions(groups)
    [name]?.flags?.split(/,? /)
    .find((word) => word.startsWith('--'))
}

/** A flag without a value. */
export const SWITCH: OptionKind<boolean> = {
  what: 'true or false',
  accepts: (value) => typeof value === 'boolean',
}

/** Text that is checked where it is used. */
export const TEXT: OptionKind<string> = {
  what: 'a text',
  accepts: (value) => typeof value === 'string',
  read: (text) => (text === '' ? undefined : text),
}

/** A name that is checked where it is used. */
export const NAME: OptionKind<string> = {
  what: 'a name, such as location',
  read: (text) => (text === '' ? undefined : text),
}

/** A list, separated by commas. The code that uses its items checks them. */
export const LIST: OptionKind<readonly string[]> = { what: 'a list', read: (text) => text.split(',') }

export function oneOf<Choice extends string>(choices: readonly Choice[]): OptionKind<Choice> {
  return {
    what: `one of ${choices.join(', ')}`,
    accepts: (value) => choices.some((choice) => choice === value),
    read: (text) => choices.find((choice) => choice === text),
  }
}

/** Whole numbers, which a command takes in digits only. */
export function wholeNumber(least: number, most: number): OptionKind<number> {
  const accepts = (value: unknown): boolean =>
    typeof value === 'number' && Number.isSafeInteger(value) && value >= least && value <= most
  return {
    what: `a whole number from ${least} to ${most}`,
    accepts,
    read: (text) => (/^\d{1,10}$/.test(text) && accepts(Number(text)) ? Number(text) : undefined),
  }
}

/** An ISO 8601 time with its offset, or a date, which means 00:00 UTC. */
const TIME = /^\d{4}-\d{2}-\d{2}(T\d{2}:\d{2}(:\d{2}(\.\d+)?)?(Z|[+-]\d{2}:\d{2}))?$/

export const INSTANT: OptionKind<Date> = {
  what: 'it as 2026-07-01 or 2026-07-01T12:00:00Z, with Z or an offset',
  read: (text) => {
    const instant = new Date(text)
    return TIME.test(text) && !Number.isNaN(instant.getTime()) && isDayOfMonth(text) ? instant : undefined
  },
}

/** Some JavaScript engines read 31 February as 3 March. */
function isDayOfMonth(text: string): boolean {
  const day = text.slice(0, 10)
  return new Date(`${day}T00:00:00Z`).toISOString().startsWith(day)
}

const LOCALE_TAG: OptionKind<string> = {
  what: 'a BCP 47 language tag, such as en, pt-BR or zh-Hant',
  read: (text) => {
    try {
      return localeOf(text) && text
    } catch {
      return undefined // an InvalidLocaleError
    }
  },
}

export const LOCALE = {
  locale: {
    flags: '--locale <tag>',
    kind: LOCALE_TAG,
    text: 'the language of the names of countries and regions',
  },
  cityNames: {
    flags: '--city-names <language>',
    kind: oneOf(CITY_NAMES),
    text: 'the language of the names of cities: `en`, or `locale` for that of `--locale` (default: `en`). A name that the database does not have is in English',
  },
} as const satisfies OptionDefinitions

export const ASN_SWITCH = {
  flags: '--asn',
  kind: SWITCH,
  text: 'add `asn`, the number and the name of the autonomous system of the network. It is the system that operates the network, from the embedded database',
} as const satisfies OptionDefinition
