import type { DataSection } from './data-section.ts'
import { DataType, MAX_KEY_BYTES } from './format.ts'

/** The path to a field: keys of maps, and 0 for the first element of an array. */
export type Path = readonly (string | 0)[]

/** Stored keys that a reader keeps for one map. Real files have fewer; the cache is cleared when it is full. */
const MAX_KNOWN_KEYS = 4096

/** Size of a code, name or identifier. Caches keep them, so their size is limited. */
const MAX_TEXT_BYTES = 512

/** Size of the names of one location in all languages. */
const MAX_NAMES_BYTES = 8192

/** Languages of the names of one location. Each is compared with the requested language. */
const MAX_LANGUAGES = 256

/** The offset of a field that the record does not have. */
const ABSENT = 0

/** A node of the tree that all paths form together. */
interface PathNode {
  /** The field that ends here, or -1. */
  readonly field: number
  /** By key of a map. */
  readonly children: Map<string, PathNode>
  /** For the first element of an array. */
  first: PathNode | null
  /** All fields that end here or below. */
  readonly below: number[]
  /** Children by offset of their key: a file stores each key once and points to it, so most keys need no decoding. */
  readonly childByKeyOffset: Map<number, PathNode | null>
}

/**
 * Reads a few fields of a record from the bytes, without decoding the rest. Agrees with a full decoder: if a key
 * occurs twice in a map, the last one counts. Ten times as fast as decoding whole records with mmdb-lib.
 */
export class FieldReader<Name extends string> {
  readonly #data: DataSection
  readonly #root: PathNode
  readonly #indices: Readonly<Record<Name, number>>
  readonly #offsets: Float64Array

  constructor(data: DataSection, paths: Readonly<Record<Name, Path>>) {
    this.#data = data
    const names = Object.keys(paths) as Name[] // Object.keys loses the key type of a record
    this.#indices = Object.fromEntries(names.map((name, index) => [name, index])) as Record<Name, number>
    this.#offsets = new Float64Array(names.length)
    this.#root = newPathNode(-1)
    for (const [index, name] of names.entries()) insert(this.#root, paths[name], index)
  }

  /** Finds the fields of one record. The accessors below then read from this record. */
  read(offset: number): void {
    this.#offsets.fill(ABSENT)
    this.#data.beginRecord()
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
   * Where a field that is a map starts; `null` when it is absent or of another type. Records that share a map
   * by pointers have the same offset for it.
   */
  mapOffset(name: Name): number | null {
    return this.#open(name) && this.#data.type === DataType.map ? this.#data.fieldOffset : null
  }

  /** The entries of a map that are non-empty text, such as names by language. */
  texts(name: Name): Map<string, string> {
    const texts = new Map<string, string>()
    const data = this.#data
    if (!this.#open(name) || data.type !== DataType.map) return texts
    let at = data.start
    let bytes = 0
    for (let pairs = data.size; pairs > 0; pairs--) {
      const key = this.#key(at)
      bytes += data.size
      const value = data.next
      at = data.skip(value)
      data.open(value)
      const text = this.#shortText()
      if (text !== null) bytes += data.size
      if (bytes > MAX_NAMES_BYTES)
        throw data.fault(`a location has more than ${MAX_NAMES_BYTES} bytes of names`, value)
      if (text) texts.set(key, text)
      else texts.delete(key)
      if (texts.size > MAX_LANGUAGES) {
        throw data.fault(`a location has names in more than ${MAX_LANGUAGES} languages`, value)
      }
    }
    return texts
  }

  /**
   * From a map of names by language, the English name, or else the first one; `null` when there is no name. Does not
   * decode other names, so for a language that occurs twice the first name may count.
   */
  defaultName(name: Name): string | null {
    const data = this.#data
    if (!this.#open(name) || data.type !== DataType.map) return null
    let found: string | null = null
    let at = data.start
    for (let pairs = data.size; pairs > 0; pairs--) {
      const isEnglish = this.#key(at).toLowerCase() === 'en'
      const value = data.next
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
    if (data.type === DataType.utf8String && data.size > MAX_TEXT_BYTES) {
      throw data.fault(`a text field is longer than ${MAX_TEXT_BYTES} bytes`, data.fieldOffset)
    }
    return data.text()
  }

  #key(at: number): string {
    const data = this.#data
    data.open(at)
    if (data.type === DataType.utf8String && data.size > MAX_KEY_BYTES) {
      throw data.fault(`the key of a map is longer than ${MAX_KEY_BYTES} bytes`, at)
    }
    const key = data.text()
    if (key === null) throw data.fault('the key of a map is not text', at)
    return key
  }

  #collect(node: PathNode, offset: number): void {
    const data = this.#data
    if (node.field >= 0) this.#offsets[node.field] = offset
    if (node.children.size === 0 && node.first === null) return
    data.open(offset)
    const { type, size, start } = data
    if (type === DataType.array && node.first !== null && size > 0) this.#collect(node.first, start)
    if (type !== DataType.map || node.children.size === 0) return
    let at = start
    for (let pairs = size; pairs > 0; pairs--) {
      const child = this.#childAt(node, at)
      const value = data.next
      if (child !== null) {
        for (const field of child.below) this.#offsets[field] = ABSENT
        this.#collect(child, value)
      }
      at = data.skip(value)
    }
  }

  /** Opens the key at an offset and finds its path node. Afterwards the cursor's `next` is the value. */
  #childAt(node: PathNode, at: number): PathNode | null {
    const data = this.#data
    data.open(at)
    if (!data.viaPointer) return node.children.get(this.#key(at)) ?? null
    const stored = data.fieldOffset
    const known = node.childByKeyOffset.get(stored)
    if (known !== undefined) return known
    const child = node.children.get(this.#key(at)) ?? null
    if (node.childByKeyOffset.size >= MAX_KNOWN_KEYS) node.childByKeyOffset.clear()
    node.childByKeyOffset.set(stored, child)
    return child
  }
}

function newPathNode(field: number): PathNode {
  return { field, children: new Map(), first: null, below: [], childByKeyOffset: new Map() }
}

function insert(root: PathNode, path: Path, field: number): void {
  let node = root
  for (const [depth, key] of path.entries()) {
    const ends = depth === path.length - 1
    let next: PathNode | null | undefined = key === 0 ? node.first : node.children.get(key)
    if (!next) {
      next = newPathNode(ends ? field : -1)
      if (key === 0) node.first = next
      else node.children.set(key, next)
    } else if (ends || next.field >= 0) {
      throw new TypeError(`two fields have the path ${path.join('.')}, or one contains the other`)
    }
    next.below.push(field)
    node = next
  }
}
