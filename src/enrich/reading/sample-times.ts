import { Address } from '../../address/address.ts'
import { eventTimeOf, NUMBER } from '../locating/event-time.ts'

/** No log is older. Numbers that count from another epoch, or in other units, give times before or after. */
const EARLIEST = Date.UTC(2000, 0, 1)
/** Times of a log are at most this far in the future: clocks and time zones differ. */
const DAY_MS = 86_400_000

/** Smaller numbers are durations, counters or days, and not times. */
const LEAST_INSTANT = 1e8

/** Digits of a date, and of a time: `20260701`, `202607011200`, `20260701120000`. */
const COMPACT =
  /^(?:19|20)\d\d(?:0[1-9]|1[0-2])(?:0[1-9]|[12]\d|3[01])(?:(?:[01]\d|2[0-3])[0-5]\d(?:[0-5]\d)?)?$/
/** `2607011200`. */
const SHORT_COMPACT = /^\d\d(?:0[1-9]|1[0-2])(?:0[1-9]|[12]\d|3[01])(?:[01]\d|2[0-3])[0-5]\d$/
const LOCAL = /^\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:[.,]\d+)?)?)?$/i
const DATE_LIKE = /\d[:/.-]\d|\b(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)/i

/** Why a value that is a time cannot be read, and what to do about it. */
export interface UnreadableTime {
  /** Can follow a value: "is". */
  readonly fault: string
  /** Can follow a colon. */
  readonly remedy: string
  /** Whether it would be read as another time. */
  readonly isMisread: boolean
}

const AS_ISO = 'write it as 2026-07-01T12:00:00Z'
const LOCAL_TIME: UnreadableTime = {
  fault: 'has no offset from UTC',
  remedy: 'write the offset after it, as in 2026-07-01T12:00:00Z',
  isMisread: false,
}
const OTHER_SPELLING: UnreadableTime = {
  fault: 'is neither ISO 8601 with an offset nor a number since 1970',
  remedy: AS_ISO,
  isMisread: false,
}
const DIGITS: UnreadableTime = {
  fault: 'is a date written as digits (YYYYMMDD or YYMMDDHHMM), without an offset from UTC',
  remedy: AS_ISO,
  isMisread: true,
}
const NOT_NOW: UnreadableTime = {
  fault: 'is not between the year 2000 and tomorrow',
  remedy: AS_ISO,
  isMisread: false,
}

/** Numbers of other epochs that are times between 2000 and 2040, `[from, to)`. As numbers since 1970 none is. */
const EPOCHS: readonly (readonly [from: number, to: number, what: string, remedy: string])[] = [
  [
    6.3e17,
    6.44e17,
    '.NET ticks, 100 ns since the year 1',
    'subtract 621355968000000000 and divide by 10000000',
  ],
  [
    1.259e17,
    1.386e17,
    'a Windows FILETIME, 100 ns since 1601',
    'divide by 10000000 and subtract 11644473600',
  ],
  [
    1.259e16,
    1.386e16,
    'a WebKit time, microseconds since 1601',
    'divide by 1000000 and subtract 11644473600',
  ],
  [LEAST_INSTANT, EARLIEST / 1000, 'Cocoa seconds, since 2001', 'add 978307200'],
  [3.15e17, EARLIEST * 1e6, 'Cocoa nanoseconds, since 2001', 'divide by 1000000000 and add 978307200'],
]

/** What the values of a field are as times of events. */
export class SampleTimes {
  /** Values that are times between 2000 and tomorrow. */
  readable = 0
  /** Values that are times in a form that is not read. */
  unreadable = 0
  /** Values that are neither times nor missing. */
  others = 0
  /** The first unreadable value, and why it is; `null` without one. */
  example: { readonly value: string; readonly why: UnreadableTime } | null = null
  /** The first readable value, and whether all are dates written as ten digits, which are read as seconds otherwise. */
  #first: string | null = null
  #isShortCompact = true
  #differ = false
  readonly #latest = Date.now() + DAY_MS

  /** @param value not missing */
  add(value: string): void {
    const why = this.#faultOf(value)
    if (why === null) {
      this.readable++
      this.#first ??= value
      this.#differ ||= value !== this.#first
      this.#isShortCompact &&= SHORT_COMPACT.test(value)
    } else if (why === 'other') this.others++
    else {
      this.unreadable++
      this.example ??= { value, why }
    }
  }

  /** Whether at least half of the values are times, in whatever form. */
  get areTimes(): boolean {
    const times = this.readable + this.unreadable
    return times > 0 && times >= this.others
  }

