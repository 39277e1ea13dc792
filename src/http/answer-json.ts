import { Address } from '../address/address.ts'
import { ByteSink } from '../bytes/byte-sink.ts'
import { utf8Encoder } from '../bytes/utf8.ts'
import { JSON_HEAD, JSON_TEMPLATE } from '../enrich/writing/location-template.ts'
import { RenderedLocations } from '../enrich/writing/rendered-locations.ts'
import type { DatabaseSet } from '../location/database-set.ts'
import type { Locale } from '../location/locale.ts'
import type { LookupFailure } from '../location/location-record.ts'
import { findLocation, lookupFailure, malformedFailure } from '../location/lookup.ts'
import { remember } from '../location/tables.ts'
import { asnMember } from './fields.ts'

/** Limit of the memory for the texts of a locale. */
const MAX_TEXT_BYTES = 16 * 1024 * 1024
/** The most locales whose texts are kept. */
const MAX_TEXT_LOCALES = 4
/** Bytes to reserve for each record. */
const RECORD_BYTES = 320
/** Records of single lookups share memory of this size: small, because a client that does not read keeps it. */
const SHARED_BYTES = 8192

const OPEN = 0x5b
const COMMA = 0x2c
const CLOSE = 0x5d

const encoder = /* @__PURE__ */ utf8Encoder()

/** The texts of a set of databases in one locale. */
interface LocaleTexts {
  readonly rendered: RenderedLocations
  /** The generation of the set in which the rendered locations got their numbers. */
  generation: number
}

/**
 * Writes the JSON of lookups in UTF-8: exactly what `JSON.stringify` makes of the results of `find` and `lookupMany`, with a
 * member `asn` if the service has one. It keeps the text of each location, so that a location is written once for all its
 * addresses.
 */
export class AnswerJson {
  readonly #address = new Address()
  #shared = new ByteSink(SHARED_BYTES)
  /** The texts of each set of databases, freed with it. */
  readonly #texts = new WeakMap<DatabaseSet, Map<Locale, LocaleTexts>>()
  readonly #hasAsn: boolean

  /** @param hasAsn whether records have a member `asn` */
  constructor(hasAsn = false) {
    this.#hasAsn = hasAsn
  }

  /**
   * The JSON of one record, or why there is none.
   *
   * @param at milliseconds since 1970
   */
  record(set: DatabaseSet, ip: string, locale: Locale, at: number): Uint8Array | LookupFailure {
    const found = this.#find(set, ip)
    if (typeof found !== 'number') return found
    const kept = this.#localesOf(set)
    // Not worth emptying the cache for one record.
    if (kept.size >= MAX_TEXT_LOCALES && !kept.has(locale)) {
      const record = set.record(found, this.#address.text, locale, at)
      const served = this.#hasAsn ? { ...record, asn: set.systems.record(this.#address) } : record
      return encoder.encode(JSON.stringify(served))
    }
    if (this.#shared.length > SHARED_BYTES - RECORD_BYTES) this.#shared = new ByteSink(SHARED_BYTES)
    const out = this.#shared
    const start = out.length
    this.#write(set, textsOf(set, kept, locale), found, at, out)
    return out.room(0).subarray(start, out.length)
  }

  /**
   * The JSON of a batch.
   *
   * @param at milliseconds since 1970
   * @param tell is called for each address with its failure, which it may change before it is written, or `null`
   */
  batch(
    set: DatabaseSet,
    ips: readonly string[],
    locale: Locale,
    at: number,
    tell: (failure: LookupFailure | null) => void,
  ): Uint8Array {
    const texts = textsOf(set, this.#localesOf(set), locale)
    const out = new ByteSink(RECORD_BYTES * (ips.length + 1))
    out.writeByte(OPEN)
    for (const [index, ip] of ips.entries()) {
      if (index > 0) out.writeByte(COMMA)
      const found = this.#find(set, ip)
      tell(typeof found === 'number' ? null : found)
      if (typeof found === 'number') this.#write(set, texts, found, at, out)
      else out.write(encoder.encode(JSON.stringify(found)))
    }
    out.writeByte(CLOSE)
    return out.take()
  }

  #find(set: DatabaseSet, ip: string): number | LookupFailure {
    if (!this.#address.parse(ip)) return malformedFailure(ip)
    const found = findLocation(set, this.#address)
    return typeof found === 'number' ? found : lookupFailure(set, this.#address, found)
  }

  /** Writes a record of the address. @param found the number that the set has just given to its location */
  #write(set: DatabaseSet, texts: LocaleTexts, found: number, at: number, out: ByteSink): void {
    const { rendered } = texts
    if (rendered.isFull || texts.generation !== set.generation) {
      rendered.clear()
      texts.generation = set.generation
    }
    out.writeAscii(JSON_HEAD)
    out.writeAscii(this.#address.text)
    rendered.write(rendered.numberOf(found, set), at, out)
    if (!this.#hasAsn) return
    out.length--
    out.write(encoder.encode(asnMember(set.systems.record(this.#address))))
  }

  #localesOf(set: DatabaseSet): Map<Locale, LocaleTexts> {
    let kept = this.#texts.get(set)
    if (kept === undefined) {
      kept = new Map()
      this.#texts.set(set, kept)
    }
    return kept
  }
}

function textsOf(set: DatabaseSet, kept: Map<Locale, LocaleTexts>, locale: Locale): LocaleTexts {
  return remember(kept, MAX_TEXT_LOCALES, locale, () => ({
    rendered: new RenderedLocations(locale, JSON_TEMPLATE, 'countries', MAX_TEXT_BYTES),
    generation: set.generation,
  }))
}
