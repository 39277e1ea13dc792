import { Address } from '../../address/address.ts'
import { formatIPv4, formatIPv6, NOT_IPV4 } from '../../address/ip-text.ts'
import { ByteSink } from '../../bytes/byte-sink.ts'
import { HmacSha256 } from '../../bytes/sha-256.ts'
import { remember } from '../../bytes/tables.ts'
import { utf8Encoder } from '../../realm.ts'
import { COMMA, DASH, DOT, LINE_FEED, ZERO } from '../ascii.ts'
import type { CommonPlan } from '../options.ts'
import { AddressScanner } from '../scanning/address-scanner.ts'
import { ANY_ADDRESS } from '../scanning/any-address.ts'
import { ByteFinder } from '../swar.ts'
import { isPart, MARKS, mayBeEscape, SpelledText } from './spelled-text.ts'

/** Begins the name of an address. */
const NAME = 'ip-'
/** Bytes of a name: 80 bits, so that two of a billion addresses have one name with a chance of less than one in a million. */
const NAME_BYTES = 10
/** Names that are kept. */
const MAX_NAMES = 65_536
/** The longest address whose characters are all escapes, with two levels of backslashes. Bytes. */
const MAX_SPELLED_BYTES = 360

/** What a plan says about the addresses of the output. */
export type MaskPlan = Pick<CommonPlan, 'mask' | 'dropAddress' | 'pseudonymKey'>

/**
 * Replaces the addresses in the output of a run: those of the line, wherever they stand in it, and that of the location.
 * The policy `ANY_ADDRESS` says what is an address. Its port stays.
 */
export class AddressMask {
  readonly #scanner = new AddressScanner(ANY_ADDRESS)
  readonly #spelled = new SpelledText()

  private constructor(
    /** Writes what stands for an address. */
    private readonly put: (found: AddressScanner, out: ByteSink) => void,

    /** The bits that are kept of IPv4 and of IPv6; `null` if no address is left. */
    private readonly mask: readonly [number, number] | null = null,
  ) {}

  /** `null` if the plan keeps addresses. */
  static of({ mask, dropAddress, pseudonymKey }: MaskPlan): AddressMask | null {
    // Servers write a dash for an unknown address.
    if (dropAddress) return new AddressMask((_, out) => out.writeByte(DASH))
    if (mask !== null) return new AddressMask((found, out) => putMasked(found, mask, out), mask)
    if (pseudonymKey === null) return null
    const nameOf = namesBy(pseudonymKey)
    return new AddressMask((found, out) => out.writeAscii(nameOf(found)))
  }

  /** A text with its addresses replaced. */
  text(text: string): string {
    const bytes = new TextEncoder().encode(text)
    const out = new ByteSink()
    this.write(bytes, 0, bytes.length, out)
    return new TextDecoder().decode(out.take())
  }

  /** An address or a network (CIDR) replaced. A network with more bits than the mask keeps becomes a larger one. */
  network(text: string): string {
    const [address = '', length] = text.split('/')
    const masked = this.text(address)
    if (this.mask === null || length === undefined) return masked
    const parsed = new Address()
    parsed.parse(address)
    const ipv4 = address.includes(':') ? NOT_IPV4 : 0
    return `${masked}/${Math.min(Number(length), keptBits({ ipv4, address: parsed }, this.mask))}`
  }

  /** Writes `bytes[start, end)`, which are whole lines. */
  write(bytes: Uint8Array, start: number, end: number, out: ByteSink): void {
    const marks = MARKS.map((mark) => new ByteFinder(mark, bytes))
    const nexts = marks.map((mark) => mark.next(start, end))
    let written = start
    for (let from = start; from < end; ) {
      const at = this.#nextEscape(bytes, from, end, marks, nexts)
      if (at === -1) break
      // An address does not go on in the next line.
      const lineStart = bytes.lastIndexOf(LINE_FEED, at) + 1
      const lineFeed = bytes.indexOf(LINE_FEED, at)
      const lineEnd = lineFeed === -1 || lineFeed > end ? end : lineFeed
      if (lineStart > written) this.#writePlain(bytes, written, lineStart, out)
      this.#writeSpelled(bytes, Math.max(lineStart, written), lineEnd, out)
      written = lineEnd
      from = lineEnd
    }
    this.#writePlain(bytes, written, end, out)
  }

  /**
   * Writes a piece of a line that is too long to be in memory. Where the line goes on before or after the piece, leaves out what
   * can be a part of an address.
   */
  writePiece(bytes: Uint8Array, startsLine: boolean, endsLine: boolean, out: ByteSink): void {
    const most = Math.min(bytes.length, MAX_SPELLED_BYTES)
    let start = 0
    if (!startsLine) while (start < most && maySpell(bytes[start])) start++
    this.write(bytes, start, endsLine ? bytes.length : this.endOfCut(bytes, start, bytes.length), out)
  }

  /** Where to end a text that is cut off at `end`: before what can be the start of an address. */
  endOfCut(bytes: Uint8Array, start: number, end: number): number {
    const least = Math.max(start, end - MAX_SPELLED_BYTES)
    let at = end
    while (at > least && maySpell(bytes[at - 1])) at--
    return at
  }

