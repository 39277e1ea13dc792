import { Address } from '../address/address.ts'
import { describeSpecialPurpose } from '../address/special-purpose.ts'
import {
  AddressUnavailableError,
  type GeofixError,
  MalformedAddressError,
  type UnavailableReason,
  UnresolvableAddressError,
} from '../errors.ts'
import { checkOptionNames, type NamesOf, OptionError } from '../option-names.ts'
import {
  explainElement,
  type Hop,
  isBlank,
  readElement,
  readHop,
  readHopWithPort,
  startOfLastElement,
  trim,
} from './hop.ts'
import {
  type DetectSource,
  headersOf,
  lacksLines,
  PEER_OPTIONS,
  type PeerOptions,
  peerIn,
  readField,
  requestIn,
} from './request-source.ts'
import { TrustList, UNIX } from './trust.ts'

/** Which proxies are trusted, and which header field they write. */
export interface ClientAddressOptions {
  /**
   * Peers whose forwarding field is trusted: addresses, CIDR blocks, `loopback`, `linklocal`, `uniquelocal`, or `unix:`
   * for local sockets. Default: none, and no header is read.
   */
  readonly trustedProxies?: readonly string[] | undefined
  /**
   * The one field that these proxies write. `x-forwarded-for` (the default) and `forwarded` (RFC 7239) hold a list.
   * Any other name, such as `cf-connecting-ip`, is a field that holds one address. `cloudfront-viewer-address` holds an
   * address and a port.
   */
  readonly forwardedHeader?: string | undefined
}

export const CLIENT_ADDRESS_OPTIONS: NamesOf<ClientAddressOptions> = {
  trustedProxies: true,
  forwardedHeader: true,
}

/** The address of the client that sent a request. */
export interface ClientAddress {
  /** Canonical text (RFC 5952). */
  readonly address: string
  /** Canonical text of the address to look up, as in `parseAddress`. */
  readonly lookup: string
  /** Where the address was found: `'socket'` or the lower-case name of the field. */
  readonly via: string
}

/**
 * Why a request has no client address: plain data in the form of a `LookupFailure`, so that a failing request costs no
 * stack trace unless its caller wants one. `ip` is empty if no address is known.
 */
export interface ClientFailure {
  readonly ip: string
  readonly error: { readonly message: string } & (
    | { readonly code: 'MALFORMED_ADDRESS'; readonly status: 400; readonly via: string }
    | {
        readonly code: 'UNRESOLVABLE_ADDRESS'
        readonly status: 422
        readonly reason: Unresolvable
        readonly via: string
      }
    | { readonly code: 'ADDRESS_UNAVAILABLE'; readonly status: null; readonly reason: UnavailableReason }
  )
}

type Unresolvable = 'unidentified' | 'trusted-proxy'

/** What the walk decided about one hop, for debugging proxies. */
export interface WalkStep {
  readonly via: string
  /** The hop: an address, or the text of the field. A hostile caller can send any text. */
  readonly text: string
  readonly verdict: 'trusted' | 'client' | 'unidentified' | 'malformed'
}

/** Refuse longer fields: no real chain of proxies needs them. */
export const MAX_FIELD_CHARS = 8192
/**
 * The field that holds `address:port`, with IPv6 without brackets.
 * https://docs.aws.amazon.com/AmazonCloudFront/latest/DeveloperGuide/adding-cloudfront-headers.html
 */
const ADDRESS_AND_PORT = 'cloudfront-viewer-address'
/** The name of a header field is a token (RFC 9110 section 5.1). */
const FIELD_NAME = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/

/**
 * Finds the client of a request: the peer if it is not trusted, otherwise the first hop from the right that is not
 * trusted.
 */
export class ClientWalk {
  readonly #trust: TrustList
  /** The name of the field to read, in lower case. */
  readonly field: string
  /** Whether the field holds a list of hops, not a single address. */
  readonly isList: boolean

  /** @throws TypeError if the options are not as described, or would trust everyone */
  constructor(options: ClientAddressOptions = {}) {
    const { trustedProxies = [], forwardedHeader } = options
    this.#trust = new TrustList(trustedProxies)
    if (forwardedHeader !== undefined && this.#trust.isEmpty) {
      throw new OptionError(
        (nameOf) =>
          `${nameOf('forwardedHeader')} is set, but ${nameOf('trustedProxies')} is empty: list the proxies that write the field`,
      )
    }
    if (
      forwardedHeader !== undefined &&
      !(typeof forwardedHeader === 'string' && FIELD_NAME.test(forwardedHeader))
    ) {
      throw new OptionError(
        (nameOf) =>
          `${nameOf('forwardedHeader')} must be the name of a header field, such as x-forwarded-for`,
      )
    }
    this.field = (forwardedHeader ?? 'x-forwarded-for').toLowerCase()
    this.isList = this.field === 'x-forwarded-for' || this.field === 'forwarded'
  }

