import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Reader } from 'mmdb-lib'
import { isLookupFailure, Resolver } from '../../src/index.ts'
import { isReachable, randomIPv4, seeded, skewed } from './addresses.ts'
import type { BenchDatabase } from './databases.ts'
import { randomIPv6 } from './ipv6-networks.ts'
import type { Scale } from './scale.ts'

const SEED = 20260605

/** Addresses of services with skewed traffic, of random IPv6, and of lists that fail. */
const POOL = 50_000

/** Addresses to warm a compiler with. */
const OTHERS = 20_000

/** A shorter list says little. */
const FEWEST = 1000

/** Requests that can be in memory at once. */
const REQUESTS = 20_000

/** Paths of files with addresses, one a line: written before anything is timed. */
export interface Inputs {
  readonly ipv4: string
  /** None of which is in `ipv4`. */
  readonly otherIPv4: string
  readonly firstPass: string
  readonly skewed: string
  /** Below prefixes of 32 bits: the few large networks are asked for most. */
  readonly ipv6: string
  /** In networks of all sizes alike: more records. */
  readonly ipv6Networks: string
  /** Of `ipv4` what the database knows. */
  readonly hits: string
  readonly requests: string
  readonly malformed: string
  readonly private: string
  /** IPv4 addresses that the database does not have; `null` where it has nearly all. */
  readonly notFound: string | null
  /** An address that the database has. */
  readonly hit: string
}

export function writeInputs(folder: string, database: BenchDatabase, scale: Scale): Inputs {
  const random = seeded(SEED)
  const bytes = readFileSync(database.path)
  const { metadata } = new Reader<never>(bytes)
  const geo = Resolver.openSync(bytes)
  const isHit = (ip: string): boolean => geo.lookupMany([ip]).every((result) => !isLookupFailure(result))
  const write = (name: string, addresses: readonly string[]): string => {
    const path = join(folder, `${database.name}-${name}.txt`)
    writeFileSync(path, addresses.map((address) => `${address}\n`).join(''))
    return path
  }
  const all = randomIPv4(scale.addresses + OTHERS, random)
  const ipv4 = all.slice(0, scale.addresses)
  const hits = ipv4.filter(isHit)
  const notFound = ipv4
    .filter((ip) => !isHit(ip))
    .flatMap(neighbours)
    .filter((ip) => isReachable(ip) && !isHit(ip))
  const ipv6 = (longest: number) => randomIPv6(bytes, metadata, POOL, longest, random).filter(isHit)
  const octet = (): number => Math.floor(random() * 256)
  return {
    ipv4: write('ipv4', ipv4),
    otherIPv4: write('other-ipv4', all.slice(scale.addresses)),
    firstPass: write('first-pass', ipv4.slice(0, scale.firstPass)),
    skewed: write('skewed', skewed(ipv4.slice(0, POOL), scale.addresses, random)),
    ipv6: write('ipv6', ipv6(32)),
    ipv6Networks: write('ipv6-networks', ipv6(128)),
    hits: write('hits', hits),
    requests: write('requests', hits.slice(0, REQUESTS)),
    malformed: write('malformed', hits.slice(0, POOL).map(damaged)),
    private: write(
      'private',
      Array.from({ length: POOL }, () => `10.${octet()}.${octet()}.${octet()}`),
    ),
    notFound: notFound.length < FEWEST ? null : write('not-found', notFound.slice(0, POOL)),
    hit: hits[0] ?? '',
  }
}

/** Addresses of the same /24: what a database does not have is larger than that, as a rule. */
function neighbours(ip: string): string[] {
  return Array.from({ length: 64 }, (_, index) => ip.replace(/\d+$/, String(index * 4)))
}

/** What logs and forms hold instead of addresses, by turns. */
function damaged(ip: string, turn: number): string {
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
