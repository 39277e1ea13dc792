import { Address } from '../../address/address.ts'

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
