import { type FieldRole, type FieldValues, fieldIndex } from '../../counting/field-values.ts'
import type { Pattern } from './directive.ts'
import type { PatternLine } from './pattern-line.ts'
import type { PatternPlan } from './plan.ts'

const SPACE = 0x20
const DASH = 0x2d

/** The field of a whole request, and the parts of it that can be counted. */
const REQUEST = 'request'
const PARTS = ['method', 'target', 'protocol']

/** Usual names, best first, of the fields that reports count. A field `target` can be a server: only that of a request is a path. */
const USUAL: Readonly<Record<FieldRole, readonly string[]>> = {
  status: ['status', 'elb_status_code'],
  method: ['request_method', 'method'],
  bytes: ['body_bytes_sent', 'bytes_sent', 'sent_bytes', 'bytes'],
  path: ['request_uri', 'uri', 'url', 'request_target', 'target'],
}

/**
 * The names of the fields of a pattern, and of the parts of a request in it, such as `target`; `request_target` if a field has that
 * name: that of a load balancer is the server which got the request.
 */
export function fieldNamesOf({ fields }: Pattern): readonly string[] {
  const names = fields.map(({ name }) => name)
  const parts = PARTS.map((part) => (names.includes(part) ? `${REQUEST}_${part}` : part))
  return names.includes(REQUEST) ? [...names, ...parts] : names
}

export function usualFieldsOf(pattern: Pattern): Partial<Record<FieldRole, string>> {
  const names = fieldNamesOf(pattern)
  const isServer = pattern.fields.some(({ name }) => name === 'target')
  return Object.fromEntries(
    Object.entries(USUAL).flatMap(([role, usual]) => {
      const name = usual.find((each) => names.includes(each) && !(isServer && each === 'target'))
      return name === undefined ? [] : [[role, name]]
    }),
  )
}

/** The values of the fields of a line that are counted. */
export class PatternValues implements FieldValues {
  bytes: Uint8Array = new Uint8Array(0)
  start = 0
  end = 0
  readonly #line: PatternLine
  /** For each counted field its index in the pattern, or that of the request, and the word of the request; -1 for all of it. */
  readonly #places: readonly { readonly field: number; readonly word: number }[]

  constructor({ counted = [], pattern }: PatternPlan, line: PatternLine) {
    this.#line = line
    const names = fieldNamesOf(pattern)
    this.#places = counted.map((name) => {
      const field = fieldIndex(names, name)
      const isPart = field >= pattern.fields.length
      return isPart
        ? { field: names.indexOf(REQUEST), word: field - pattern.fields.length }
        : { field, word: -1 }
    })
  }

  find(counted: number): boolean {
    const { field, word } = this.#places[counted] ?? { field: 0, word: -1 }
    if (this.#line.isMissing(this.bytes, field)) return false
    this.start = this.#line.starts[field] ?? 0
    this.end = this.#line.ends[field] ?? 0
    return word === -1 || this.#findWord(word)
  }

  /** Finds a word of a request that has three. The target can have spaces. AWS writes `- http://host:80- ` for a request that is none. */
  #findWord(word: number): boolean {
    const { bytes, start, end } = this
    const first = bytes.indexOf(SPACE, start)
    const last = bytes.lastIndexOf(SPACE, end - 1)
    if (first === -1 || first >= last || last >= end) return false
    if (first === start + 1 && bytes[start] === DASH) return false
    if (word === 0) this.end = first
    else if (word === 1) [this.start, this.end] = [first + 1, last]
    else this.start = last + 1
    return true
  }
}
