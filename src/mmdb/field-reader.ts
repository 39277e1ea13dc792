import type { DataSection } from './data-section.ts'
import { DataType, MAX_KEY_BYTES } from './format.ts'

/** The path to a field: keys of maps, and 0 for the first element of an array. */
export type Path = readonly (string | 0)[]

/** The most stored keys that are remembered, so that none is decoded twice. A hostile file can have many long ones. */
const MAX_STORED_KEYS = 4096

/** Size of a code, name or identifier. Caches keep them, so their size is limited. */
export const MAX_TEXT_BYTES = 512

/** Size of the names of one location in all languages. */
const MAX_NAMES_BYTES = 8192

/** Languages of the names of one location. Each is compared with the requested language. */
const MAX_LANGUAGES = 256

/** Keys in the path of a field. */
export const MAX_PATH_LENGTH = 7

/** A number that is written as text: digits with a point. */
const DECIMAL = /^[+-]?(?:\d{1,15}(?:\.\d*)?|\.\d+)$/

/** Size of a number that is written as text. Longer text is not a number. */
const MAX_DECIMAL_BYTES = 64

/** The number that a text has in decimal digits, with spaces around it or without; `null` for other text. */
export function decimalOf(text: string): number | null {
  const digits = text.trim()
  return DECIMAL.test(digits) ? Number(digits) : null
}

/** The texts of a map. */
export interface StoredTexts {
  /** Where each text is stored, by its key. */
  readonly offsets: ReadonlyMap<string, number>
  /** Bytes of the keys and the texts. */
  readonly bytes: number
}

/** The offset of a field that the record does not have. */
const ABSENT = -1

/** The offset of a text that the record does not have. */
export const NO_TEXT = ABSENT

/** A node of the tree that all paths form together. */
interface PathNode {
  /** The field that ends here, or {@link ABSENT}. */
  readonly field: number
  /** Keys on the way from the record. */
  readonly depth: number
  /** Children by the key of a map. */
  readonly children: Map<string, PathNode>
  /** The child for the first element of an array. */
  first: PathNode | null
  /** All fields that end here or below. */
  readonly below: number[]
}

/**
 * Reads a few fields of a record from the bytes, without decoding the rest. Agrees with a full decoder: if a key
 * occurs twice in a map, the last one counts.
 *
 * Files store equal values once and point to them. A pointer is followed only when one of its fields is asked
 * for, so that a caller who knows it from another record by {@link identify} does not read it again.
 */
export class FieldReader {
  readonly #data: DataSection
  readonly #root = newPathNode(ABSENT, 0)
  /** Numbers of fields by their names. */
  readonly #indices: Readonly<Record<string, number>>
  /** The offset of each field. If a pointer on its path was not followed yet, the offset of the value that has the pointer's target. */
  readonly #offsets: Int32Array
  /** The path node of the value that contains each field; `null` if the offset is that of the field itself. */
  readonly #pending: (PathNode | null)[]
  /** Keys by the offset where each is stored once. */
  readonly #keys = new Map<number, string>()

