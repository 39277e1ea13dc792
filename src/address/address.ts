import { mappedIPv4, NO_EMBEDDED_IPV4, translatedIPv4 } from './embedded-ipv4.ts'
import type { SpecialPurpose } from './iana-registries.ts'
import { formatIPv4, NOT_IPV4, parseIPv4 } from './ipv4.ts'
import { CANONICAL_IPV6, formatIPv6, NOT_IPV6, parseIPv6 } from './ipv6.ts'
import { specialPurposeOfIPv4, specialPurposeOfIPv6 } from './special-purpose.ts'
import { isZoneId, mayHaveZone } from './zone.ts'

/** No address in any accepted spelling is longer: 45 characters, `%`, and a zone of 32 fit well. */
export const MAX_LENGTH = 96
const PERCENT = 0x25

/**
 * A parsed address, as bits. A reader owns one and parses every text into it, so that a lookup allocates
 * nothing here.
 */
export class Address {
  /** Canonical text (RFC 5952) of the address asked for, without its zone. */
  text = ''
  /** Family of the address asked for; an IPv4-mapped address is IPv4. Decides whom to trust. */
  version: 4 | 6 = 4
  /** Family of the address whose record answers: that decides which database and tree is asked. */
  family: 4 | 6 = 4
  /** The address whose record answers, when `family` is 4: an unsigned 32-bit number. */
  ipv4 = 0
  /** The address asked for, when `version` is 6: four big-endian words. Its record answers when `family` is 6. */
  readonly words: Uint32Array = new Uint32Array(4)
  /** What the IANA registries say against looking it up, or `null`. */
  special: SpecialPurpose | null = null

  /**
   * Reads a text of the one grammar that this package has.
   *
   * @returns whether the text is an address; it says so of any value, of any type and length
   */
  parse(text: unknown): boolean {
    if (typeof text !== 'string') return false
    const ipv4 = parseIPv4(text)
    if (ipv4 !== NOT_IPV4) {
      this.#setIPv4(ipv4, text)
      return true
    }
    return this.#parseIPv6(text)
  }

  /** Canonical text of the address whose record answers. */
  get lookupText(): string {
    return this.family === 4 ? formatIPv4(this.ipv4) : this.text
  }

  #setIPv4(ipv4: number, text: string): void {
    this.text = text
    this.version = 4
    this.family = 4
    this.ipv4 = ipv4
    this.special = specialPurposeOfIPv4(ipv4)
  }

  #parseIPv6(text: string): boolean {
    if (text.length > MAX_LENGTH) return false
    let end = text.length
    for (let i = 0; i < text.length; i++) {
      if (text.charCodeAt(i) === PERCENT) {
        end = i
        break
      }
    }
    const words = this.words
    const spelling = parseIPv6(text, end, words)
    if (spelling === NOT_IPV6) return false
    if (end < text.length && !(isZoneId(text.slice(end + 1)) && mayHaveZone(words))) return false
    const mapped = mappedIPv4(words)
    if (mapped !== NO_EMBEDDED_IPV4) {
      this.#setIPv4(mapped, formatIPv4(mapped))
      return true
    }
    this.text = spelling === CANONICAL_IPV6 && end === text.length ? text : formatIPv6(words)
    this.version = 6
    const translated = translatedIPv4(words)
    if (translated !== NO_EMBEDDED_IPV4) {
      this.family = 4
      this.ipv4 = translated
      this.special = specialPurposeOfIPv4(translated)
    } else {
      this.family = 6
      this.special = specialPurposeOfIPv6(words)
    }
    return true
  }
}
