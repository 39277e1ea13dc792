import type { UnresolvableReason } from '../errors.ts'

/** Why an address cannot be looked up, according to the registries. */
export type SpecialPurpose = Exclude<UnresolvableReason, 'not-found' | 'unidentified' | 'trusted-proxy'>

/** One row of a registry. Its meaning for a lookup is `null` if the network is globally reachable. */
export type RegistryRow = readonly [
  network: string,
  name: string,
  source: string,
  meaning: SpecialPurpose | null,
]

/**
 * The IANA IPv4 and IPv6 Special-Purpose Address Registries as of 2026-07-18, one row per entry, in the
 * registries' order: https://www.iana.org/assignments/iana-ipv4-special-registry and
 * https://www.iana.org/assignments/iana-ipv6-special-registry.
 *
 * The most specific row of an address applies. The meaning of a row that the registry calls Globally Reachable is
 * `null`: the database decides. The source of a row says if it is not in these two registries (multicast, and
 * unassigned IPv6 space).
 */
export const REGISTRY_DATE = '2026-07-18'

// biome-ignore format: a table, one row per registry entry
export const IPV4_REGISTRY: readonly RegistryRow[] = [
  ['0.0.0.0/8',          'This network',                         'RFC 791 section 3.2',       'reserved'],
  ['0.0.0.0/32',         'This host on this network',            'RFC 1122 section 3.2.1.3',  'unspecified'],
  ['10.0.0.0/8',         'Private-Use',                          'RFC 1918',                  'private'],
  ['100.64.0.0/10',      'Shared Address Space',                 'RFC 6598',                  'shared'],
  ['127.0.0.0/8',        'Loopback',                             'RFC 1122 section 3.2.1.3',  'loopback'],
  ['169.254.0.0/16',     'Link Local',                           'RFC 3927',                  'link-local'],
  ['172.16.0.0/12',      'Private-Use',                          'RFC 1918',                  'private'],
  ['192.0.0.0/24',       'IETF Protocol Assignments',            'RFC 6890 section 2.1',      'reserved'],
  ['192.0.0.0/29',       'IPv4 Service Continuity Prefix',       'RFC 7335',                  'reserved'],
  ['192.0.0.8/32',       'IPv4 dummy address',                   'RFC 7600',                  'reserved'],
  ['192.0.0.9/32',       'Port Control Protocol Anycast',        'RFC 7723',                  null],
  ['192.0.0.10/32',      'Traversal Using Relays around NAT Anycast', 'RFC 8155',             null],
  ['192.0.0.170/32',     'NAT64/DNS64 Discovery',                'RFC 8880, RFC 7050',        'reserved'],
  ['192.0.0.171/32',     'NAT64/DNS64 Discovery',                'RFC 8880, RFC 7050',        'reserved'],
  ['192.0.2.0/24',       'Documentation (TEST-NET-1)',           'RFC 5737',                  'documentation'],
  ['192.31.196.0/24',    'AS112-v4',                             'RFC 7535',                  null],
  ['192.52.193.0/24',    'AMT',                                  'RFC 7450',                  null],
  ['192.88.99.0/24',     'Deprecated (6to4 Relay Anycast)',      'RFC 7526',                  'reserved'],
  ['192.88.99.2/32',     '6a44-relay anycast address',           'RFC 6751',                  'reserved'],
  ['192.168.0.0/16',     'Private-Use',                          'RFC 1918',                  'private'],
  ['192.175.48.0/24',    'Direct Delegation AS112 Service',      'RFC 7534',                  null],
  ['198.18.0.0/15',      'Benchmarking',                         'RFC 2544',                  'benchmarking'],
  ['198.51.100.0/24',    'Documentation (TEST-NET-2)',           'RFC 5737',                  'documentation'],
  ['203.0.113.0/24',     'Documentation (TEST-NET-3)',           'RFC 5737',                  'documentation'],
  ['224.0.0.0/4',        'Multicast',                            'RFC 5771; not in the registry', 'multicast'],
  ['240.0.0.0/4',        'Reserved',                             'RFC 1112 section 4',        'reserved'],
  ['255.255.255.255/32', 'Limited Broadcast',                    'RFC 8190, RFC 919 section 7', 'reserved'],
]

// biome-ignore format: a table, one row per registry entry
export const IPV6_REGISTRY: readonly RegistryRow[] = [
  ['::/0',               'Not assigned as global unicast',       'RFC 4291 section 2.4; not in the registry', 'reserved'],
  ['2000::/3',           'Global Unicast',                       'RFC 4291 section 2.4; not in the registry', null],
  ['ff00::/8',           'Multicast',                            'RFC 4291 section 2.7; not in the registry', 'multicast'],
  ['::1/128',            'Loopback Address',                     'RFC 4291',                  'loopback'],
  ['::/128',             'Unspecified Address',                  'RFC 4291',                  'unspecified'],
  ['64:ff9b:1::/48',     'IPv4-IPv6 Translation',                'RFC 8215',                  'reserved'],
  ['100::/64',           'Discard-Only Address Block',           'RFC 6666',                  'reserved'],
  ['100:0:0:1::/64',     'Dummy IPv6 Prefix',                    'RFC 9780',                  'reserved'],
  ['2001::/23',          'IETF Protocol Assignments',            'RFC 2928',                  'reserved'],
  ['2001:1::1/128',      'Port Control Protocol Anycast',        'RFC 7723',                  null],
  ['2001:1::2/128',      'Traversal Using Relays around NAT Anycast', 'RFC 8155',             null],
  ['2001:1::3/128',      'DNS-SD Service Registration Protocol Anycast', 'RFC 9665',          null],
  ['2001:2::/48',        'Benchmarking',                         'RFC 5180',                  'benchmarking'],
  ['2001:3::/32',        'AMT',                                  'RFC 7450',                  null],
  ['2001:4:112::/48',    'AS112-v6',                             'RFC 7535',                  null],
  ['2001:10::/28',       'Deprecated (previously ORCHID)',       'RFC 4843',                  'reserved'],
  ['2001:20::/28',       'ORCHIDv2',                             'RFC 7343',                  null],
  ['2001:30::/28',       'Drone Remote ID Protocol Entity Tags', 'RFC 9374',                  null],
  ['2001:db8::/32',      'Documentation',                        'RFC 3849',                  'documentation'],
  ['2620:4f:8000::/48',  'Direct Delegation AS112 Service',      'RFC 7534',                  null],
  ['3fff::/20',          'Documentation',                        'RFC 9637',                  'documentation'],
  ['5f00::/16',          'Segment Routing (SRv6) SIDs',          'RFC 9602',                  'reserved'],
  ['fc00::/7',           'Unique-Local',                         'RFC 4193, RFC 8190',        'private'],
  ['fe80::/10',          'Link-Local Unicast',                   'RFC 4291',                  'link-local'],
  // ::ffff:0:0/96, 64:ff9b::/96, 2001::/32 and 2002::/16 contain IPv4 addresses: see address.ts.
]
