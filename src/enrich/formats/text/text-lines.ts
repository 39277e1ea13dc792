import type { ByteSink } from '../../../bytes/byte-sink.ts'
import type { LineFormat, LineResult } from '../../engine/line-format.ts'
import { NO_TIME } from '../../locating/event-time.ts'
import type { LineLocator } from '../../locating/line-locator.ts'
import { OpeningTime } from '../../locating/opening-time.ts'
import type { CommonPlan } from '../../options.ts'
import { AddressScanner } from '../../scanning/address-scanner.ts'
import { ANY_ADDRESS } from '../../scanning/any-address.ts'
import { WHOLE_TOKENS } from '../../scanning/whole-tokens.ts'
import { type AppendPlan, appendedNothing } from '../../writing/appended-location.ts'
import { JsonText, jsonRoom, RAW } from '../../writing/json-text.ts'
import { AddressRoles, CLAIM, CLIENT, PLAIN } from './address-role.ts'
import { ADDRESS } from './annotation.ts'

export interface TextPlan extends CommonPlan, AppendPlan {
  readonly format: 'text'
  /** How an address is written with its place; `null` if the address stays, because the location is appended or in an object. */
  readonly annotate: string | null
  /** The number of the address in a line, from 1; `null` for that of {@link TextLines}. */
  readonly nth: number | null
  /** The instant before which the lines were written, for times without a year; `null` if unknown. */
  readonly latest: number | null
}

const TAB = 0x09
const QUOTE = 0x22
const MARK = ADDRESS.charCodeAt(0)

const DOUBT =
  'it has an address that is not taken: it is in a request, or a part of a version, a network, a name or a path'
/** Ranks: of a public address that is named as the client's, of one that has no name, and of what is not chosen. */
const BEST = 2 * CLIENT
const FAIR = 2 * PLAIN
const UNFIT = 2 * CLAIM

/**
 * In which order one address of a line is chosen: by its role, and public ones before special ones of the same role, so that
 * another party's address never stands in for the client's. What the client wrote is not chosen.
 */
function rankOf(role: number, isPublic: boolean): number {
  return role === CLAIM ? UNFIT : 2 * role + (isPublic ? 0 : 1)
}

/**
 * Enriches lines of text. Each public address of a line gets its place; or the chosen address of the line gets its location, after
 * the line or in an object. The chosen address is the one with a number, or the first public one that can be the client's; see
 * {@link rankOf}. It decides whether the line is resolved.
 */
export class TextLines implements LineFormat {
  readonly rewrites: boolean
  readonly fault = ''
  doubt = ''
  readonly #plan: TextPlan
  readonly #locator: LineLocator
  readonly #scanner = new AddressScanner(WHOLE_TOKENS)
  readonly #others = new AddressScanner(ANY_ADDRESS)
  readonly #roles = new AddressRoles()
  readonly #time: OpeningTime
  readonly #text = new JsonText()
  /** After the address in an object. */
  readonly #beforeLocation: Uint8Array
  readonly #isAddressFirst: boolean
  /** What is appended to a line without a location; `null` if nothing is appended. */
  readonly #nothing: Uint8Array | null
  /** The chosen address of the line. */
  #start = 0
  #end = 0

  constructor(plan: TextPlan, locator: LineLocator) {
    this.#plan = plan
    this.#locator = locator
    this.#nothing = appendedNothing(plan)
    this.rewrites = plan.annotate === null && !plan.append
    this.#time = new OpeningTime(plan.latest ?? NO_TIME)
    this.#isAddressFirst = plan.annotate?.startsWith('{ip}') === true
    this.#beforeLocation = new TextEncoder().encode(`,${JSON.stringify(plan.into)}:`)
  }

