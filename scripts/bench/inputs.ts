import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { isLookupFailure, Resolver } from '../../src/index.ts'
import { isReachable, randomIPv4, randomIPv6, seeded, skewed } from './addresses.ts'
import type { BenchDatabase } from './artifacts.ts'
import type { Scale } from './options.ts'

const SEED = 20260605

/** Distinct addresses in skewed traffic, in IPv6 lists, and in lists of failures. */
const POOL_ADDRESSES = 50_000

/** Addresses that only warm up the compiler. */
const WARM_UP_ADDRESSES = 20_000

/** A shorter list is left out. */
const MIN_NOT_FOUND = 1000

/** Requests that fit into memory. */
const MAX_REQUESTS = 20_000

/** Paths of files with one address per line, written before the measurements. */
export interface Inputs {
  readonly ipv4: string
  /** Without the addresses in `ipv4`. */
  readonly otherIPv4: string
  readonly firstPass: string
  readonly skewed: string
  /** In networks cut to /32: the large networks are frequent. */
  readonly ipv6: string
  /** In networks of all sizes with the same probability: more records. */
  readonly ipv6Networks: string
  /** The addresses in `ipv4` that the database has. */
  readonly hits: string
  readonly requests: string
  readonly malformed: string
  readonly private: string
  /** IPv4 addresses that the database does not have; `null` if it has nearly all. */
  readonly notFound: string | null
  /** An address that the database has. */
  readonly hit: string
}

export function writeInputs(folder: string, database: BenchDatabase, scale: Scale): Inputs {
  const random = seeded(SEED)
  const bytes = readFileSync(database.path)
  const geo = Resolver.openSync(bytes)
  const isHit = (ip: string): boolean => geo.lookupMany([ip]).every((result) => !isLookupFailure(result))
  const write = (name: string, addresses: readonly string[]): string => {
    const path = join(folder, `${database.name}-${name}.txt`)
    writeFileSync(path, addresses.map((address) => `${address}\n`).join(''))
    return path
  }
  const all = randomIPv4(scale.addresses + WARM_UP_ADDRESSES, random)
  const ipv4 = all.slice(0, scale.addresses)
  const hits = ipv4.filter(isHit)
  const notFound = ipv4
    .filter((ip) => !isHit(ip))
    .flatMap(neighbours)
    .filter((ip) => isReachable(ip) && !isHit(ip))
  const ipv6 = (longest: number) => randomIPv6(bytes, POOL_ADDRESSES, longest, random).filter(isHit)
  const octet = (): number => Math.floor(random() * 256)
  return {
    ipv4: write('ipv4', ipv4),
    otherIPv4: write('other-ipv4', all.slice(scale.addresses)),
    firstPass: write('first-pass', ipv4.slice(0, scale.firstPass)),
    skewed: write('skewed', skewed(ipv4.slice(0, POOL_ADDRESSES), scale.addresses, random)),
    ipv6: write('ipv6', ipv6(32)),
    ipv6Networks: write('ipv6-networks', ipv6(128)),
    hits: write('hits', hits),
    requests: write('requests', hits.slice(0, MAX_REQUESTS)),
    malformed: write('malformed', hits.slice(0, POOL_ADDRESSES).map(malformed)),
    private: write(
      'private',
      Array.from({ length: POOL_ADDRESSES }, () => `10.${octet()}.${octet()}.${octet()}`),
    ),
    notFound: notFound.length < MIN_NOT_FOUND ? null : write('not-found', notFound.slice(0, POOL_ADDRESSES)),
    hit: hits[0] ?? '',
  }
}

/** Addresses of the same /24. Gaps in a database are usually larger. */
function neighbours(ip: string): string[] {
  return Array.from({ length: 64 }, (_, index) => ip.replace(/\d+$/, String(index * 4)))
}

/** Malformed addresses that occur in logs and forms. */
function malformed(ip: string, turn: number): string {
  const ways = [
    `${ip}:443`,
    ` ${ip}`,
    ip.replace('.', '.0'),
    ip.replace(/\d+$/, '256'),
    `${ip}/24`,
    'localhost',
  ]
  return ways[turn % ways.length] ?? ip
}
