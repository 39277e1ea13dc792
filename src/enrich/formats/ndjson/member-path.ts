import { wrongOption } from '../../../option-names.ts'
import { BACKSLASH, BRACE, BRACKET, COMMA } from '../../ascii.ts'
import { SampleField } from '../../reading/field-guess.ts'
import { closingOf, isText, scalarEnd, skipBlanks, valueEnd } from './json-scanner.ts'

/** The offset of a value that is not there. */
export const NOWHERE = -1

/** The path to a value in an object, and where {@link findMembers} or a template found the value, with its quotes. */
export class MemberPath {
  start = NOWHERE
  end = NOWHERE
  readonly #texts: readonly Uint8Array[]

  /** @param names of members, or indexes of arrays, from the outermost; at least one */
  constructor(readonly names: readonly string[]) {
    this.#texts = names.map((name) => new TextEncoder().encode(name))
  }

  /** Whether its name at a depth is the JSON string in `bytes[start, end)`. */
  isAt(depth: number, bytes: Uint8Array, start: number, end: number): boolean {
    const text = this.#texts[depth] ?? bytes
    if (isText(bytes, start + 1, end - 1, text)) return true
    // An escape takes more bytes than the character that it encodes.
    if (end - start - 2 <= text.length || !hasEscape(bytes, start, end)) return false
    return unescaped(bytes, start, end) === this.names[depth]
  }
}

/**
 * Finds the values at paths in a valid object or array. The last member with a name wins, as in `JSON.parse`.
 *
 * @param start of the object or array, after any white space
 * @param depth index in each path of the name of its member
 */
export function findMembers(
  paths: readonly MemberPath[],
  bytes: Uint8Array,
  view: DataView,
  start: number,
  end: number,
  depth = 0,
): void {
  for (const path of paths) path.start = NOWHERE
  const opening = bytes[start]
  if (opening !== BRACE && opening !== BRACKET) return
  let at = skipBlanks(bytes, start + 1, end)
  for (let index = 0; bytes[at] !== closingOf(opening); index++) {
    const name = at
    const nameEnd = opening === BRACE ? scalarEnd(bytes, view, name, end) : at
    if (opening === BRACE) at = skipBlanks(bytes, skipBlanks(bytes, nameEnd, end) + 1, end)
    for (const path of paths) {
      const isNamed =
        opening === BRACE ? path.isAt(depth, bytes, name, nameEnd) : path.names[depth] === String(index)
      if (isNamed) path.start = at
    }
    at = skipBlanks(bytes, valueEnd(bytes, view, at, end), end)
    if (bytes[at] === COMMA) at = skipBlanks(bytes, at + 1, end)
  }
  for (const path of paths) {
    if (path.start === NOWHERE) continue
    if (path.names.length === depth + 1) path.end = valueEnd(bytes, view, path.start, end)
    else findMembers([path], bytes, view, path.start, end, depth + 1)
  }
}

export function hasEscape(bytes: Uint8Array, start: number, end: number): boolean {
  for (let at = start; at < end; at++) if (bytes[at] === BACKSLASH) return true
  return false
}

/** The text of a valid JSON string in `bytes[start, end)`, its quotes included. */
export function unescaped(bytes: Uint8Array, start: number, end: number): string {
  const text = new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes.subarray(start, end))
  return String(JSON.parse(text))
}

/**
 * Splits the path to a value into its names. It is dotted, such as `client.ip`, or a JSON pointer (RFC 6901) such as
 * `/client/ip`, which also allows names with dots in them.
 *
 * @param option name of the option that has the path, for the message
 * @throws TypeError when it is neither
 */
export function pathOf(field: string, option: string): readonly string[] {
  if (typeof field !== 'string' || field === '' || field === '/') {
    throw wrongOption`<${option}> must be a path such as client.ip or /client/ip`
  }
  if (!field.startsWith('/')) return field.split('.')
  if (/~(?![01])/.test(field)) {
    throw wrongOption`<${option}> is not a JSON pointer: "~" is written as "~0" there`
  }
  const names = field.slice(1).split('/')
  return names.map((name) => name.replaceAll('~1', '/').replaceAll('~0', '~'))
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

/** The most levels of objects, and the most fields, that are considered in a sample. */
const MAX_DEPTH = 5
const MAX_FIELDS = 2000
/** Fields with more characters in the names of their path are not considered. */
const MAX_PATH_CHARS = 256

/**
 * Collects the fields of objects: members with text, and members with a usual name for an address or a time that have a
 * number or `null`. It considers the first 2,000, up to five levels deep, with paths of up to 256 characters. Arrays are skipped.
 *
 * @param except name of a member of the outermost objects that is skipped, or `null`
 */
export function fieldsOf(objects: readonly object[], except: string | null): SampleField[] {
  const fields = new Map<string, SampleField>()
  const visit = (value: unknown, path: readonly string[], length: number): void => {
    if (typeof value === 'string' || typeof value === 'number' || value === null) {
      const key = pathText(path)
      const field = fields.get(key) ?? new SampleField(path)
      if (!fields.has(key)) {
        const isUsual = field.mayBeTime || field.mayBeAddress
        if (fields.size >= MAX_FIELDS || (typeof value !== 'string' && !isUsual)) return
        fields.set(key, field)
      }
      field.add(value)
    } else if (typeof value === 'object' && !Array.isArray(value) && path.length < MAX_DEPTH) {
      for (const [name, inner] of Object.entries(value)) {
        const inside = length + name.length
        const isSkipped = inside > MAX_PATH_CHARS || (path.length === 0 && name === except)
        if (!isSkipped) visit(inner, [...path, name], inside)
      }
    }
  }
  for (const object of objects) visit(object, [], 0)
  return [...fields.values()]
}
