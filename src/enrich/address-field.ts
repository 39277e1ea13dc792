import { Address } from '../address/address.ts'

/**
 * Names under which logs keep the client's address, best first, as {@link plainName} has them: `clientIp`,
 * `client_ip` and `client.ip` are one.
 */
export const ADDRESS_FIELDS: readonly string[] = [
  'ip',
  'clientip',
  'remoteaddr',
  'remoteip',
  'sourceip',
  'srcip',
  'ipaddress',
  'ipaddr',
  'clientaddr',
  'clientaddress',
  'remoteaddress',
  'remotehost',
  'userip',
  'visitorip',
  'peerip',
  'address',
  'addr',
  'host',
]

/** The same for fields that hold a list of hops; only looked at when proxies are trusted. */
export const LIST_FIELDS: readonly string[] = ['xforwardedfor', 'httpxforwardedfor', 'forwardedfor', 'xff']

/** A field's name as the lists above have it. */
export function plainName(name: string): string {
  return name.toLowerCase().replace(/[\s._-]/g, '')
}

/** What a value of a field is: one address, several hops with commas between, nothing, or something else. */
export type ValueKind = 'address' | 'list' | 'missing' | 'other'

/** Looks at a value without believing in anybody's proxies. */
export function kindOfValue(text: string): ValueKind {
  if (text === '' || text === '-') return 'missing'
  const address = new Address()
  if (address.parse(text)) return 'address'
  const hops = text.split(',')
  return hops.length > 1 && hops.some((hop) => address.parse(hop.trim())) ? 'list' : 'other'
}
