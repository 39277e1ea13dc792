import type { DataSection } from './data-section.ts'
import { DataType } from './format.ts'
import { MAX_KEY } from './limits.ts'

/** The way to a field: keys of maps, and 0 for the first element of an array. */
export type Path = readonly (string | 0)[]

/** A reader's memory of where keys are stored is emptied beyond this many, which no honest file has. */
const MAX_KNOWN_KEYS = 4096

/** No code, name or identifier of a place is longer; caches keep them, so their length is bounded. Bytes. */
const MAX_TEXT = 512

/** The names of one place in all its languages. Bytes. */
const MAX_TEXTS = 8192

/** The languages of those names: each must be compared with the one that is asked for. */
const MAX_LANGUAGES = 256

/** Stands for the offset of a field that the record does not have. */
const ABSENT = 0

/** One step of the paths, merged: which fields lie in which child. */
interface Step {
  /** The field that ends here, or -1. */
  readonly field: number
  readonly children: Map<string, Step>
  first: Step | null
  /** All fields that end here or below. */
  readonly below: number[]
  /** Children by where their key is stored: a file stores each key once and points to it. */
  readonly known: Map<number, Step | null>
}

/**
 * Reads a few fields of a record off the bytes, without decoding the rest. Agrees with a full decoder:
 * of a key that comes twice in a map, the last one counts.
 */
export class FieldReader<Name extends string> {
  readonly #data: DataSection
  readonly #root: Step
  readonly #indices: Readonly<Record<Name, number>>
  readonly #offsets: Float64Array

  constructor(data: DataSection, paths: Readonly<Record<Name, Path>>) {
    this.#data = data
    const names = Object.keys(paths) as Name[] // Object.keys forgets the key type of a record
    this.#indices = Object.fromEntries(names.map((name, index) => [name, index])) as Record<Name, number>
    this.#offsets = new Float64Array(names.length)
    this.#root = newStep(-1)
    for (const [index, name] of names.entries()) insert(this.#root, paths[name], index)
  }

  /** Finds the fields of one record; the accessors below then answer for it. */
  read(offset: number): void {
    this.#offsets.fill(ABSENT)
    this.#data.begin()
    this.#collect(this.#root, offset)
  }

  /** The field as text; `null` when it is absent, empty or of another type. */
  text(name: Name): string | null {
    return this.#open(name) ? this.#shortText() || null : null
  }

  /** The field as a number; `null` when it is absent or of another type. */
  number(name: Name): number | null {
    return this.#open(name) ? this.#data.number() : null
  }

  /**
   * Where a field that is a map stands; `null` when it is absent or of another type. Records that share a map
   * through pointers have the same offset for it.
   */
  mapOffset(name: Name): number | null {
    return this.#open(name) && this.#data.type === DataType.map ? this.#data.opened : null
  }

  /** The entries of a map that are text, such as the names by language. */
  texts(name: Name): Map<string, string> {
    const texts = new Map<string, string>()
    const data = this.#data
    if (!this.#open(name) || data.type !== DataType.map) return texts
    let at = data.start
    let bytes = 0
    for (let pairs = data.size; pairs > 0; pairs--) {
      const key = this.#key(at)
      bytes += data.size
      const value = data.after
      at = data.skip(value)
      data.open(value)
      const text = this.#shortText()
      if (text !== null) bytes += data.size
      if (bytes > MAX_TEXTS) throw data.fault(`a place has more than ${MAX_TEXTS} bytes of names`, value)
      if (text) texts.set(key, text)
      else texts.delete(key)
      if (texts.size > MAX_LANGUAGES) {
        throw data.fault(`a place has names in more than ${MAX_LANGUAGES} languages`, value)
      }
    }
    return texts
  }

  /**
   * Of a map of names by language, the English one, else the first; `null` when there is none. The others are not
   * decoded, so that a key which comes twice can be told in its first place.
   */
  nameIn(name: Name): string | null {
    const data = this.#data
    if (!this.#open(name) || data.type !== DataType.map) return null
    let found: string | null = null
    let at = data.start
    for (let pairs = data.size; pairs > 0; pairs--) {
      const isEnglish = this.#key(at).toLowerCase() === 'en'
      const value = data.after
      at = data.skip(value)
      if (!isEnglish && found !== null) continue
      data.open(value)
      found = this.#shortText() || found
    }
    return found
  }

  #open(name: Name): boolean {
    const offset = this.#offsets[this.#indices[name]] ?? ABSENT
    if (offset === ABSENT) return false
    this.#data.open(offset)
    return true
  }

  #shortText(): string | null {
    const data = this.#data
    if (data.type === DataType.utf8String && data.size > MAX_TEXT) {
      throw data.fault(`a field of a place is longer than ${MAX_TEXT} bytes`, data.opened)
    }
    return data.text()
  }

  #key(at: number): string {
    const data = this.#data
    data.open(at)
    if (data.type === DataType.utf8String && data.size > MAX_KEY) {
      throw data.fault(`the key of a map is longer than ${MAX_KEY} bytes`, at)
    }
    const key = data.text()
    if (key === null) throw data.fault('the key of a map is not text', at)
    return key
  }

  #collect(step: Step, offset: number): void {
    const data = this.#data
    if (step.field >= 0) this.#offsets[step.field] = offset
    if (step.children.size === 0 && step.first === null) return
    data.open(offset)
    const { type, size, start } = data
    if (type === DataType.array && step.first !== null && size > 0) this.#collect(step.first, start)
    if (type !== DataType.map || step.children.size === 0) return
    let at = start
    for (let pairs = size; pairs > 0; pairs--) {
      const child = this.#childAt(step, at)
      const value = data.after
      if (child !== null) {
        for (const field of child.below) this.#offsets[field] = ABSENT
        this.#collect(child, value)
      }
      at = data.skip(value)
    }
  }

  /** Opens the key at an offset and finds the step behind it. Leaves `after` at the value. */
  #childAt(step: Step, at: number): Step | null {
    const data = this.#data
    data.open(at)
    if (!data.viaPointer) return step.children.get(this.#key(at)) ?? null
    const stored = data.opened
    const known = step.known.get(stored)
    if (known !== undefined) return known
    const child = step.children.get(this.#key(at)) ?? null
    if (step.known.size >= MAX_KNOWN_KEYS) step.known.clear()
    step.known.set(stored, child)
    return child
  }
}

function newStep(field: number): Step {
  return { field, children: new Map(), first: null, below: [], known: new Map() }
}

function insert(root: Step, path: Path, field: number): void {
  let step = root
  for (const [depth, key] of path.entries()) {
    const ends = depth === path.length - 1
    let next: Step | null | undefined = key === 0 ? step.first : step.children.get(key)
    if (!next) {
      next = newStep(ends ? field : -1)
      if (key === 0) step.first = next
      else step.children.set(key, next)
    } else if (ends || next.field >= 0) {
      throw new TypeError(`two fields end at ${path.join('.')}, or one lies within another`)
    }
    next.below.push(field)
    step = next
  }
}
