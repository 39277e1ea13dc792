import { Address } from '../../address/address.ts'
import { MAX_ADDRESS_CHARS } from '../../address/ip-text.ts'
import { ClientWalk, MAX_FIELD_CHARS } from '../../client/client-address.ts'
import { readHop, readHopWithPort } from '../../client/hop.ts'
import { isGeofixError } from '../../errors.ts'
import { type AutonomousSystems, NO_SYSTEM } from '../../location/autonomous-systems.ts'
import type { LocationTables } from '../../location/database-set.ts'
import { findLocation } from '../../location/lookup.ts'
import type { FailureReason } from '../counting/counts.ts'
import type { CommonPlan } from '../options.ts'

/** Finds the location of the address in a text. */
export class AddressFinder {
  /** Canonical text of the last address; '' if the last text had none. */
  ip = ''
  /** The number of the autonomous system of the last address that has a location. */
  system = NO_SYSTEM
  /** Longer texts are malformed. A list of hops may be longer than an address. Characters. */
  readonly longest: number
  readonly #clients: ClientWalk | null
  readonly #hasPort: boolean
  readonly #address = new Address()

  /**
   * @throws InvalidDatabaseError when the databases hold no locations
   * @throws TypeError when `trustedProxies` is invalid
   */
  constructor(
    private readonly locations: LocationTables,
    { trustedProxies, hasPort = false }: Pick<CommonPlan, 'trustedProxies' | 'hasPort'>,
    private readonly systems: AutonomousSystems | null = null,
  ) {
    if (locations.noLocationsError !== null) throw locations.noLocationsError
    this.#hasPort = hasPort
    // The writer of the log is the peer: trust its list like that of a local proxy on a Unix socket.
    this.#clients =
      trustedProxies === null ? null : new ClientWalk({ trustedProxies: [...trustedProxies, 'unix:'] })
    this.longest = this.#clients === null ? MAX_ADDRESS_CHARS : MAX_FIELD_CHARS
  }

  /** Whether the text is an address alone, and not a list of hops. */
  get isPlain(): boolean {
    return this.#clients === null
  }

  /** @returns the number of the address's location in the set, or why it has none */
  find(text: string): number | FailureReason {
    this.ip = ''
    if (text === '' || text === '-') return 'missing'
    const address = this.#address
    const failure = this.#clients === null ? this.#parse(text) : this.#walk(this.#clients, text)
    if (failure !== null) return failure
    this.ip = address.text
    return this.#locate()
  }

  /**
   * `find` for an IPv4 address that is parsed already. It needs no text. Call it only if {@link isPlain}.
   *
   * @param ipv4 an unsigned 32-bit number
   */
  findIPv4(ipv4: number): number | FailureReason {
    this.#address.setIPv4(ipv4, '')
    return this.#locate()
  }

  #locate(): number | FailureReason {
    const found = findLocation(this.locations, this.#address)
    if (typeof found === 'number' && this.systems !== null) return this.#withSystem(found, this.systems)
    return typeof found === 'object' ? 'invalid-database' : found
  }

  #withSystem(found: number, systems: AutonomousSystems): number | FailureReason {
    try {
      this.system = systems.find(this.#address)
      return found
    } catch (error) {
      if (isGeofixError(error)) return 'invalid-database'
      throw error
    }
  }

  #parse(text: string): FailureReason | null {
    const isRead =
      (this.#hasPort && readHopWithPort(text, this.#address) === 'address') ||
      readHop(text, this.#address) === 'address'
    return isRead ? null : 'malformed'
  }

  #walk(clients: ClientWalk, text: string): FailureReason | null {
    const source = { headers: { [clients.field]: text }, remoteAddress: 'unix:' }
    const found = clients.find(source, undefined, this.#address)
    if (typeof found === 'string') return null
    return found.error.code === 'UNRESOLVABLE_ADDRESS' ? found.error.reason : 'malformed'
  }
}
