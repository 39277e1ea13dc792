import type { UnresolvableReason } from '../errors.ts'

/** Why an address cannot be looked up, according to the registries. */
export type SpecialPurpose = Exclude<UnresolvableReason, 'not-found' | 'unidentified' | 'trusted-proxy'>

/** One row of a registry. Its meaning for a lookup is `null` if the network is globally reachable. */
export type RegistryRow = readonly [network: string, meaning: SpecialPurpose | null]

/**
 * The date of these copies of the IANA IPv4 and IPv6 Special-Purpose Address Registries, one row per entry, in the
 * registries' order: https://www.iana.org/assignments/iana-ipv4-special-registry and
 * https://www.iana.org/assignments/iana-ipv6-special-registry.
 *
 * The most specific row of an address applies. The meaning is `null` where the registry says Globally Reachable: the
 * database decides. Comments give the registry's name and source for each row. Rows that are not in the registries
 * (multicast and the parts of IPv6 space) say so.
 */
export const REGISTRY_DATE = '2026-07-18'

// biome-ignore format: a table, one row per registry entry
export const IPV4_REGISTRY: readonly RegistryRow[] = [
  ['0.0.0.0/8',           'reserved'],        // This network: RFC 791 section 3.2
  ['0.0.0.0/32',          'unspecified'],     // This host on this network: RFC 1122 section 3.2.1.3
  ['10.0.0.0/8',          'private'],         // Private-Use: RFC 1918
  ['100.64.0.0/10',       'shared'],          // Shared Address Space: RFC 6598
  ['127.0.0.0/8',         'loopback'],        // Loopback: RFC 1122 section 3.2.1.3
  ['169.254.0.0/16',      'link-local'],      // Link Local: RFC 3927
  ['172.16.0.0/12',       'private'],         // Private-Use: RFC 1918
  ['192.0.0.0/24',        'reserved'],        // IETF Protocol Assignments: RFC 6890 section 2.1
  ['192.0.0.0/29',        'reserved'],        // IPv4 Service Continuity Prefix: RFC 7335
  ['192.0.0.8/32',        'reserved'],        // IPv4 dummy address: RFC 7600
  ['192.0.0.9/32',        null],              // Port Control Protocol Anycast: RFC 7723
  ['192.0.0.10/32',       null],              // Traversal Using Relays around NAT Anycast: RFC 8155
  ['192.0.0.170/32',      'reserved'],        // NAT64/DNS64 Discovery: RFC 8880, RFC 7050
  ['192.0.0.171/32',      'reserved'],        // NAT64/DNS64 Discovery: RFC 8880, RFC 7050
  ['192.0.2.0/24',        'documentation'],   // Documentation (TEST-NET-1): RFC 5737
  ['192.31.196.0/24',     null],              // AS112-v4: RFC 7535
  ['192.52.193.0/24',     null],              // AMT: RFC 7450
  ['192.88.99.0/24',      'reserved'],        // Deprecated (6to4 Relay Anycast): RFC 7526
  ['192.88.99.2/32',      'reserved'],        // 6a44-relay anycast address: RFC 6751
  ['192.168.0.0/16',      'private'],         // Private-Use: RFC 1918
  ['192.175.48.0/24',     null],              // Direct Delegation AS112 Service: RFC 7534
  ['198.18.0.0/15',       'benchmarking'],    // Benchmarking: RFC 2544
  ['198.51.100.0/24',     'documentation'],   // Documentation (TEST-NET-2): RFC 5737
  ['203.0.113.0/24',      'documentation'],   // Documentation (TEST-NET-3): RFC 5737
  ['224.0.0.0/4',         'multicast'],       // Multicast: RFC 5771; not in the registry
  ['240.0.0.0/4',         'reserved'],        // Reserved: RFC 1112 section 4
  ['255.255.255.255/32',  'reserved'],        // Limited Broadcast: RFC 8190, RFC 919 section 7
]

// biome-ignore format: a table, one row per registry entry
export const IPV6_REGISTRY: readonly RegistryRow[] = [
  ['::/0',                'reserved'],        // Not assigned as global unicast: RFC 4291 section 2.4; not in the registry
  ['2000::/3',            null],              // Global Unicast: RFC 4291 section 2.4; not in the registry
  ['ff00::/8',            'multicast'],       // Multicast: RFC 4291 section 2.7; not in the registry
  ['::1/128',             'loopback'],        // Loopback Address: RFC 4291
  ['::/128',              'unspecified'],     // Unspecified Address: RFC 4291
  ['64:ff9b:1::/48',      'reserved'],        // IPv4-IPv6 Translation: RFC 8215
  ['100::/64',            'reserved'],        // Discard-Only Address Block: RFC 6666
  ['100:0:0:1::/64',      'reserved'],        // Dummy IPv6 Prefix: RFC 9780
  ['2001::/23',           'reserved'],        // IETF Protocol Assignments: RFC 2928
  ['2001:1::1/128',       null],              // Port Control Protocol Anycast: RFC 7723
  ['2001:1::2/128',       null],              // Traversal Using Relays around NAT Anycast: RFC 8155
  ['2001:1::3/128',       null],              // DNS-SD Service Registration Protocol Anycast: RFC 9665
  ['2001:2::/48',         'benchmarking'],    // Benchmarking: RFC 5180
  ['2001:3::/32',         null],              // AMT: RFC 7450
  ['2001:4:112::/48',     null],              // AS112-v6: RFC 7535
  ['2001:10::/28',        'reserved'],        // Deprecated (previously ORCHID): RFC 4843
  ['2001:20::/28',        null],              // ORCHIDv2: RFC 7343
  ['2001:30::/28',        null],              // Drone Remote ID Protocol Entity Tags: RFC 9374
  ['2001:db8::/32',       'documentation'],   // Documentation: RFC 3849
  ['2620:4f:8000::/48',   null],              // Direct Delegation AS112 Service: RFC 7534
  ['3fff::/20',           'documentation'],   // Documentation: RFC 9637
  ['5f00::/16',           'reserved'],        // Segment Routing (SRv6) SIDs: RFC 9602
  ['fc00::/7',            'private'],         // Unique-Local: RFC 4193, RFC 8190
  ['fe80::/10',           'link-local'],      // Link-Local Unicast: RFC 4291
  // ::ffff:0:0/96, 64:ff9b::/96, 2001::/32 and 2002::/16 contain IPv4 addresses: see address.ts.
]
