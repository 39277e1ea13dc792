import { quoted } from './errors.ts'

/** An option is wrong. Its message names options as the caller writes them. */
export class OptionError extends TypeError {
  readonly #text: (nameOf: (name: string) => string) => string

  /** @param text makes the message. It gets how an option is named */
  constructor(text: (nameOf: (name: string) => string) => string) {
    super(text((name) => name))
    this.#text = text
  }

  /** The message with flags. @param flagOf the flag of an option; `undefined` if the command does not have it */
  inFlags(flagOf: (name: string) => string | undefined): string {
    return this.#text((name) => flagOf(name) ?? name)
  }
}

/**
 * Makes an {@link OptionError} of a template, in which `<into>` is the option "into", or `--into`, and `<append, to>` are the
 * options "append" and "to".
 */
export function wrongOption(parts: readonly string[], ...values: readonly (string | number)[]): OptionError {
  const marked = parts.map((part) => part.replaceAll('<', START).replaceAll('>', END))
  const text = String.raw({ raw: marked }, ...values)
  return new OptionError((nameOf) => {
    let isFirst = true
    return text.replace(NAMES, (_, list: string) => {
      const [first = '', ...others] = list.split(', ')
      const article = !isFirst || nameOf(first) !== first ? '' : `the option${others.length > 0 ? 's' : ''} `
      isFirst = false
      const named = (name: string): string => (nameOf(name) === name ? `"${name}"` : nameOf(name))
      return article + [first, ...others].map(named).join(' and ')
    })
  })
}

/** Marks around names. No value has control characters. */
const START = '\u0001'
const END = '\u0002'
const NAMES = /* @__PURE__ */ new RegExp(`${START}([^${END}]*)${END}`, 'g')

/** The names of an options object. The type checker finds a name that is missing, and one that does not exist. */
export type NamesOf<Options> = { readonly [Name in keyof Options]-?: true }

/**
 * Refuses options whose names a call does not have: a misspelled option would be ignored, and with it what it protects.
 *
 * @param call how the user wrote it, such as `Resolver.open`
 * @throws TypeError when the options are not an object, or have an unknown name
 */
export function checkOptionNames(
  call: string,
  options: unknown,
  names: Readonly<Record<string, unknown>>,
): void {
  if (options === undefined) return
  if (typeof options !== 'object' || options === null || Array.isArray(options))
    throw notAnObject(call, options, names)
  for (const name in options) {
    // A program that adds members to the prototype of all objects gives them to all options.
    if (Object.hasOwn(names, name) || name in Object.prototype) continue
    const known = Object.keys(names)
    const near = nearestName(name, known)
    const list = known.length === 1 ? known[0] : `${known.slice(0, -1).join(', ')} and ${known.at(-1)}`
    const advice = near === undefined ? `its options are ${list}` : `did you mean ${quoted(near)}?`
    throw new TypeError(`${call} has no option ${quoted(name)}: ${advice}`)
  }
}

function notAnObject(call: string, options: unknown, names: Readonly<Record<string, unknown>>): TypeError {
  const kind = options === null ? 'null' : Array.isArray(options) ? 'an array' : `a ${typeof options}`
  const callback =
    typeof options === 'function' ? ' Geofix calls no callback: use what the call returns.' : ''
  return new TypeError(
    `the options of ${call} must be an object, such as { ${Object.keys(names)[0]}: … }, not ${kind}.${callback}`,
  )
}

/** Longer names are not compared. Two names of which one starts with the other differ by less than one character. */
const MAX_NAME_CHARS = 60

/** The name that was probably meant; `undefined` if none is similar. */
export function nearestName(name: string, known: readonly string[]): string | undefined {
  if (name.length > MAX_NAME_CHARS) return undefined
  const plain = (text: string): string => text.toLowerCase().replace(/[-_]/g, '')
  const given = plain(name)
  let nearest: string | undefined
  let least = Number.POSITIVE_INFINITY
  for (const each of known) {
    const candidate = plain(each)
    const [shorter, longer] = given.length < candidate.length ? [given, candidate] : [candidate, given]
    const isStart = shorter.length > 1 && longer.startsWith(shorter)
    const distance = isStart
      ? Math.abs(given.length - candidate.length) / 100
      : editDistance(given, candidate)
    if (distance > Math.max(given.length, candidate.length) * 0.4 || distance >= least) continue
    nearest = each
    least = distance
  }
  return nearest
}

/** How many characters must be inserted, deleted or replaced to make one text the other (Levenshtein distance). */
function editDistance(from: string, to: string): number {
  let row = Array.from({ length: to.length + 1 }, (_, column) => column)
  for (let at = 0; at < from.length; at++) {
    const next = [at + 1]
    for (let column = 0; column < to.length; column++) {
      const replaced = (row[column] ?? 0) + (from[at] === to[column] ? 0 : 1)
      next.push(Math.min(replaced, (row[column + 1] ?? 0) + 1, (next[column] ?? 0) + 1))
    }
    row = next
  }
  return row[to.length] ?? 0
}