  /**
   * @param client receives the address of the client
   * @param observe is called for each hop
   * @returns where the address was found, `'socket'` or the name of the field, or the reason if there is none
   * @throws TypeError if the source is not a request
   */
  find(
    source: DetectSource,
    options: PeerOptions | undefined,
    client: Address,
    observe?: (step: WalkStep) => void,
  ): string | ClientFailure {
    const request = requestIn(source)
    const peer = peerIn(request, options)
    if (peer === undefined) {
      return unavailable(
        'the request has no peer address: the client has disconnected, or the program did not pass remoteAddress',
        'no-remote-address',
      )
    }
    if (peer === UNIX) {
      if (!this.#trust.unix) {
        return unavailable(
          "the peer is a Unix socket, and trustedProxies does not contain 'unix:'",
          'unix-socket',
        )
      }
      observe?.({ via: 'socket', text: peer, verdict: 'trusted' })
    } else {
      if (!client.parse(peer)) {
        return unavailable('the remoteAddress of the peer is not an IP address', 'bad-remote-address')
      }
      const trusted = this.#trust.covers(client)
      observe?.({ via: 'socket', text: client.text, verdict: trusted ? 'trusted' : 'client' })
      if (!trusted) return 'socket'
    }
    const farthest = peer === UNIX ? '' : client.text
    const field = readField(headersOf(request), this.field)
    if (lacksLines(request, this.field, field)) {
      return unavailable(
        `the header field ${this.field} may lack the line of the trusted proxy: Node drops header lines beyond server.maxHeadersCount, and repeated lines of some fields. Set server.maxHeadersCount to 0, or limit the header lines in the proxy`,
        'headers-truncated',
      )
    }
    return this.#walk(field, farthest, client, observe) ?? this.field
  }

  /**
   * Finds the first hop from the right that is not trusted. Text to the left of it is not read.
   *
   * @returns `null` if it is found
   */
  #walk(
    field: string,
    peer: string,
    client: Address,
    observe: ((step: WalkStep) => void) | undefined,
  ): ClientFailure | null {
    const via = this.field
    if (field.length > MAX_FIELD_CHARS) {
      return malformed(`the header field ${via} is longer than ${MAX_FIELD_CHARS} characters`, via)
    }
    let farthest = peer
    let foundIn = 'socket'
    for (let end = this.#endOfHop(field, field.length); end > 0; ) {
      const start = this.#startOfHop(field, end)
      const text = trim(field.slice(start, end))
      end = this.#endOfHop(field, start)
      const hop = this.#read(text, client)
      const trusted = hop === 'address' && this.#trust.covers(client) && this.isList
      const isAddress = hop === 'address'
      const verdict = isAddress ? (trusted ? 'trusted' : 'client') : hop
      observe?.({ via, text: isAddress ? client.text : text, verdict })
      if (hop === 'malformed') {
        const why = via === 'forwarded' ? `: ${explainElement(text)}` : ''
        return malformed(
          `the header field ${via} of a trusted proxy contains a hop that cannot be parsed${why}`,
          via,
        )
      }
      if (hop === 'unidentified') {
        const message = `the header field ${via} of a trusted proxy does not say who the client is`
        return unresolvable(message, hop, '', via)
      }
      if (!trusted) return null
      farthest = client.text
      foundIn = via
    }
    const known = farthest === '' ? '' : `, the farthest is ${farthest}`
    return unresolvable(`only trusted proxies are known${known}`, 'trusted-proxy', farthest, foundIn)
  }

  /** Returns where the last hop before `end` ends. Skips blanks and, in lists, the commas of empty hops. */
  #endOfHop(field: string, end: number): number {
    let last = end
    while (last > 0 && (isBlank(field.charCodeAt(last - 1)) || (this.isList && field[last - 1] === ',')))
      last--
    return last
  }

  /** Returns where the hop that ends at `end` starts. `end` is not 0. */
  #startOfHop(field: string, end: number): number {
    if (this.field === 'forwarded') return startOfLastElement(field, end)
    // A comma in a single-address field means that the field was sent twice, so do not split there.
    return this.isList ? field.lastIndexOf(',', end - 1) + 1 : 0
  }

  #read(text: string, address: Address): Hop {
    if (this.field === 'forwarded') return readElement(text, address)
    return this.field === ADDRESS_AND_PORT ? readHopWithPort(text, address) : readHop(text, address)
  }
}

function malformed(message: string, via: string): ClientFailure {
  return { ip: '', error: { code: 'MALFORMED_ADDRESS', status: 400, message, via } }
}

function unresolvable(message: string, reason: Unresolvable, ip: string, via: string): ClientFailure {
  return { ip, error: { code: 'UNRESOLVABLE_ADDRESS', status: 422, message, reason, via } }
}

function unavailable(message: string, reason: UnavailableReason): ClientFailure {
  return { ip: '', error: { code: 'ADDRESS_UNAVAILABLE', status: null, message, reason } }
}

/** The error of `detect` for a failure. */
export function clientError({ ip, error }: ClientFailure): GeofixError {
  if (error.code === 'MALFORMED_ADDRESS') return new MalformedAddressError(error.message, error.via)
  if (error.code === 'ADDRESS_UNAVAILABLE') return new AddressUnavailableError(error.message, error.reason)
  return new UnresolvableAddressError(error.message, error.reason, ip || undefined, error.via)
}

/**
 * Returns a function that finds the address of the client of a request, without a database.
 *
 * Without trusted proxies it is the address of the socket's peer, and no header is read. Behind a trusted peer it is the
 * first hop from the right, in the field named by `forwardedHeader`, that is not trusted.
 *
 * @throws TypeError if the options are not as described. The returned function throws the errors of `Resolver.detect`.
 */
export function createClientAddress(
  options: ClientAddressOptions = {},
): (source: DetectSource, peer?: PeerOptions) => ClientAddress {
  checkOptionNames('createClientAddress', options, CLIENT_ADDRESS_OPTIONS)
  const walk = new ClientWalk(options)
  return (source, peer) => {
    checkOptionNames('the function of createClientAddress', peer, PEER_OPTIONS)
    const client = new Address()
    const via = walk.find(source, peer, client)
    if (typeof via !== 'string') throw clientError(via)
    const { text: address, special, lookupText: lookup } = client
    if (special !== null) {
      throw new UnresolvableAddressError(describeSpecialPurpose(address, special), special, address, via)
    }
    return { address, lookup, via }
  }
}