  #writePlain(bytes: Uint8Array, start: number, end: number, out: ByteSink): void {
    const scanner = this.#scanner
    let written = start
    while (scanner.next(bytes, written, written, end)) {
      out.write(bytes, written, scanner.start)
      this.#write(scanner, out)
      written = scanner.end
    }
    out.write(bytes, written, end)
  }

  /** Masks the addresses of a line with escapes that an address can have. Other escapes stay. */
  #writeSpelled(bytes: Uint8Array, start: number, end: number, out: ByteSink): void {
    const spelled = this.#spelled
    spelled.read(bytes, start, end)
    const scanner = this.#scanner
    let from = 0
    let written = start
    while (scanner.next(spelled.bytes, from, from, spelled.length)) {
      out.write(bytes, written, spelled.offsetOf(scanner.start))
      this.#write(scanner, out)
      from = scanner.end
      written = spelled.offsetOf(from)
    }
    out.write(bytes, written, end)
  }

  /** Numbers with commas stay numbers, since they can be an array of JSON or columns. */
  #write(found: AddressScanner, out: ByteSink): void {
    if (found.separator === COMMA && found.ipv4 !== NOT_IPV4) putIPv4(0, COMMA, out)
    else this.put(found, out)
  }

  /** The first escape whose character, or what is after it, can be in an address; -1 when there is none. */
  #nextEscape(
    bytes: Uint8Array,
    from: number,
    end: number,
    marks: readonly ByteFinder[],
    nexts: number[],
  ): number {
    let first = -1
    for (let index = 0; index < marks.length; index++) {
      const mark = marks[index]
      let at = mark === undefined ? -1 : (nexts[index] ?? -1)
      while (at !== -1 && (at < from || !mayBeEscape(bytes, at, end)))
        at = mark?.next(Math.max(at + 1, from), end) ?? -1
      nexts[index] = at
      if (at !== -1 && (first === -1 || at < first)) first = at
    }
    return first
  }
}

/** Whether a byte can be a part of an address, or of an escape in it. */
function maySpell(byte = 0): boolean {
  return isPart(byte) || byte >= 0x80 || '%&#;,_\\ux'.includes(String.fromCharCode(byte))
}

/** Writes an address without its last bits. A doubtful one keeps none of them. */
function putMasked(found: AddressScanner, mask: readonly [number, number], out: ByteSink): void {
  const { address, ipv4, separator, isDoubtful } = found
  const bits = keptBits(found, mask)
  if (ipv4 !== NOT_IPV4) {
    putIPv4(firstBits(ipv4, isDoubtful ? 0 : bits), separator === DASH ? DASH : DOT, out)
    return
  }
  const text = formatIPv6(address.words.map((word, index) => firstBits(word, Math.max(0, bits - 32 * index))))
  out.writeAscii(separator === DASH ? text.replaceAll(':', '-') : text)
}

/** The bits that a mask keeps of an address. An IPv4 address inside an IPv6 address keeps no more bits than another IPv4 address. */
function keptBits(
  { ipv4, address }: Pick<AddressScanner, 'ipv4' | 'address'>,
  [ipv4Bits, ipv6Bits]: readonly [number, number],
): number {
  if (ipv4 !== NOT_IPV4) return ipv4Bits
  // The bits before the IPv4 address of a translation mechanism: see `translatedIPv4`.
  const before = (address.words[0] ?? 0) >>> 16 === 0x2002 ? 16 : 96
  return address.family === 4 ? Math.min(ipv6Bits, before + ipv4Bits) : ipv6Bits
}

/** Writes the bytes of the text, without making the text. */
function putIPv4(ipv4: number, separator: number, out: ByteSink): void {
  for (let bits = 24; bits >= 0; bits -= 8) {
    const octet = (ipv4 >>> bits) & 255
    if (octet > 99) out.writeByte(ZERO + Math.trunc(octet / 100))
    if (octet > 9) out.writeByte(ZERO + (Math.trunc(octet / 10) % 10))
    out.writeByte(ZERO + (octet % 10))
    if (bits > 0) out.writeByte(separator)
  }
}

function firstBits(word: number, bits: number): number {
  return bits >= 32 ? word : bits === 0 ? 0 : (word & (-1 << (32 - bits))) >>> 0
}

/** Names of addresses: the start of the HMAC of the canonical text. */
function namesBy(key: Uint8Array): (found: AddressScanner) => string {
  const hmac = new HmacSha256(key)
  const encoder = utf8Encoder()
  const names = new Map<string, string>()
  return ({ ipv4, address: { words } }) => {
    const text = ipv4 === NOT_IPV4 ? formatIPv6(words) : formatIPv4(ipv4)
    return remember(names, MAX_NAMES, text, () => {
      const digest = hmac.digest(encoder.encode(text)).subarray(0, NAME_BYTES)
      return NAME + Array.from(digest, (byte) => byte.toString(16).padStart(2, '0')).join('')
    })
  }
}
