// The footer of a Parquet file (github.com/apache/parquet-format), as a tree of Thrift's compact protocol. It is read and written
// without loss, also of fields that are newer than this program.

/** Why a Parquet file cannot be read, in words for its user. Libraries throw other errors for damage. */
export class ParquetFault extends Error {}

/** A struct: its fields in the order of the file. */
export type Struct = Field[]

interface Field {
  readonly id: number
  readonly type: number
  value: Value
}

interface List {
  readonly type: number
  readonly items: Value[]
}

/** Integers are as stored, in zigzag form. A double is its eight bytes. */
type Value = boolean | bigint | Uint8Array | Struct | List

const TRUE = 1
const FALSE = 2
const BYTE = 3
const I64 = 6
const DOUBLE = 7
const BINARY = 8
const LIST = 9
const SET = 10
const STRUCT = 12

/**
 * The four bits for a size, if the size of a list does not fit: it then follows the header. Also the four bits for the type, if the
 * step to the next field does not fit: the id of the field then follows.
 */
const LONG = 15
/** Real footers have about seven levels. */
const MAX_DEPTH = 32

/** Fields of the structs in parquet.thrift that are read or changed here. */
const FILE = { schema: 2, rows: 3, rowGroups: 4, keyValues: 5, columnOrders: 7, encryption: 8 } as const
const SCHEMA_ELEMENT = { name: 4, children: 5 } as const
const ROW_GROUP = { columns: 1, byteSize: 2, rows: 3, compressedSize: 6 } as const
const COLUMN_CHUNK = { fileOffset: 2, metadata: 3 } as const
const COLUMN_METADATA = {
  uncompressedSize: 6,
  compressedSize: 7,
  dataPage: 9,
  indexPage: 10,
  dictionaryPage: 11,
} as const
const KEY_VALUE = { key: 1, value: 2 } as const

/** Reads a footer, without the length and the magic after it. @throws Error when it is damaged */
export function readFooter(bytes: Uint8Array): Struct {
  const reader = new Reader(bytes)
  const footer = reader.struct(0)
  if (reader.at !== bytes.length) throw new ParquetFault('its footer is damaged')
  return footer
}

export function footerBytes(footer: Struct): Uint8Array {
  const out: number[] = []
  writeStruct(out, footer)
  return Uint8Array.from(out)
}

/** Whether a footer says that columns are encrypted. */
export function isEncrypted(footer: Struct): boolean {
  return fieldOf(footer, FILE.encryption) !== undefined
}

/** The text with a key in the file's own metadata; `undefined` if there is none. */
export function keyValue(footer: Struct, key: string): string | undefined {
  const found = itemsOf(footer, FILE.keyValues).find((each) => textOf(each, KEY_VALUE.key) === key)
  return found === undefined ? undefined : textOf(found, KEY_VALUE.value)
}

/** Changes the text with a key, or removes the key if `text` is `null`. */
export function setKeyValue(footer: Struct, key: string, text: string | null): void {
  const items = itemsOf(footer, FILE.keyValues)
  const index = items.findIndex((each) => textOf(each, KEY_VALUE.key) === key)
  const field = items[index] === undefined ? undefined : fieldOf(items[index], KEY_VALUE.value)
  if (text === null) items.splice(index, 1)
  else if (field !== undefined) field.value = Buffer.from(text)
}

/**
 * Adds the columns of another file, whose row groups have the same rows, at the end of each row group.
 *
 * @param footer is changed
 * @param added the footer of the other file
 * @param moved how far the bytes of that file have moved
 */
