import { Address } from '../../address/address.ts'
import { instantOf, NUMBER } from '../locating/event-time.ts'

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
  readonly isMisread?: boolean
}

const AS_ISO = 'write it as 2026-07-01T12:00:00Z'
const LOCAL_TIME: UnreadableTime = {
  fault: 'has no offset from UTC',
  remedy: 'write the offset after it, as in 2026-07-01T12:00:00Z',
}
const OTHER_SPELLING: UnreadableTime = {
  fault: 'is neither ISO 8601 with an offset nor a number since 1970',
  remedy: AS_ISO,
}
const DIGITS: UnreadableTime = {
  fault: 'is a date written as digits (YYYYMMDD or YYMMDDHHMM), without an offset from UTC',
  remedy: AS_ISO,
  isMisread: true,
}
const NOT_NOW: UnreadableTime = {
  fault: 'is not between the year 2000 and tomorrow',
  remedy: AS_ISO,
}

/** Numbers of other epochs that are times between 2000 and 2040, `[from, to)`. None of them is such a time as a number since 1970. */
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
export interface SampleTimes {
  /** Whether at least half of the values are times, in whatever form. */
  readonly areTimes: boolean
  /** Why most values cannot be read, with an example; `null` if most can be read. */
  readonly fault: { readonly value: string; readonly why: UnreadableTime } | null
}

/** @param values not missing */
export function timesIn(values: readonly string[]): SampleTimes {
  const latest = Date.now() + DAY_MS
  const all = values.map((value) => ({ value, why: faultOf(value, latest) }))
  const readable = all.filter(({ why }) => why === null)
  const unreadable = all.flatMap(({ value, why }) =>
    why === null || why === 'other' ? [] : [{ value, why }],
  )
  const times = readable.length + unreadable.length
  const [first] = readable
  const [example] = unreadable
  // Dates written as ten digits are read as seconds otherwise. Seconds of one hour would have numbers over 59 where dates have minutes.
  const areDates =
    readable.some(({ value }) => value !== first?.value) &&
    readable.every(({ value }) => SHORT_COMPACT.test(value))
  const misread = first !== undefined && areDates ? { value: first.value, why: DIGITS } : null
  const fault = readable.length < unreadable.length ? (example ?? null) : null
  return { areTimes: times > 0 && times * 2 >= all.length, fault: misread ?? fault }
}

/** @returns `null` if the value can be read, and `other` if it is not a time */
function faultOf(value: string, latest: number): UnreadableTime | 'other' | null {
  const instant = instantOf(value)
  const isPlausible = instant >= EARLIEST && instant < latest
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

/** An IPv4 address of a sample. */
interface SeenIPv4 {
  readonly octets: readonly [first: number, second: number, third: number, fourth: number]
  /** Whether it is public and no resolver. */
  readonly isUsual: boolean
  readonly isNew: boolean
  /** Whether one of its last two numbers is large, which versions rarely have. */
  readonly isLarge: boolean
}

/** What tells addresses of clients from versions, and from addresses of a few servers: their values. */
export class AddressEvidence {
  #addresses = 0
  #public = 0
  readonly #ipv4: SeenIPv4[] = []
  /** The first 8 bits of IPv4 addresses and the first 32 of others. */
  readonly #networks = new Set<number>()

  /** @param isNew whether it counts for the distribution of numbers: one client can have most lines of a log */
  add({ family, special, ipv4, words }: Address, isNew = true): void {
    const isPublic = special === null
    const octets = [ipv4 >>> 24, (ipv4 >>> 16) & 0xff, (ipv4 >>> 8) & 0xff, ipv4 & 0xff] as const
    this.#addresses++
    if (isPublic) this.#public++
    const isUsual = isPublic && !RESOLVERS.has(octets.join('.'))
    if (family === 4) this.#ipv4.push({ octets, isUsual, isNew, isLarge: octets[2] >= 64 || octets[3] >= 64 })
    if (this.#networks.size < MAX_NETWORKS) this.#networks.add(family === 4 ? octets[0] : (words[0] ?? 0))
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
    // Hosts rarely have addresses such as 120.0.0.0, and versions often.
    const hasZeros = this.#ipv4.some(({ octets: [, , third, fourth] }) => third === 0 && fourth === 0)
    const large = this.#ipv4.filter(({ isLarge }) => isLarge)
    const areSmall = this.#addresses >= MIN_DISTRIBUTED && large.length * 2 < this.#ipv4.length
    return !hasZeros && !areSmall && this.isSpread(networks)
  }

  /**
   * Whether the values are versions rather than addresses. It refuses less than `isOfClients`, because lists of addresses
   * have no name that could decide: a single address, `1.2.3.4`, resolvers and private addresses are accepted.
   */
  get looksLikeVersions(): boolean {
    const ipv4 = this.#ipv4
    if (ipv4.length === 0 || ipv4.length < this.#addresses) return false
    // Addresses such as 29.1.1.0.
    if (ipv4.filter(({ octets: [, , third, fourth] }) => third < 10 && fourth === 0).length * 2 > ipv4.length)
      return true
    const usual = ipv4.filter(({ isUsual }) => isUsual)
    const distinct = usual.filter(({ isNew }) => isNew)
    if (distinct.length < MIN_DISTRIBUTED) {
      // Addresses such as 4.1.2.3.
      const small = usual.filter(({ octets }) => octets.slice(1).every((octet) => octet < 10))
      return usual.length >= MIN_SMALL && small.length * 2 > ipv4.length
    }
    const small = distinct.filter(({ isLarge }) => !isLarge)
    return small.length * 2 > distinct.length + ipv4.length - usual.length
  }
}

/** Whether the texts that are addresses, without a port, are versions by their values. */
export function looksLikeVersions(texts: readonly string[]): boolean {
  const address = new Address()
  const evidence = new AddressEvidence()
  for (const text of texts) if (address.parse(text)) evidence.add(address)
  return evidence.looksLikeVersions
}
