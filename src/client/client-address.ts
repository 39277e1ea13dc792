import { Address } from '../address/address.ts'
import { describeSpecialPurpose } from '../address/special-purpose.ts'
import { AddressUnavailableError, MalformedAddressError, UnresolvableAddressError } from '../errors.ts'
import { isBlank, readElement, startOfLastElement, trim } from './forwarded.ts'
import { lacksLines, readField } from './header-field.ts'
import { type Hop, readHop, readNode } from './hop.ts'
import { type DetectSource, headersOf, type PeerOptions, peerIn, requestIn } from './request-source.ts'
import { TrustList, UNIX } from './trust.ts'

/** Whose word is taken about who the client is. */
export interface ClientAddressOptions {
  /**
   * Peers whose forwarding field is believed: addresses, CIDR blocks, `loopback`, `linklocal`, `uniquelocal`,
   * or `unix:` for local sockets. Default: nobody, so that headers are not read at all.
   */
  readonly trustedProxies?: readonly string[] | undefined
  /**
   * The one field that those proxies write. `x-forwarded-for` (the default) and `forwarded` (RFC 7239) hold a
   * list; any other name, such as `cf-connecting-ip`, is a field that holds one address.
   */
  readonly forwardedHeader?: string | undefined
}

/** The address of a request's client. */
export interface ClientAddress {
  /** Canonical text (RFC 5952). */
  readonly address: string
  /** Canonical text of the address whose record answers, as in `parseAddress`. */
  readonly lookup: string
  /** Where it was found: `'socket'` or the lower-case name of the field. */
  readonly via: string
}

/** What happened to one hop on the way to the client, for people who debug their proxies. */
export interface WalkStep {
  readonly via: string
  /** The hop: an address, or what stands in the field. From a hostile caller this can be any text. */
  readonly text: string
  readonly verdict: 'trusted' | 'client' | 'unidentified' | 'malformed'
}

/** Longer fields are no honest chain of proxies. Characters. */
export const MAX_FIELD = 8192
/** A field name is a token (RFC 9110 section 5.1). */
const FIELD_NAME = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/

/** Finds the client of a request: the peer, or the first hop from the right that is not trusted. */
export class ClientWalk {
  readonly #trust: TrustList
  /** The field that is read, in lower case. */
  readonly field: string

  /** @throws TypeError when the options cannot be trusted or make no sense */
  constructor(options: ClientAddressOptions = {}) {
    if (typeof options !== 'object' || options === null || Array.isArray(options)) {
      throw new TypeError("options are an object such as { trustedProxies: ['loopback'] }")
    }
    const { trustedProxies = [], forwardedHeader } = options
    this.#trust = new TrustList(trustedProxies)
    if (forwardedHeader !== undefined && this.#trust.isEmpty) {
      throw new TypeError('forwardedHeader is given and trustedProxies is empty: nobody is believed')
    }
    if (
      forwardedHeader !== undefined &&
      !(typeof forwardedHeader === 'string' && FIELD_NAME.test(forwardedHeader))
    ) {
      throw new TypeError('forwardedHeader is not the name of a header field')
    }
    this.field = (forwardedHeader ?? 'x-forwarded-for').toLowerCase()
  }

  /**
   * @param client receives the client's address
   * @param observe is told of each hop
   * @returns where the address was found: `'socket'` or the name of the field
   * @throws MalformedAddressError when the deciding hop of a trusted proxy's field cannot be read
   * @throws UnresolvableAddressError with `unidentified` or `trusted-proxy`
   * @throws AddressUnavailableError when there is no peer, or Node may have left lines out of the headers
   * @throws TypeError when the source is no request
   */
  find(
    source: DetectSource,
    options: PeerOptions | undefined,
    client: Address,
    observe?: (step: WalkStep) => void,
  ): string {
    const request = requestIn(source)
    const peer = peerIn(request, options)
    if (peer === undefined) {
      throw new AddressUnavailableError(
        'the request has no peer address: the client has left, or the program did not give remoteAddress',
        'no-remote-address',
      )
    }
    if (peer === UNIX) {
      if (!this.#trust.unix) {
        throw new AddressUnavailableError(
          "the peer is a Unix socket, and 'unix:' is not among the trusted proxies",
          'unix-socket',
        )
      }
      observe?.({ via: 'socket', text: peer, verdict: 'trusted' })
    } else {
      if (!client.parse(peer)) {
        throw new AddressUnavailableError(
          'the remoteAddress that the program gave is not an IP address',
          'bad-remote-address',
        )
      }
      const trusted = this.#trust.covers(client)
      observe?.({ via: 'socket', text: client.text, verdict: trusted ? 'trusted' : 'client' })
      if (!trusted) return 'socket'
    }
    const farthest = peer === UNIX ? undefined : client.text
    const field = readField(headersOf(request), this.field)
    if (lacksLines(request, this.field, field)) {
      throw new AddressUnavailableError(
        `the field ${this.field} may lack the line of the trusted proxy, since Node drops header lines beyond server.maxHeadersCount and repeated lines of some fields: set maxHeadersCount to 0, or limit the lines in the proxy`,
        'headers-truncated',
      )
    }
    this.#walk(field, farthest, client, observe)
    return this.field
  }

