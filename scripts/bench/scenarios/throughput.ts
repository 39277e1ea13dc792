import type { Inputs } from '../inputs.ts'
import { atLeast, figureOf, type Row, ratioRow, type Target } from '../row.ts'
import type { Entry, Scenario, Stage, Subject } from '../stage.ts'

export const randomIPv4 = lookups(
  'lookup, random IPv4',
  ({ ipv4 }) => ipv4,
  ['maxmind, default cache', 'maxmind', 20],
  ['mmdb-lib, no cache', 'mmdb-lib', 50],
  ['maxmind, cache of a million', 'maxmind-million', 5],
  // Has its own data, so the database does not matter.
  ['geoip-lite', 'geoip-lite', 6],
  ['libmaxminddb (C), nine fields', 'libmaxminddb fields', 3],
  ['libmaxminddb (C), tree only', 'libmaxminddb tree', null],
)

export const skewedIPv4 = lookups('lookup, skewed traffic', ({ skewed }) => skewed, [
  'maxmind, default cache',
  'maxmind',
  12,
])

const OF_IPV6: readonly Opponent[] = [
  ['mmdb-lib, no cache', 'mmdb-lib', 35],
  ['maxmind, default cache', 'maxmind', 4],
]
export const randomIPv6 = lookups('lookup, random IPv6', ({ ipv6 }) => ipv6, ...OF_IPV6)
export const ipv6Networks = lookups('lookup, IPv6 networks', ({ ipv6Networks }) => ipv6Networks, ...OF_IPV6)

/** A library to compare with, and by how much `lookup` must be faster. */
type Opponent = readonly [name: string, contender: string, target: number | null]

/** Single lookups of the addresses in a list, compared with other libraries. */
function lookups(title: string, listOf: (inputs: Inputs) => string, ...opponents: Opponent[]): Scenario {
  const run: Scenario['run'] = (stage, subject) => {
    const list = listOf(subject.inputs)
    const peers = opponents.map(([name, contender, target]): Peer => {
      return { name, contender, list, target: target === null ? null : atLeast(target) }
    })
    return compare(stage, subject, title, lookup(list), peers)
  }
  return { title, onlyInFull: false, run }
}

function lookup(list: string): Entry {
  return { name: 'lookup', contender: 'lookup', list }
}

const LOOKUP_MANY_HITS = 'lookupMany, hits'

/** A batch is faster than single lookups, because waits for memory overlap, and failures are not slower than hits. */
export const bulk: Scenario = { title: 'lookupMany', onlyInFull: false, run: runBulk }

async function runBulk(stage: Stage, { database, inputs }: Subject): Promise<readonly Row[]> {
  const many = (name: string, list: string): Entry => ({ name, contender: 'lookupMany', list })
  const single: Entry = { name: 'lookup', contender: 'lookup', list: inputs.hits }
  const failing = [
    many('lookupMany, malformed', inputs.malformed),
    many('lookupMany, private', inputs.private),
    // Some databases have every address.
    ...(inputs.notFound === null ? [] : [many('lookupMany, not found', inputs.notFound)]),
  ]
  const results = await stage.race([single, many(LOOKUP_MANY_HITS, inputs.hits), ...failing], database)
  const row = (ours: string, name: string, ratio: number): Row[] => {
    const [own, other] = [results.get(ours), results.get(name)]
    if (own === undefined || other === undefined) return []
    const target = database.hasTargets ? atLeast(ratio) : null
    return [ratioRow(database.name, ours, own.figure, { name, figure: other.figure }, target)]
  }
  return [
    ...row(LOOKUP_MANY_HITS, single.name, 1.5),
    ...failing.flatMap(({ name }) => row(name, LOOKUP_MANY_HITS, 1)),
  ]
}

/** `detect` without a proxy, for requests of Node's HTTP server. */
export const request: Scenario = {
  title: 'detect, no proxy',
  onlyInFull: false,
  run: (stage, subject) => {
    const list = subject.inputs.requests
    const ours = { name: 'detect', contender: 'detect', list }
    const peer = { name: 'lookup', contender: 'lookup', list, target: atLeast(0.8) }
    return compare(stage, subject, request.title, ours, [peer])
  },
}

/** A pass with empty caches, in a new process each time. */
export const firstPass: Scenario = { title: 'lookup, first pass', onlyInFull: false, run: runFirstPass }

async function runFirstPass(stage: Stage, { database, inputs }: Subject): Promise<readonly Row[]> {
  const once = async (contender: string): Promise<number> => {
    const texts = [contender, database.path, inputs.firstPass, inputs.otherIPv4]
    const { items, seconds } = await stage.job<{ items: number; seconds: number }>('first-pass', ...texts)
    return items / seconds
  }
  const [ours, theirs]: [number[], number[]] = [[], []]
  for (let start = 0; start < stage.scale.starts; start++) {
    ours.push(await once('lookup'))
    theirs.push(await once('mmdb-lib'))
  }
  const peer = { name: 'mmdb-lib, no cache', figure: figureOf(theirs, 'a second') }
  const target = database.hasTargets ? atLeast(20) : null
  return [ratioRow(database.name, firstPass.title, figureOf(ours, 'a second'), peer, target)]
}

/** Named as in `worker/contender.ts`. */
const HOSTILE_FIELDS = ['no proxy', 'text left of the answer', 'trusted hops', 'no comma', 'commas']

/** The cost of an 8 KB header field, without a lookup. */
export const hostile: Scenario = { title: '8 KB of header', onlyInFull: true, run: runHostile }

async function runHostile(stage: Stage, subject: Subject): Promise<readonly Row[]> {
  const rows: Row[] = []
  for (const field of HOSTILE_FIELDS) {
    const entry = (name: string, whose: string) => ({
      name,
      contender: `hostile:${whose}:${field}`,
      list: '',
    })
    const ours = entry('createClientAddress', 'geofix')
    const peer = { ...entry('@fastify/proxy-addr', 'proxy-addr'), target: null }
    rows.push(...(await compare(stage, subject, `${hostile.title}: ${field}`, ours, [peer])))
  }
  return rows.map((row) => ({ ...row, database: 'none' }))
}

/** A library to compare with, and the target. */
export interface Peer extends Entry {
  readonly target: Target | null
}

/** Runs a race, and returns a row for each peer that took part. */
export async function compare(
  stage: Stage,
  { database }: Subject,
  what: string,
  ours: Entry,
  peers: readonly Peer[],
): Promise<Row[]> {
  const results = await stage.race([ours, ...peers], database)
  const own = results.get(ours.name)
  if (own === undefined) throw new Error([...stage.skipped].join('\n'))
  return peers.flatMap(({ name, target }) => {
    const result = results.get(name)
    if (result === undefined) return []
    const peer = { name, figure: result.figure }
    return [ratioRow(database.name, what, own.figure, peer, database.hasTargets ? target : null)]
  })
}