  line(bytes: Uint8Array, start: number, end: number, out: ByteSink): LineResult {
    const kind = this.#time.read(bytes, start, end)
    if (kind === 'instant') this.#locator.instant = this.#time.instant
    else this.#locator.localInstant = this.#time.instant
    const isLocated = this.#choose(bytes, start, end, this.#plan.annotate === null ? null : out)
    const hasOther = this.#start === this.#end && this.#plan.nth === null && this.#hasOther(bytes, start, end)
    this.doubt = hasOther ? DOUBT : ''
    if (!this.#locator.writesLines) return isLocated ? 'resolved' : 'unresolved'
    if (this.rewrites) this.#writeObject(bytes, start, end, out)
    else if (this.#nothing !== null) {
      out.write(bytes, start, end)
      if (!isLocated) out.write(this.#nothing)
      else {
        out.writeByte(TAB)
        if (this.#plan.fields === null) this.#locator.writeJson(out)
        else this.#locator.writeRendered(out)
      }
    }
    return isLocated ? 'resolved' : 'unresolved'
  }

  /**
   * Locates the chosen address.
   *
   * @param out receives the line with the places of its addresses; `null` if only the chosen one is wanted
   * @returns whether it has a location
   */
  #choose(bytes: Uint8Array, line: number, end: number, out: ByteSink | null): boolean {
    const locator = this.#locator
    const scanner = this.#scanner
    const { nth } = this.#plan
    let chosen = UNFIT
    // Whether the locator holds the chosen address, and whether the last address has a location.
    let isCurrent = false
    let isLocated = false
    let written = line
    this.#start = this.#end = line
    for (
      let from = line, number = 1;
      scanner.next(bytes, line, from, end);
      from = scanner.tokenEnd, number++
    ) {
      if (nth !== null && number < nth) continue
      // After a public address that nothing speaks against, only the client's own is better.
      const isFair = chosen <= FAIR
      const isDecided = chosen === BEST || nth !== null
      const role = isDecided ? PLAIN : this.#roles.role(bytes, line, from, end, scanner, isFair)
      if (out === null && isFair && role !== CLIENT) continue
      isLocated = locator.locate(bytes, scanner.start, scanner.end)
      const isPublic = isLocated || locator.reason === 'not-found' || locator.reason === 'invalid-database'
      const rank = rankOf(role, isPublic)
      isCurrent = rank < chosen
      if (isCurrent) {
        chosen = rank
        this.#start = scanner.start
        this.#end = scanner.end
      }
      if (out !== null && isLocated) written = this.#writePlace(bytes, written, out)
      if (nth !== null || (out === null && chosen === BEST)) break
    }
    if (out !== null) out.write(bytes, written, end)
    if (chosen === UNFIT) return locator.missing()
    return isCurrent ? isLocated : locator.locate(bytes, this.#start, this.#end)
  }

  /** Whether a line without a chosen address has what can be one. */
  #hasOther(bytes: Uint8Array, line: number, end: number): boolean {
    const others = this.#others
    for (let from = line; others.next(bytes, line, from, end); from = others.end)
      if (!others.isDoubtful) return true
    return false
  }

  /**
   * Writes the line up to the end of an address, and the place of the address.
   *
   * @param from the index up to which the line is written
   * @returns the same index afterwards
   */
  #writePlace(bytes: Uint8Array, from: number, out: ByteSink): number {
    const { tokenStart, tokenEnd } = this.#scanner
    if (this.#isAddressFirst) {
      out.write(bytes, from, tokenEnd)
      this.#locator.writeRendered(out)
      return tokenEnd
    }
    out.write(bytes, from, tokenStart)
    const start = out.length
    this.#locator.writeRendered(out)
    const size = tokenEnd - tokenStart
    const into = out.room(size)
    const mark = into.subarray(0, out.length).indexOf(MARK, start)
    if (mark === -1) out.write(bytes, tokenStart, tokenEnd)
    else {
      into.copyWithin(mark + size, mark + 1, out.length)
      into.set(bytes.subarray(tokenStart, tokenEnd), mark)
      out.length += size - 1
    }
    return tokenEnd
  }

  #writeObject(bytes: Uint8Array, start: number, end: number, out: ByteSink): void {
    out.writeAscii(`{"${RAW}":"`)
    out.length = this.#text.put(bytes, start, end, out.room(jsonRoom(end - start)), out.length)
    if (this.#start === this.#end) out.writeAscii('","ip":null')
    else {
      out.writeAscii('","ip":"')
      out.write(bytes, this.#start, this.#end)
      out.writeByte(QUOTE)
    }
    out.write(this.#beforeLocation)
    this.#locator.writeJson(out)
    out.writeAscii('}')
  }
}
