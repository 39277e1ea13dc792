import { Address } from '../../../address/address.ts'
import { ipv4Of, NOT_IPV4 } from '../../locating/address-cache.ts'
import { NO_TIME } from '../../locating/event-time.ts'
import { OpeningTime } from '../../locating/opening-time.ts'
import type { CommonPlan } from '../../options.ts'
import { RAW } from '../../options.ts'
import { type ReaderField, type RecordKind, RecordReader } from '../../reading/record-reader.ts'
import { AddressScanner } from '../../scanning/address-scanner.ts'
import { ANY_ADDRESS } from '../../scanning/any-address.ts'
import { WHOLE_TOKENS } from '../../scanning/whole-tokens.ts'
import { latin1 } from '../../swar.ts'
import type { AppendPlan } from '../../writing/record-form.ts'
import { CLIENT, isOthersIn, NO_CLIENT, PLAIN, roleOf } from './address-role.ts'

export interface TextPlan extends CommonPlan, AppendPlan {
  readonly format: 'text'
  /** How an address is written with its place; `null` if the address stays, because the location is appended or in an object. */
  readonly annotate: string | null
  /** The number of the address in a line, from 1; `null` for that of {@link TextReader}. */
  readonly nth: number | null
  /** The instant before which the lines were written, for times without a year; `null` if unknown. */
  readonly latest: number | null
}

const DOUBT =
  "it has an address that is not taken: it is a server's, is in a request, or is a part of a version, a network, a name or a path"
const UNSURE = "it has several addresses that can be the client's, and which one is taken is a guess"
/** The bytes before an address in which the same one is looked for. */
const MAX_BEFORE = 2048
/** Ranks: of a public address that has no name, and of what is not chosen. */
const FAIR = 2 * PLAIN
const UNFIT = 2 * NO_CLIENT

/**
 * Reads lines of text. The chosen address of a line is the one with a number, or the one that can be the client's. Its role comes
 * first, so that another party's address never stands in for the client's. Of one role, the first public address comes before a
 * special one, which is a guess. If places are added to lines, all public addresses are found.
 */
export class TextReader extends RecordReader {
  override readonly fields: readonly ReaderField[] = [
    { name: RAW, kind: 'text' },
    { name: 'ip', kind: 'text' },
  ]
  readonly #nth: number | null
  readonly #hasPlaces: boolean
  readonly #scanner = new AddressScanner(WHOLE_TOKENS)
  readonly #others = new AddressScanner(ANY_ADDRESS)
  readonly #time: OpeningTime
  readonly #address = new Address()

  constructor({ nth, annotate, latest }: TextPlan) {
    super()
    this.#nth = nth
    this.#hasPlaces = annotate !== null
    this.#time = new OpeningTime(latest ?? NO_TIME)
  }

  read(bytes: Uint8Array, start: number, end: number): RecordKind {
    this.useBytes(bytes, start, end)
    this.isLocal = this.#time.read(bytes, start, end) !== 'instant'
    this.instant = this.#time.instant
    this.#choose(bytes, start, end)
    const isMissing = this.addressStart === this.addressEnd && this.#nth === null
    if (isMissing && this.#hasOther(bytes, start, end)) this.doubt = DOUBT
    return 'read'
  }

  override find(field: number): boolean {
    const isLine = field === 0
    this.bytes = this.record
    this.start = isLine ? this.recordStart : this.addressStart
    this.end = isLine ? this.recordEnd : this.addressEnd
    return this.end > this.start
  }

  #choose(bytes: Uint8Array, line: number, end: number): void {
    const [scanner, nth, hasPlaces] = [this.#scanner, this.#nth, this.#hasPlaces]
    let [chosen, number] = [UNFIT, 0]
    this.addressStart = this.addressEnd = line
    this.places.length = 0
    this.doubt = ''
    for (let from = line; scanner.next(bytes, line, from, end); from = scanner.tokenEnd) {
      if (nth !== null && ++number < nth) continue
      // If a public address of rank FAIR is chosen, only an address that is named as the client's is better.
      const isFair = chosen <= FAIR
      const role = nth === null ? roleOf(scanner, isFair) : PLAIN
      if (hasPlaces) this.places.push(scanner.tokenStart, scanner.tokenEnd, scanner.start, scanner.end)
      if (isFair && role !== CLIENT) continue
      const { start, end: after } = scanner
      const text = chosen < FAIR ? latin1(bytes, start, after) : ''
      // The far end of a connection comes again as the source of its answers.
      if (text !== '' && isOthersIn(latin1(bytes, Math.max(line, start - MAX_BEFORE), start), text)) continue
      const rank = 2 * role + (this.#isPublic(bytes, start, after) ? 0 : 1)
      if (rank < chosen) {
        // A public address is taken after one of the same role that is not, such as that of a proxy.
        this.doubt = rank >> 1 === chosen >> 1 ? UNSURE : ''
        chosen = rank
        this.addressStart = start
        this.addressEnd = after
      } else if (role === CLIENT && text !== latin1(bytes, this.addressStart, this.addressEnd))
        this.doubt = UNSURE
      if (nth !== null) break
    }
  }

  /** Whether an address can have a location. */
  #isPublic(bytes: Uint8Array, start: number, end: number): boolean {
    const address = this.#address
    const ipv4 = ipv4Of(bytes, start, end)
    if (ipv4 !== NOT_IPV4) address.setIPv4(ipv4 >>> 0, '')
    else if (!address.parse(latin1(bytes, start, end))) return false
    return address.special === null
  }

  /** Whether a line without a chosen address has what can be one. */
  #hasOther(bytes: Uint8Array, line: number, end: number): boolean {
    const others = this.#others
    for (let from = line; others.next(bytes, line, from, end); from = others.end)
      if (!others.isDoubtful) return true
    return false
  }
}
