import { isIPv4Compatible } from '../../address/address.ts'
import { writeIPv4, writeIPv6 } from '../../address/ip-text.ts'
import { type Words, writeLast } from '../../address/position.ts'
import { ByteSink } from '../../bytes/byte-sink.ts'
import { CARRIAGE_RETURN, COMMA, LINE_FEED, QUOTE, SLASH, ZERO } from '../../enrich/ascii.ts'
import { ADDRESS_COLUMNS, type AddressForm } from './flags.ts'
import type { RowSink } from './network-rows.ts'

/** Rows that are written at once. Bytes. */
const PART_BYTES = 2 ** 20

/** A number of up to 128 bits. */
export function integerText(words: Words): string {
  if (isIPv4Compatible(words)) return String(words[3] ?? 0)
  return String(words.reduce((sum, word) => (sum << 32n) | BigInt(word), 0n))
}

/** No address with the length of a prefix is longer. */
const MAX_ADDRESS_BYTES = 43

/** Writes the address at a position as text. @param prefixLength of the network that starts there; 0 for the address alone */
export function writePosition(words: Words, prefixLength: number, out: ByteSink): void {
  const bytes = out.room(MAX_ADDRESS_BYTES)
  const isIPv4 = isIPv4Compatible(words)
  let end = isIPv4 ? writeIPv4(words[3] ?? 0, bytes, out.length) : writeIPv6(words, bytes, out.length)
  if (prefixLength > 0) {
    const bits = isIPv4 ? prefixLength - 96 : prefixLength
    bytes[end++] = SLASH
    if (bits >= 100) bytes[end++] = ZERO + 1
    if (bits >= 10) bytes[end++] = ZERO + (((bits / 10) | 0) % 10)
    bytes[end++] = ZERO + (bits % 10)
  }
  out.length = end
}

/** Rows as CSV, or as objects. */
export class TextRows implements RowSink {
  readonly #out = new ByteSink(2 * PART_BYTES)
  readonly #isCsv: boolean
  readonly #as: AddressForm
  readonly #isQuoted: boolean
  /** In objects, what is before the value of each column. */
  readonly #names: readonly string[]
  readonly #last = new Uint32Array(4)
  #text: Uint8Array = new Uint8Array(0)
  #from = 0
  #to = 0

  /** @param isIPv4 whether all integers are numbers that JSON readers do not round */
  constructor(form: 'csv' | 'ndjson', as: AddressForm, fields: readonly string[], isIPv4: boolean) {
    this.#isCsv = form === 'csv'
    this.#as = as
    this.#isQuoted = form === 'ndjson' && !(as === 'integers' && isIPv4)
    const quote = this.#isQuoted ? '"' : ''
    this.#names = ADDRESS_COLUMNS[as].map((name, column) => `${column === 0 ? '{' : ''}"${name}":${quote}`)
    if (this.#isCsv) this.#out.writeAscii(`${[...ADDRESS_COLUMNS[as], ...fields].join(',')}\r\n`)
  }

  get isFull(): boolean {
    return this.#out.length >= PART_BYTES
  }

  /** The bytes of the rows, valid until the next row is added. */
  take(): Uint8Array {
    const bytes = this.#out.room(0).subarray(0, this.#out.length)
    this.#out.length = 0
    return bytes
  }

  end(): void {}

  setText(text: Uint8Array, from: number, to: number): void {
    this.#text = text
    // The text is an object, whose brace is before the address.
    this.#from = this.#isCsv ? from : from + 1
    this.#to = to
  }

  add(start: Words, end: Words, prefixLength: number): void {
    const out = this.#out
    this.#write(0, start, prefixLength)
    if (this.#as !== 'cidr') {
      writeLast(end, this.#last)
      out.writeByte(COMMA)
      this.#write(1, this.#last, 0)
    }
    out.writeByte(COMMA)
    out.write(this.#text, this.#from, this.#to)
    if (this.#isCsv) out.writeByte(CARRIAGE_RETURN)
    out.writeByte(LINE_FEED)
  }

  /** Writes the value of a column of addresses, in an object after its name. */
  #write(column: number, words: Words, prefixLength: number): void {
    const out = this.#out
    if (!this.#isCsv) out.writeAscii(this.#names[column] ?? '')
    if (this.#as === 'integers') out.writeAscii(integerText(words))
    else writePosition(words, prefixLength, out)
    if (this.#isQuoted) out.writeByte(QUOTE)
  }
}