  /** Behind a trusted peer: the first hop from the right that is not trusted. What lies left of it is not read. */
  #walk(
    field: string,
    peer: string | undefined,
    client: Address,
    observe: ((step: WalkStep) => void) | undefined,
  ): void {
    const via = this.field
    if (field.length > MAX_FIELD) {
      throw new MalformedAddressError(`the field ${via} is longer than ${MAX_FIELD} characters`, via)
    }
    let farthest = peer
    let foundIn = 'socket'
    for (let end = this.#endOfHop(field, field.length); end > 0; ) {
      const start = this.#startOfHop(field, end)
      const text = trim(field.slice(start, end))
      end = this.#endOfHop(field, start)
      const hop = this.#read(text, client)
      const trusted = hop === 'address' && this.#trust.covers(client) && this.isList
      observe?.({ via, text: hop === 'address' ? client.text : text, verdict: verdictOf(hop, trusted) })
      if (hop === 'malformed') {
        throw new MalformedAddressError(
          `the field ${via} of a trusted proxy holds a hop that cannot be read`,
          via,
        )
      }
      if (hop === 'unidentified') {
        throw new UnresolvableAddressError(
          `the field ${via} of a trusted proxy does not say who the client is`,
          'unidentified',
          undefined,
          via,
        )
      }
      if (!trusted) return
      farthest = client.text
      foundIn = via
    }
    const known = farthest === undefined ? '' : `, the farthest is ${farthest}`
    throw new UnresolvableAddressError(
      `only trusted proxies are known${known}`,
      'trusted-proxy',
      farthest,
      foundIn,
    )
  }

  /** Whether the field holds a list of hops; else it holds one address. */
  get isList(): boolean {
    return this.field === 'x-forwarded-for' || this.field === 'forwarded'
  }

  /** Where the last hop before `end` ends: blanks and, in lists, the separators of empty hops are passed over. */
  #endOfHop(field: string, end: number): number {
    let last = end
    while (last > 0 && (isBlank(field.charCodeAt(last - 1)) || (this.isList && field[last - 1] === ',')))
      last--
    return last
  }

  /** Where the hop starts that ends at `end`, which is not 0. */
  #startOfHop(field: string, end: number): number {
    if (this.field === 'forwarded') return startOfLastElement(field, end)
    // A field with one address has no separators: a comma in it means that it came twice.
    return this.isList ? field.lastIndexOf(',', end - 1) + 1 : 0
  }

  #read(text: string, address: Address): Hop {
    if (this.field !== 'forwarded') return readHop(text, address)
    const element = readElement(text)
    if (element === 'malformed') return 'malformed'
    return element === 'without-for' ? 'unidentified' : readNode(element.node, address)
  }
}

function verdictOf(hop: Hop, trusted: boolean): WalkStep['verdict'] {
  if (hop !== 'address') return hop
  return trusted ? 'trusted' : 'client'
}

/**
 * Finds the client's address of requests without a database.
 *
 * Without trusted proxies it is the socket's peer, whatever headers say. Behind a trusted peer it is the first
 * hop from the right, in the one field named, that is not trusted itself.
 *
 * @throws TypeError when the options are not as described; the function that it returns throws what
 *   `Resolver.detect` throws
 */
export function createClientAddress(
  options: ClientAddressOptions = {},
): (source: DetectSource, peer?: PeerOptions) => ClientAddress {
  const walk = new ClientWalk(options)
  return (source, peer) => {
    const client = new Address()
    const via = walk.find(source, peer, client)
    const { text: address, special, lookupText: lookup } = client
    if (special !== null) {
      throw new UnresolvableAddressError(describeSpecialPurpose(address, special), special, address, via)
    }
    return { address, lookup, via }
  }
}