  /** @param paths of fields by their names, of {@link MAX_PATH_LENGTH} keys at most. None leads through the value of another */
  constructor(data: DataSection, paths: Readonly<Record<string, Path>>) {
    this.#data = data
    const names = Object.keys(paths)
    this.#offsets = new Int32Array(names.length)
    this.#pending = names.map(() => null)
    this.#indices = Object.fromEntries(names.map((name, index) => [name, index]))
    for (const [index, path] of Object.values(paths).entries()) insert(this.#root, path, index)
  }

  /** Finds the fields of one record. The accessors below then read from this record. */
  read(offset: number): void {
    this.#offsets.fill(ABSENT)
    this.#pending.fill(null)
    this.#data.beginRecord()
    this.#data.open(offset)
    this.#collect(this.#root)
  }

  /**
   * Writes numbers that identify the values of some fields: the offset of each, then one number for the depths of the
   * paths to these offsets. Call it after `read`, before the accessors. Records with the same numbers have the same values.
   *
   * @param into has room for one number more than there are fields
   */
  identify(indices: readonly number[], into: Int32Array): void {
    let depths = 0
    for (let i = 0; i < indices.length; i++) {
      const index = indices[i] ?? ABSENT
      into[i] = this.#offsets[index] ?? ABSENT
      depths = depths * (MAX_PATH_LENGTH + 1) + (this.#pending[index]?.depth ?? 0)
    }
    into[indices.length] = depths
  }

  /** The index of a field, for {@link identify}. */
  indexOf(name: string): number {
    return this.#indices[name] ?? ABSENT
  }

  /** The field as text; `null` when it is absent, empty or of another type. */
  text(name: string): string | null {
    return this.textOffset(name) === NO_TEXT ? null : this.#data.text()
  }

  /** Where the same text is, for {@link textAt}; {@link NO_TEXT} when there is none. */
  textOffset(name: string): number {
    return this.#open(name) && this.#isShortText() && this.#data.size > 0 ? this.#data.fieldOffset : NO_TEXT
  }

  /** The field as a number, which can be written as text; `null` when it is absent, another text or of another type. */
  number(name: string): number | null {
    const data = this.#data
    if (!this.#open(name)) return null
    if (data.type !== DataType.utf8String) return data.number()
    return data.size > MAX_DECIMAL_BYTES ? null : decimalOf(data.text() ?? '')
  }

  /**
   * Where a field that is a map starts; `null` when it is absent or of another type. Records that share a map
   * by pointers have the same offset for it.
   */
  mapOffset(name: string): number | null {
    return this.#open(name) && this.#data.type === DataType.map ? this.#data.fieldOffset : null
  }

  /**
   * Finds the entries of a map that are non-empty text, such as names by language, and where each text is. The offset is one that
   * {@link mapOffset} gave, for any record. {@link textAt} reads a text: a lookup needs one language of eight. The values count
   * towards the limit of the record that was read last, or of the last {@link textAt}.
   */
  textsAt(offset: number): StoredTexts {
    const texts = new Map<string, number>()
    const data = this.#data
    data.openTarget(offset)
    let at = data.start
    let bytes = 0
    for (let pairs = data.size; pairs > 0; pairs--) {
      const key = this.#key(at)
      bytes += key.length
      const value = data.next
      at = data.skip(value)
      data.open(value)
      const isText = this.#isShortText()
      if (isText) bytes += data.size
      if (bytes > MAX_NAMES_BYTES)
        throw data.fault(`a location has more than ${MAX_NAMES_BYTES} bytes of names`, value)
      if (isText && data.size > 0) texts.set(key, data.fieldOffset)
      else texts.delete(key)
      if (texts.size > MAX_LANGUAGES) {
        throw data.fault(`a location has names in more than ${MAX_LANGUAGES} languages`, value)
      }
    }
    return { offsets: texts, bytes }
  }

  /** Bytes of the text at an offset that {@link textOffset} or another accessor gave. */
  textBytes(offset: number): number {
    this.#data.openTarget(offset)
    return this.#data.size
  }

  /** The text at an offset that an accessor gave, for any record. */
  textAt(offset: number): string {
    this.#data.beginRecord()
    this.#data.openTarget(offset)
    return this.#data.text() ?? ''
  }

  /**
   * From a map of names by language, where the English name is, or else the first one; {@link NO_TEXT} when there is no
   * name. Does not read other names, so for a language that occurs twice the first name may count.
   */
  defaultName(name: string): number {
    const data = this.#data
    if (!this.#open(name) || data.type !== DataType.map) return NO_TEXT
    let found = NO_TEXT
    let at = data.start
    for (let pairs = data.size; pairs > 0; pairs--) {
      const key = this.#key(at)
      const isEnglish = key === 'en' || key.toLowerCase() === 'en'
      const value = data.next
      at = data.skip(value)
      if (!isEnglish && found !== NO_TEXT) continue
      data.open(value)
      if (this.#isShortText() && data.size > 0) found = data.fieldOffset
    }
    return found
  }

  #open(name: string): boolean {
    const index = this.indexOf(name)
    for (let node = this.#pending[index]; node; node = this.#pending[index]) {
      this.#data.openTarget(this.#offsets[index] ?? ABSENT)
      this.#setBelow(node, ABSENT, null)
      this.#collect(node)
    }
    const offset = this.#offsets[index] ?? ABSENT
    if (offset === ABSENT) return false
    this.#data.openTarget(offset)
    return true
  }

  /** Whether the opened field is text. @throws InvalidDatabaseError when it is a long text, or damaged: it can be read later */
  #isShortText(): boolean {
    const data = this.#data
    if (data.type !== DataType.utf8String) return false
    if (data.size > MAX_TEXT_BYTES) {
      throw data.fault(`a text field is longer than ${MAX_TEXT_BYTES} bytes`, data.fieldOffset)
    }
    data.reachEnd()
    return true
  }

  /** The key at an offset. Afterwards the value starts at the cursor's `next`. */
  #key(at: number): string {
    const data = this.#data
    data.peek(at)
    const stored = data.viaPointer ? data.fieldOffset : ABSENT
    const known = this.#keys.get(stored)
    if (known !== undefined) return known
    data.open(at)
    if (data.type === DataType.utf8String && data.size > MAX_KEY_BYTES) {
      throw data.fault(`the key of a map is longer than ${MAX_KEY_BYTES} bytes`, at)
    }
    const key = data.text()
    if (key === null) throw data.fault('the key of a map is not text', at)
    if (stored !== ABSENT && this.#keys.size < MAX_STORED_KEYS) this.#keys.set(stored, key)
    return key
  }

  /** Finds the fields below a node in the opened field. @returns where the next field starts */
  #collect(node: PathNode): number {
    const data = this.#data
    const { type, size } = data
    let at = data.start
    if (type === DataType.map && node.children.size > 0) {
      for (let pairs = size; pairs > 0; pairs--) {
        const child = this.#childAt(node, at)
        at = child === null ? data.skip(data.next) : this.#visit(child, data.next)
      }
      return at
    }
    if (type !== DataType.array || node.first === null || size === 0) return data.skip(data.fieldOffset)
    at = this.#visit(node.first, at)
    for (let others = size - 1; others > 0; others--) at = data.skip(at)
    return at
  }

  /** Records that a node's field is at an offset. @returns where the next field starts */
  #visit(node: PathNode, offset: number): number {
    const data = this.#data
    data.countValue(offset)
    data.peek(offset)
    if (data.viaPointer) {
      this.#setBelow(node, data.fieldOffset, node.field < 0 ? node : null)
      return data.next
    }
    if (node.field < 0) {
      this.#setBelow(node, ABSENT, null)
      return this.#collect(node)
    }
    this.#offsets[node.field] = offset
    return data.type === DataType.map || data.type === DataType.array ? data.skip(offset) : data.next
  }

  #setBelow(node: PathNode, offset: number, pending: PathNode | null): void {
    for (const field of node.below) {
      this.#offsets[field] = offset
      this.#pending[field] = pending
    }
  }

  /** Finds the path node of the key at an offset. Afterwards the value starts at the cursor's `next`. */
  #childAt(node: PathNode, at: number): PathNode | null {
    return node.children.get(this.#key(at)) ?? null
  }
}

function newPathNode(field: number, depth: number): PathNode {
  return { field, depth, children: new Map(), first: null, below: [] }
}

function insert(root: PathNode, path: Path, field: number): void {
  let node = root
  for (const [depth, key] of path.entries()) {
    const next: PathNode =
      (key === 0 ? node.first : node.children.get(key)) ??
      newPathNode(depth === path.length - 1 ? field : ABSENT, depth + 1)
    if (key === 0) node.first = next
    else node.children.set(key, next)
    next.below.push(field)
    node = next
  }
}