  /** Why most values cannot be read, with an example; `null` if most can be read. */
  get fault(): { readonly value: string; readonly why: UnreadableTime } | null {
    // Seconds of one hour would have numbers over 59 where dates have minutes.
    if (this.#first !== null && this.#differ && this.#isShortCompact)
      return { value: this.#first, why: DIGITS }
    return this.readable < this.unreadable ? this.example : null
  }

  /** @returns `null` if the value can be read, and `other` if it is not a time */
  #faultOf(value: string): UnreadableTime | 'other' | null {
    const instant = eventTimeOf(value)
    const isPlausible = instant >= EARLIEST && instant < this.#latest
    if (!NUMBER.test(value)) {
      if (isPlausible) return null
      if (!Number.isNaN(instant)) return NOT_NOW
      if (LOCAL.test(value)) return LOCAL_TIME
      return DATE_LIKE.test(value) ? OTHER_SPELLING : 'other'
    }
    const number = Number(value)
    const [, , what, remedy = ''] = EPOCHS.find(([from, to]) => number >= from && number < to) ?? []
    if (what !== undefined) return { fault: `is ${what}`, remedy, isMisread: true }
    if (COMPACT.test(value)) return DIGITS
    if (isPlausible) return null
    if (Math.abs(number) < LEAST_INSTANT) return 'other'
    return SHORT_COMPACT.test(value) ? DIGITS : NOT_NOW
  }
}

/** Distinct networks that are counted, at most. */
const MAX_NETWORKS = 64
/** Fewer addresses say nothing about how their parts are distributed. */
const MIN_DISTRIBUTED = 10
/** Fewer addresses with small numbers are accepted: `1.2.3.4` is what people type to try a program. */
const MIN_SMALL = 3

/** Addresses that people locate and that have small numbers only, as versions do: public resolvers. */
const RESOLVERS: ReadonlySet<string> = /* @__PURE__ */ new Set(
  '1.1.1.1 1.0.0.1 1.1.1.2 1.0.0.2 1.1.1.3 1.0.0.3 8.8.8.8 8.8.4.4 9.9.9.9 9.9.9.10 4.2.2.1 4.2.2.2 4.2.2.3 4.2.2.4 4.2.2.5 4.2.2.6'.split(
    ' ',
  ),
)

/** What tells addresses of clients from versions, and from addresses of a few servers: their values. */
export class AddressEvidence {
  #addresses = 0
  #public = 0
  #ipv4 = 0
  /** Addresses such as 120.0.0.0, which hosts rarely have and versions often. */
  #zeros = 0
  /** Addresses such as 29.1.1.0: the last number is 0, and the one before it has one digit. Addresses of `#zeros` are counted here too. */
  #ending = 0
  /** Public addresses such as 4.1.2.3: all numbers but the first have one digit. Without resolvers. */
  #small = 0
  /** Addresses with a large number in one of their last two parts, which versions rarely have. */
  #large = 0
  /** Public IPv4 addresses without resolvers; and of those that are told to be new, how many have a large number. */
  #usual = 0
  #distinct = 0
  #distinctLarge = 0
  /** The first 8 bits of IPv4 addresses and the first 32 of others. */
  readonly #networks = new Set<number>()

  /** @param isNew whether it counts for the distribution of numbers: one client can have most lines of a log */
  add(address: Address, isNew = true): void {
    this.#addresses++
    const isPublic = address.special === null
    if (isPublic) this.#public++
    if (address.family === 4) this.#addIpv4(address.ipv4, isPublic, isNew)
    const network = address.family === 4 ? address.ipv4 >>> 24 : (address.words[0] ?? 0)
    if (this.#networks.size < MAX_NETWORKS) this.#networks.add(network)
  }

  #addIpv4(ipv4: number, isPublic: boolean, isNew: boolean): void {
    const [first, second, third, fourth] = [
      ipv4 >>> 24,
      (ipv4 >>> 16) & 0xff,
      (ipv4 >>> 8) & 0xff,
      ipv4 & 0xff,
    ]
    const isLarge = third >= 64 || fourth >= 64
    this.#ipv4++
    if (third === 0 && fourth === 0) this.#zeros++
    if (third < 10 && fourth === 0) this.#ending++
    if (isLarge) this.#large++
    if (!isPublic || RESOLVERS.has(`${first}.${second}.${third}.${fourth}`)) return
    this.#usual++
    if (isNew) this.#distinct++
    if (isNew && isLarge) this.#distinctLarge++
    if (second < 10 && third < 10 && fourth < 10) this.#small++
  }

  /** Whether more than half of the addresses are public. */
  get isPublic(): boolean {
    return this.#public * 2 > this.#addresses
  }

  /** Whether there are addresses, and none is public. */
  get isLocal(): boolean {
    return this.#addresses > 0 && this.#public === 0
  }

  /** Whether the addresses are from many networks: as many as there are addresses, if these are fewer. */
  isSpread(networks: number): boolean {
    return this.#networks.size >= Math.min(networks, this.#addresses)
  }

  /**
   * Whether the addresses are from many networks, and no versions.
   *
   * @param networks that are needed if there are as many addresses
   */
  isOfClients(networks: number): boolean {
    const isVersion = this.#zeros > 0 || (this.#addresses >= MIN_DISTRIBUTED && this.#large * 2 < this.#ipv4)
    return !isVersion && this.isSpread(networks)
  }

  /**
   * Whether the values are versions rather than addresses. It refuses less than `isOfClients`, because lists of addresses
   * have no name that could decide: a single address, `1.2.3.4`, resolvers and private addresses are accepted.
   */
  get looksLikeVersions(): boolean {
    const addresses = this.#addresses
    if (addresses === 0 || this.#ipv4 < addresses) return false
    if (this.#ending * 2 > addresses) return true
    if (this.#distinct < MIN_DISTRIBUTED) return this.#usual >= MIN_SMALL && this.#small * 2 > addresses
    return (this.#distinct - this.#distinctLarge) * 2 > this.#distinct + addresses - this.#usual
  }
}

/** Whether the texts that are addresses, without a port, are versions by their values. */
export function looksLikeVersions(texts: readonly string[]): boolean {
  const address = new Address()
  const evidence = new AddressEvidence()
  for (const text of texts) if (address.parse(text)) evidence.add(address)
  return evidence.looksLikeVersions
}
