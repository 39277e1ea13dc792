import { isIPv4Compatible } from '../../address/address.ts'
import { type Words, writeLast } from '../../address/position.ts'
import { ByteSink } from '../../bytes/byte-sink.ts'
import { positionCidr, positionText } from '../../location/located-networks.ts'
import { ADDRESS_COLUMNS, type AddressForm } from './flags.ts'
import type { RowSink } from './network-rows.ts'

const COMMA = 0x2c
const LINE_FEED = 0x0a
const CARRIAGE_RETURN = 0x0d

/** Rows that are written at once. Bytes. */
const PART_BYTES = 2 ** 20

/** A number of up to 128 bits. */
export function integerText(words: Words): string {
  if (isIPv4Compatible(words)) return String(words[3] ?? 0)
  return String(words.reduce((sum, word) => (sum << 32n) | BigInt(word), 0n))
}

/** Rows as CSV, or as objects. */
export class TextRows implements RowSink {
  readonly #out = new ByteSink(2 * PART_BYTES)
  readonly #isCsv: boolean
  readonly #as: AddressForm
  readonly #isQuoted: boolean
  readonly #last = new Uint32Array(4)

  /** @param isIPv4 whether all integers are numbers that JSON readers do not round */
  constructor(form: 'csv' | 'ndjson', as: AddressForm, fields: readonly string[], isIPv4: boolean) {
    this.#isCsv = form === 'csv'
    this.#as = as
    this.#isQuoted = form === 'ndjson' && !(as === 'integers' && isIPv4)
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

  add(start: Words, end: Words, prefixLength: number, text: Uint8Array, from: number, to: number): void {
    const out = this.#out
    const quote = this.#isQuoted ? '"' : ''
    if (this.#as === 'cidr') this.#value('{"network":', positionCidr(start, prefixLength), quote)
    else {
      writeLast(end, this.#last)
      const textOf = this.#as === 'range' ? positionText : integerText
      const [first, last] = ADDRESS_COLUMNS[this.#as]
      this.#value(`{"${first}":`, textOf(start), quote)
      out.writeByte(COMMA)
      this.#value(`"${last}":`, textOf(this.#last), quote)
    }
    out.writeByte(COMMA)
    // The text is an object, whose brace is before the address.
    out.write(text, this.#isCsv ? from : from + 1, to)
    if (this.#isCsv) out.writeByte(CARRIAGE_RETURN)
    out.writeByte(LINE_FEED)
  }

  #value(name: string, text: string, quote: string): void {
    this.#out.writeAscii(this.#isCsv ? text : `${name}${quote}${text}${quote}`)
  }
}
