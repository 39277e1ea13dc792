/**
 * Splits the path to a value into its names. It is dotted, such as `client.ip`, or a JSON pointer (RFC 6901) such as
 * `/client/ip`, which also allows names with dots in them.
 *
 * @param option name of the option that has the path, for the message
 * @throws TypeError when it is neither
 */
export function pathOf(field: string, option: string): readonly string[] {
  if (typeof field !== 'string' || field === '' || field === '/') {
    throw new TypeError(`the option "${option}" must be a path such as client.ip or /client/ip`)
  }
  if (!field.startsWith('/')) return field.split('.')
  if (/~(?![01])/.test(field)) {
    throw new TypeError(`the option "${option}" is not a JSON pointer: "~" is written as "~0" there`)
  }
  return field
    .slice(1)
    .split('/')
    .map((name) => name.replaceAll('~1', '/').replaceAll('~0', '~'))
}

/** The shortest spelling that {@link pathOf} reads back. */
export function pathText(path: readonly string[]): string {
  const dotted = path.join('.')
  if (path.every((name) => name !== '' && !name.includes('.')) && !dotted.startsWith('/')) return dotted
  return path.map((name) => `/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`).join('')
}

/** The value that an object has at a path; `undefined` when there is none. */
export function valueAt(object: unknown, path: readonly string[]): unknown {
  let value = object
  for (const name of path) {
    if (typeof value !== 'object' || value === null) return undefined
    if (Array.isArray(value) && !/^(?:0|[1-9]\d*)$/.test(name)) return undefined
    value = Object.getOwnPropertyDescriptor(value, name)?.value
  }
  return value
}

/** The offset of a value that is not there. */
export const NOWHERE = -1

const INDEX = /^(?:0|[1-9]\d{0,9})$/

/** The path to a value in a JSON text, and where the value was found. A scanner calls it for each member. */
export class MemberPath {
  /** Where the value starts, or {@link NOWHERE}. */
  start = NOWHERE
  /** Where it ends. */
  end = NOWHERE
  /** Whether it is a string with escapes. */
  isEscaped = false
  readonly #names: readonly string[]
  readonly #keys: readonly Uint8Array[]
  readonly #indexes: readonly number[]
  /** How many names the containers around the scanner's position have matched. */
  #matched = 0
  /** Whether the member or element at the scanner's position matches the next name. */
  #isNext = false

  /** @param names of members, or indexes of arrays, from the outermost; at least one */
  constructor(names: readonly string[]) {
    const encoder = new TextEncoder()
    this.#names = names
    this.#keys = names.map((name) => encoder.encode(name))
    this.#indexes = names.map((name) => (INDEX.test(name) ? Number(name) : NOWHERE))
  }

  begin(): void {
    this.start = NOWHERE
    this.end = NOWHERE
    this.#matched = 0
    this.#isNext = false
  }

  /** The scanner meets a key of the object at `depth`: `bytes[start, end)`, with escapes and without quotes. */
  meetKey(bytes: Uint8Array, start: number, end: number, isEscaped: boolean, depth: number): void {
    if (this.#matched !== depth) return
    this.#isNext = isEscaped
      ? unescaped(bytes, start - 1, end + 1) === this.#names[depth]
      : this.#isKey(bytes, start, end, depth)
    // The last member with a name wins, even when an earlier one had the value in it and the last does not.
    if (this.#isNext) this.start = NOWHERE
  }

  meetElement(index: number, depth: number): void {
    if (this.#matched !== depth) return
    this.#isNext = this.#indexes[depth] === index
  }

  meetValue(at: number, depth: number): void {
    if (this.#isNext && this.#matched === depth && depth === this.#keys.length - 1) {
      this.start = at
      this.end = NOWHERE
    }
  }

  leaveValue(at: number, depth: number, isEscaped: boolean): void {
    if (!this.#isNext || this.#matched !== depth) return
    this.#isNext = false
    if (depth === this.#keys.length - 1) {
      this.end = at
      this.isEscaped = isEscaped
    }
  }

  /** The scanner enters the object or array at its position, to `depth`. */
  enter(depth: number): void {
    if (this.#isNext && this.#matched === depth - 1 && depth < this.#keys.length) {
      this.#matched = depth
      this.#isNext = false
    }
  }

  /** The scanner leaves an object or array, back to `depth`. */
  leave(depth: number): void {
    if (this.#matched <= depth) return
    this.#matched = depth
    this.#isNext = false
  }

  #isKey(bytes: Uint8Array, start: number, end: number, depth: number): boolean {
    const key = this.#keys[depth]
    if (key === undefined || key.length !== end - start) return false
    for (let i = 0; i < key.length; i++) if (key[i] !== bytes[start + i]) return false
    return true
  }
}

/** The text of a valid JSON string in `bytes[start, end)`, its quotes included. */
export function unescaped(bytes: Uint8Array, start: number, end: number): string {
  const text: unknown = JSON.parse(
    new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes.subarray(start, end)),
  )
  return typeof text === 'string' ? text : ''
}
