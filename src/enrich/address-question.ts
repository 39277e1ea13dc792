import { Address } from '../address/address.ts'
import { MAX_ADDRESS_CHARS } from '../address/ipv6.ts'
import { ClientWalk, MAX_FIELD_CHARS } from '../client/client-address.ts'
import { isGeofixError } from '../errors.ts'
import type { DatabaseSet } from '../location/database-set.ts'
import type { Location } from '../location/location.ts'
import type { CommonPlan } from './common-plan.ts'
import type { FailureReason } from './tally.ts'

/** Asks the databases about the address that a text holds. */
export class AddressQuestion {
  /** Canonical text of the address asked about last; '' when there is none. */
  ip = ''
  /** Longer texts are malformed, whatever they hold; a list of hops may be longer than an address. Characters. */
  readonly longest: number
  readonly #set: DatabaseSet
  readonly #clients: ClientWalk | null
  readonly #address = new Address()

  /**
   * @throws InvalidDatabaseError when the databases hold no locations
   * @throws TypeError when the proxies cannot be trusted
   */
  constructor(set: DatabaseSet, { trustedProxies }: CommonPlan) {
    if (set.noLocationsError !== null) throw set.noLocationsError
    this.#set = set
    // Whoever wrote the log is the peer: its word is taken for the list, as that of a local proxy is.
    this.#clients =
      trustedProxies === null ? null : new ClientWalk({ trustedProxies: [...trustedProxies, 'unix:'] })
    this.longest = this.#clients === null ? MAX_ADDRESS_CHARS : MAX_FIELD_CHARS
  }

  /** Where the address is, or why that is not known. */
  ask(text: string): Location | FailureReason {
    this.ip = ''
    if (text === '' || text === '-') return 'missing'
    const address = this.#address
    const failure = this.#clients === null ? this.#parse(text) : this.#walk(this.#clients, text)
    if (failure !== null) return failure
    this.ip = address.text
    if (address.special !== null) return address.special
    try {
      return this.#set.locate(address) ?? 'not-found'
    } catch (error) {
      if (isGeofixError(error) && error.code === 'INVALID_DATABASE') return 'invalid-database'
      throw error
    }
  }

  #parse(text: string): FailureReason | null {
    return this.#address.parse(text) ? null : 'malformed'
  }

  #walk(clients: ClientWalk, text: string): FailureReason | null {
    try {
      clients.find({ headers: { [clients.field]: text }, remoteAddress: 'unix:' }, undefined, this.#address)
      return null
    } catch (error) {
      if (!isGeofixError(error)) throw error
      return 'reason' in error && (error.reason === 'unidentified' || error.reason === 'trusted-proxy')
        ? error.reason
        : 'malformed'
    }
  }
}
