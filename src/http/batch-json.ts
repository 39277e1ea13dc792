import { Address } from '../address/address.ts'
import { ByteSink } from '../bytes/byte-sink.ts'
import { JSON_HEAD, JSON_TEMPLATE } from '../enrich/writing/location-template.ts'
import { RenderedLocations } from '../enrich/writing/rendered-locations.ts'
import type { DatabaseSet } from '../location/database-set.ts'
import type { Locale } from '../location/locale.ts'
import type { LookupFailure } from '../location/location-record.ts'
import { findLocation, lookupFailure, malformedFailure } from '../location/lookup.ts'
import { remember } from '../location/tables.ts'
import { utf8Encoder } from '../realm.ts'

/** Limit of the memory for the texts of a locale. */
const MAX_TEXT_BYTES = 16 * 1024 * 1024
/** The most locales whose texts are kept. */
const MAX_TEXT_LOCALES = 4
/** Bytes to reserve for each record. */
const RECORD_BYTES = 320

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
 * Writes the JSON of batches in UTF-8: exactly what `JSON.stringify` makes of the results of `lookupMany`, with a member `asn`
 * if the service has one. It keeps the text of each location, so that a location is written once for all its addresses.
 */
export class BatchJson {
  readonly #address = new Address()
  /** The texts of each set of databases, freed with it. */
  readonly #texts = new WeakMap<DatabaseSet, Map<Locale, LocaleTexts>>()
  readonly #hasAsn: boolean

  /** @param hasAsn whether records have a member `asn` */
  constructor(hasAsn = false) {
    this.#hasAsn = hasAsn
  }

  /**
   * @param at milliseconds since 1970
   * @param tell is called for each address with its failure, which it may change before it is written, or `null`
   */
  write(
    set: DatabaseSet,
    ips: readonly string[],
    locale: Locale,
    at: number,
    tell: (failure: LookupFailure | null) => void,
  ): Uint8Array {
    const texts = this.#textsOf(set, locale)
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
    // In place of the last brace.
    out.length--
    out.write(encoder.encode(`,"asn":${JSON.stringify(set.systems.record(this.#address))}}`))
  }

  #textsOf(set: DatabaseSet, locale: Locale): LocaleTexts {
    const kept = this.#texts.get(set) ?? new Map<Locale, LocaleTexts>()
    this.#texts.set(set, kept)
    return remember(kept, MAX_TEXT_LOCALES, locale, () => ({
      rendered: new RenderedLocations(locale, JSON_TEMPLATE, 'countries', MAX_TEXT_BYTES),
      generation: set.generation,
    }))
  }
}