export function addColumns(footer: Struct, added: Struct, moved: number): void {
  const [root, ...elements] = itemsOf(added, FILE.schema)
  const schema = itemsOf(footer, FILE.schema)
  if (root === undefined || schema[0] === undefined) throw new ParquetFault('its footer has no schema')
  addTo(schema[0], SCHEMA_ELEMENT.children, integerOf(root, SCHEMA_ELEMENT.children))
  schema.push(...elements)
  const orders = fieldOf(footer, FILE.columnOrders)
  if (orders !== undefined) itemsOf(footer, FILE.columnOrders).push(...itemsOf(added, FILE.columnOrders))
  const sources = itemsOf(added, FILE.rowGroups)
  for (const [index, group] of itemsOf(footer, FILE.rowGroups).entries()) {
    const source = sources[index]
    if (source === undefined) throw new ParquetFault('a row group has no columns to add')
    const chunks = itemsOf(source, ROW_GROUP.columns)
    for (const chunk of chunks) moveChunk(chunk, BigInt(moved))
    itemsOf(group, ROW_GROUP.columns).push(...chunks)
    const sizes = chunks.map((chunk) => structOf(chunk, COLUMN_CHUNK.metadata))
    const sum = (id: number): bigint => sizes.reduce((total, size) => total + integerOf(size, id), 0n)
    addTo(group, ROW_GROUP.byteSize, sum(COLUMN_METADATA.uncompressedSize))
    addTo(group, ROW_GROUP.compressedSize, sum(COLUMN_METADATA.compressedSize))
  }
}

/**
 * Checks what readers do not miss: that the row groups have all rows of the file, and that all elements of the schema have names.
 *
 * @throws Error when the footer is damaged
 */
export function checkFooter(footer: Struct): void {
  const groups = itemsOf(footer, FILE.rowGroups).map((group) => rowsOf(group, ROW_GROUP.rows))
  if (rowsOf(footer, FILE.rows) !== groups.reduce((sum, rows) => sum + rows, 0n))
    throw new ParquetFault('its row groups have other rows than its footer says')
  if (itemsOf(footer, FILE.schema).some((element) => textOf(element, SCHEMA_ELEMENT.name) === undefined))
    throw new ParquetFault('its schema has a column without a name')
}

function rowsOf(struct: Struct, id: number): bigint {
  const [field, another] = struct.filter((each) => each.id === id)
  const rows = integerOf(struct, id)
  if (field?.type !== I64 || another !== undefined || rows < 0n)
    throw new ParquetFault('its footer does not say how many rows there are')
  return rows
}

/** Removes the row groups without rows, which some programs write. */
export function dropEmptyGroups(footer: Struct): void {
  const groups = itemsOf(footer, FILE.rowGroups)
  groups.splice(0, groups.length, ...groups.filter((group) => integerOf(group, ROW_GROUP.rows) !== 0n))
}

function moveChunk(chunk: Struct, by: bigint): void {
  addTo(chunk, COLUMN_CHUNK.fileOffset, by)
  const metadata = structOf(chunk, COLUMN_CHUNK.metadata)
  for (const id of [COLUMN_METADATA.dataPage, COLUMN_METADATA.indexPage, COLUMN_METADATA.dictionaryPage]) {
    addTo(metadata, id, by)
  }
}

function fieldOf(struct: Struct, id: number): Field | undefined {
  return struct.find((field) => field.id === id)
}

function structOf(struct: Struct, id: number): Struct {
  const value = fieldOf(struct, id)?.value
  if (!Array.isArray(value)) throw new ParquetFault('its footer is damaged')
  return value
}

/** The structs of a list, which can be changed; none if there is no list. */
function itemsOf(struct: Struct, id: number): Struct[] {
  const value = fieldOf(struct, id)?.value
  if (value === undefined) return []
  if (!isList(value) || !value.items.every((item) => Array.isArray(item)))
    throw new ParquetFault('its footer is damaged')
  return value.items
}

function isList(value: Value): value is List {
  return typeof value === 'object' && 'items' in value
}

function textOf(struct: Struct, id: number): string | undefined {
  const value = fieldOf(struct, id)?.value
  return value instanceof Uint8Array ? Buffer.from(value).toString() : undefined
}

/** Reads a whole number from a struct. @returns 0 if the struct does not have the field */
function integerOf(struct: Struct, id: number): bigint {
  const value = fieldOf(struct, id)?.value
  return typeof value === 'bigint' ? (value >> 1n) ^ -(value & 1n) : 0n
}

