// Batches: their bodies, and their answers as bytes. The answer of one address is made in the same way.
import { Address } from '../address/address.ts'
import { ByteSink } from '../bytes/byte-sink.ts'
import { remember } from '../bytes/tables.ts'
import { JSON_HEAD, JSON_TEMPLATE } from '../enrich/writing/location-template.ts'
import { RenderedLocations } from '../enrich/writing/rendered-locations.ts'
import { quoted } from '../errors.ts'
import type { DatabaseSet } from '../location/database-set.ts'
import type { Locale } from '../location/locale.ts'
import type { LookupFailure } from '../location/location-record.ts'
import { findLocation, lookupFailure, malformedFailure } from '../location/lookup.ts'
import { utf8Decoder, utf8Encoder } from '../realm.ts'
import type { ServiceRequest } from './exchange.ts'
import type { Problem } from './problem.ts'
import type { Plan } from './rate-limit.ts'

/** The addresses and the options of a batch. */
export interface Batch {
  readonly ips: readonly string[]
  /** The member `locale`, which is not checked yet. */
  readonly locale: string | undefined
}

const SHAPE = 'The body must be ["81.2.69.142", …] or {"ips": ["81.2.69.142", …], "locale": "de"}.'

const bodyDecoder = /* @__PURE__ */ utf8Decoder({ fatal: true })
const decoder = /* @__PURE__ */ utf8Decoder()

/**
 * Reads the body of a batch: an array of texts, or an object with the member `ips` and optionally `locale`. Ignores other
 * members.
 *
 * @param maxBytes limit of the body
 */
export async function readBatch(asked: ServiceRequest, maxBytes: number): Promise<Batch | Problem> {
  const type = asked.get('content-type')
  if (type === null || !isJson(type)) {
    return { code: 'UNSUPPORTED_MEDIA_TYPE', detail: 'The body must be application/json in UTF-8.' }
  }
  const encoding = asked.get('content-encoding')
  if (encoding !== null && encoding.toLowerCase() !== 'identity') {
    return { code: 'UNSUPPORTED_MEDIA_TYPE', detail: 'The body must not be compressed.' }
  }
  const bytes = await asked.body(maxBytes).catch(() => undefined)
  if (bytes === undefined)
    return { code: 'MALFORMED_REQUEST', detail: 'The body ended early, or was read before.' }
  if (bytes === null) return { code: 'TOO_LARGE', detail: `The body must have at most ${maxBytes} bytes.` }
  let value: unknown
  try {
    value = JSON.parse(bodyDecoder.decode(bytes))
  } catch {
    return { code: 'MALFORMED_REQUEST', detail: `The body is not JSON in UTF-8. ${SHAPE}` }
  }
  return batchOf(value)
}

function batchOf(value: unknown): Batch | Problem {
  const { ips, locale }: { ips?: unknown; locale?: unknown } = Array.isArray(value)
    ? { ips: value }
    : typeof value === 'object' && value !== null
      ? value
      : {}
  if (!Array.isArray(ips) || !ips.every((each) => typeof each === 'string'))
    return { code: 'MALFORMED_REQUEST', detail: SHAPE }
  if (locale !== undefined && typeof locale !== 'string') {
    return { code: 'INVALID_LOCALE', detail: 'The member "locale" must be a text such as "de".' }
  }
  return { ips, locale }
}

/** Whether a media type is `application/json`, whose only charset is UTF-8. */
function isJson(type: string): boolean {
  const [essence = '', ...parameters] = type.toLowerCase().split(';')
  return (
    essence.trim() === 'application/json' &&
    parameters.every((each) => !/^\s*charset=/.test(each) || /^\s*charset="?utf-8"?\s*$/.test(each))
  )
}

/** The problem of a batch with more addresses than the plan or the service allows. `null` for other batches. */
export function tooManyItems(count: number, plan: Plan, maxBatch: number): Problem | null {
  const most = Math.min(maxBatch, plan.batch)
  if (count <= most) return null
  const who = most === plan.batch ? `the plan ${quoted(plan.name)}` : 'the service'
  return { code: 'TOO_LARGE', detail: `The batch has ${count} addresses; ${who} allows ${most}.` }
}

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
  readonly #memory = new ByteSink(RECORD_BYTES)

  /** @param hasAsn whether records have a member `asn` */
  constructor(private readonly hasAsn = false) {}

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

  /** The JSON of the record of an address, as {@link write} writes it, or why there is none. */
  one(set: DatabaseSet, ip: string, locale: Locale, at: number): string | LookupFailure {
    const found = this.#find(set, ip)
    if (typeof found !== 'number') return found
    const out = this.#memory
    out.length = 0
    this.#write(set, this.#textsOf(set, locale), found, at, out)
    return decoder.decode(out.bytes)
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
    if (!this.hasAsn) return
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
