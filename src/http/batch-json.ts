import { Address } from '../address/address.ts'
import { ByteSink } from '../bytes/byte-sink.ts'
import type { DatabaseSet } from '../location/database-set.ts'
import type { Locale } from '../location/locale.ts'
import type { LookupFailure } from '../location/location-record.ts'
import { findLocation, lookupFailure, malformedFailure } from '../location/lookup.ts'
import { JSON_HEAD } from '../location/record-json.ts'
import { JSON_TEMPLATE, RenderedLocations } from '../location/rendered-locations.ts'
import { remember } from '../location/tables.ts'

/** Limit of the memory for the texts of a locale. */
const MAX_TEXT_BYTES = 16 * 1024 * 1024
/** The most locales whose texts are kept. */
const MAX_TEXT_LOCALES = 4
/** Bytes to reserve for each record. */
const RECORD_BYTES = 320

const OPEN = 0x5b
const COMMA = 0x2c
const CLOSE = 0x5d

const encoder = /* @__PURE__ */ new TextEncoder()

/** The texts of a set of databases in one locale. */
interface LocaleTexts {
  readonly rendered: RenderedLocations
  /** The generation of the set in which the rendered locations got their numbers. */
  generation: number
}

/**
 * Writes the JSON of a batch in UTF-8: exactly what `JSON.stringify` makes of the result of `lookupMany`. It keeps the
 * text of each location, which makes it more than twice as fast.
 */
export class BatchJson {
  readonly #address = new Address()
  /** The texts of each set of databases, freed with it. */
  readonly #texts = new WeakMap<DatabaseSet, Map<Locale, LocaleTexts>>()

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
      if (typeof found === 'number') {
        out.writeAscii(JSON_HEAD)
        out.writeAscii(this.#address.text)
        writeLocation(set, texts, found, at, out)
      } else out.write(encoder.encode(JSON.stringify(found)))
    }
    out.writeByte(CLOSE)
    return out.take()
  }

  #find(set: DatabaseSet, ip: string): number | LookupFailure {
    if (!this.#address.parse(ip)) return malformedFailure(ip)
    const found = findLocation(set, this.#address)
    return typeof found === 'number' ? found : lookupFailure(set, this.#address, found)
  }

  #textsOf(set: DatabaseSet, locale: Locale): LocaleTexts {
    let byLocale = this.#texts.get(set)
    if (byLocale === undefined) {
      byLocale = new Map()
      this.#texts.set(set, byLocale)
    }
    return remember(byLocale, MAX_TEXT_LOCALES, locale, () => ({
      rendered: new RenderedLocations(locale, JSON_TEMPLATE, false, MAX_TEXT_BYTES),
      generation: set.generation,
    }))
  }
}

/** @param found the number that the set has just given to the location */
function writeLocation(set: DatabaseSet, texts: LocaleTexts, found: number, at: number, out: ByteSink): void {
  const { rendered } = texts
  if (rendered.isFull || texts.generation !== set.generation) {
    rendered.clear()
    texts.generation = set.generation
  }
  const number = rendered.numberOf(found, (inSet) => set.location(inSet))
  rendered.write(number, at, out)
}