/** Adds to a number, if there is one. */
function addTo(struct: Struct, id: number, number: bigint): void {
  const field = fieldOf(struct, id)
  if (field !== undefined) field.value = BigInt.asUintN(64, (integerOf(struct, id) + number) << 1n)
}

class Reader {
  at = 0

  constructor(readonly bytes: Uint8Array) {}

  struct(depth: number): Struct {
    if (depth > MAX_DEPTH) throw new ParquetFault('its footer is damaged')
    const fields: Struct = []
    for (let id = 0; ; ) {
      const head = this.#byte()
      const type = head & 0x0f
      if (type === 0) return fields
      const step = head >> 4
      id = step > 0 ? id + step : Number(this.#varint() >> 1n)
      fields.push({ id, type, value: this.#value(type, depth) })
    }
  }

  #value(type: number, depth: number): Value {
    switch (type) {
      case TRUE:
      case FALSE:
        return type === TRUE
      case BYTE:
        return BigInt(this.#byte())
      case DOUBLE:
        return this.#slice(8)
      case BINARY:
        return this.#slice(Number(this.#varint()))
      case LIST:
      case SET:
        return this.#list(depth + 1)
      case STRUCT:
        return this.struct(depth + 1)
      default:
        if (type > BYTE && type <= I64) return this.#varint()
        throw new ParquetFault('its footer is damaged')
    }
  }

  #list(depth: number): List {
    const head = this.#byte()
    const type = head & 0x0f
    const size = head >> 4 < LONG ? head >> 4 : Number(this.#varint())
    // Each item has a byte at least.
    if (size > this.bytes.length - this.at) throw new ParquetFault('its footer is damaged')
    const isBoolean = type === TRUE || type === FALSE
    return { type, items: Array.from({ length: size }, () => this.#value(isBoolean ? BYTE : type, depth)) }
  }

  #byte(): number {
    const byte = this.bytes[this.at++]
    if (byte === undefined) throw new ParquetFault('its footer is damaged')
    return byte
  }

  #varint(): bigint {
    let value = 0n
    for (let shift = 0n; shift < 70n; shift += 7n) {
      const byte = this.#byte()
      value |= BigInt(byte & 0x7f) << shift
      if (byte < 0x80) return value
    }
    throw new ParquetFault('its footer is damaged')
  }

  #slice(length: number): Uint8Array {
    const end = this.at + length
    if (end > this.bytes.length) throw new ParquetFault('its footer is damaged')
    const slice = this.bytes.subarray(this.at, end)
    this.at = end
    return slice
  }
}

function writeStruct(out: number[], fields: Struct): void {
  let last = 0
  for (const { id, type, value } of fields) {
    // A boolean is in its type.
    const written = typeof value === 'boolean' ? (value ? TRUE : FALSE) : type
    const step = id - last
    if (step > 0 && step <= LONG) out.push((step << 4) | written)
    else {
      out.push(written)
      writeVarint(out, BigInt(id) << 1n)
    }
    writeValue(out, written, value)
    last = id
  }
  out.push(0)
}

function writeValue(out: number[], type: number, value: Value): void {
  if (typeof value === 'boolean') return
  if (typeof value === 'bigint') {
    if (type === BYTE) out.push(Number(value))
    else writeVarint(out, value)
  } else if (value instanceof Uint8Array) {
    if (type === BINARY) writeVarint(out, BigInt(value.length))
    for (const byte of value) out.push(byte)
  } else if (isList(value)) {
    const size = value.items.length
    out.push((Math.min(size, LONG) << 4) | value.type)
    if (size >= LONG) writeVarint(out, BigInt(size))
    const isBoolean = value.type === TRUE || value.type === FALSE
    for (const item of value.items) writeValue(out, isBoolean ? BYTE : value.type, item)
  } else writeStruct(out, value)
}

function writeVarint(out: number[], value: bigint): void {
  let rest = value
  for (; rest >= 0x80n; rest >>= 7n) out.push(Number(rest & 0x7fn) | 0x80)
  out.push(Number(rest))
}
