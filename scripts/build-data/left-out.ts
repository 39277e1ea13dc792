// What the build leaves out of the source's IPv6 file: the source has a location for every address in 2000::/3, also where
// nobody is.
import { parseCidr } from '../../src/address/ip-text.ts'

/** IANA's names for registries that assign addresses to holders. Rows of others are for protocols, such as 6to4. */
const REGIONAL_REGISTRIES = ['AFRINIC', 'APNIC', 'ARIN', 'LACNIC', 'RIPE NCC']

/** Prefixes up to this length are recognised by the first word of an address. */
const WORD_BITS = 32

/** A prefix by the first 32 bits of its addresses. */
type Prefix = { readonly first: number; readonly length: number }

/** Part of the address space: all of it can be assigned to holders, none of it, or some. */
export type Part = 'all' | 'none' | 'some'

/** The IPv6 space that IANA has allocated to regional registries. */
export class AllocatedSpace {
  /** When IANA last changed its registry, in ISO 8601. */
  readonly date: string
  readonly #prefixes: readonly Prefix[]
  /** The length of the longest prefix. */
  readonly longest: number

  /**
   * @param csv the registry's columns Prefix, Designation, Date and Status. Lines that start with `#` are comments, and one
   * of them says `Last updated` and the date
   * @throws Error if it is something else
   */
  constructor(csv: string) {
    const lines = csv.split('\n').filter((line) => line !== '')
    const date = /^# Last updated (\d{4}-\d\d-\d\d)\b/m.exec(csv)?.[1]
    if (date === undefined) throw new Error('the table of IPv6 allocations has no line "# Last updated DATE"')
    this.date = date
    const [header, ...rows] = lines.filter((line) => !line.startsWith('#'))
    if (header !== 'Prefix,Designation,Date,Status')
      throw new Error(`the table of IPv6 allocations has the columns ${header}`)
    this.#prefixes = rows.flatMap((row) => {
      const [prefix = '', designation = '', , status] = row.split(',')
      const { family, words, prefixLength } = parseCidr(prefix)
      if (family !== 6 || prefixLength > WORD_BITS)
        throw new Error(`${prefix} is not an IPv6 prefix of at most /32`)
      if (status !== 'ALLOCATED' && status !== 'RESERVED')
        throw new Error(`${prefix} has the status ${status}`)
      const isHeld = status === 'ALLOCATED' && REGIONAL_REGISTRIES.includes(designation)
      return isHeld ? [{ first: words[0] ?? 0, length: prefixLength }] : []
    })
    this.longest = Math.max(...this.#prefixes.map(({ length }) => length))
  }

  /** @param high the first 32 bits of the network's addresses */
  partOf(high: number, prefixLength: number): Part {
    if (this.#prefixes.some(({ first, length }) => length <= prefixLength && isWithin(high, first, length)))
      return 'all'
    const isAround = this.#prefixes.some(
      ({ first, length }) => length > prefixLength && isWithin(first, high, prefixLength),
    )
    return isAround ? 'some' : 'none'
  }
}

function isWithin(address: number, first: number, length: number): boolean {
  return length === 0 || (address ^ first) >>> (WORD_BITS - length) === 0
}

/** A location of the source, which names it by all of its fields. */
export type Place = {
  readonly country: string
  readonly region: string
  readonly city: string
  /** Decimal degrees. */
  readonly latitude: number
  readonly longitude: number
}

/** A location that the source gives to space that nobody has. */
export type Placeholder = Place & {
  /** Whose space it is. */
  readonly space: string
}

/** Decides what the build leaves out of the source's IPv6 file. */
export class LeftOut {
  /** What is left out, in words. The first is unallocated space; the others are the placeholders. */
  readonly reasons: readonly [unallocated: string, ...placeholders: string[]]
  readonly #allocated: AllocatedSpace
  readonly #placeholders: readonly Placeholder[]

  constructor(allocated: AllocatedSpace, placeholders: readonly Placeholder[]) {
    this.#allocated = allocated
    this.#placeholders = placeholders
    this.reasons = [
      `IPv6 networks that IANA has not allocated to a regional registry (registry of ${allocated.date})`,
      ...placeholders.map(
        ({ space, city, country }) =>
          `IPv6 networks with the placeholder ${city}, ${country}, of the source (${space})`,
      ),
    ]
  }

  /**
   * Whether a subtree of an IPv6 search tree is unallocated as a whole, if the subtree around it is not.
   *
   * @param high the first 32 bits of its addresses
   * @param isNetwork whether the subtree is one network of the source
   * @throws Error if only a part of a network is allocated: the build does not divide networks
   */
  isUnallocated(high: number, prefixLength: number, isNetwork: boolean): boolean {
    // Most subtrees are deeper.
    if (prefixLength > this.#allocated.longest) return false
    const part = this.#allocated.partOf(high, prefixLength)
    if (part === 'some' && isNetwork) {
      const first = high.toString(16).padStart(8, '0')
      throw new Error(`IANA has allocated only a part of the source's network ${first}, /${prefixLength}`)
    }
    return part === 'none'
  }

  /** The index in {@link reasons} of the placeholder that a location is; `null` if it is a real one. */
  placeholderReason(place: Place): number | null {
    const index = this.#placeholders.findIndex(
      ({ country, region, city, latitude, longitude }) =>
        place.country === country &&
        place.region === region &&
        place.city === city &&
        // The source has 32-bit floats.
        place.latitude === Math.fround(latitude) &&
        place.longitude === Math.fround(longitude),
    )
    return index < 0 ? null : index + 1
  }
}
