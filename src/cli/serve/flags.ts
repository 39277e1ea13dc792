import { closeSync, openSync, readSync } from 'node:fs'
import { ClientWalk } from '../../client/client-address.ts'
import { UNIX } from '../../client/trust.ts'
import { type AllowedOrigins, Cors } from '../../http/cors.ts'
import { checkedOptions } from '../../http/options.ts'
import { checkMemoryWindow, type Plan, PlanTable } from '../../http/rate-limit.ts'
import { LOCALE, type OptionGroups, oneOf, SWITCH, TEXT, wholeNumber } from '../../option-kinds.ts'
import { messageOf } from '../../realm.ts'
import type { HelpTexts } from '../flags.ts'
import {
  ASN,
  asnOf,
  DB,
  DEFAULT_STALE_AFTER,
  type FlagsOf,
  inFlags,
  readBy,
  STALE_AFTER,
  TRUST,
} from '../options.ts'
import { UsageError } from '../terminal.ts'
import { MAX_CONNECTIONS } from './connections.ts'

/** A larger number is probably a typing error. */
const MAX_WORKERS = 256
const MAX_GRACE_SECONDS = 3600

const CONTRADICT = 'contradict each other'

/** The bytes that are read of a file with the URL of a store. */
const MAX_STORE_FILE_BYTES = 4096

const PORT = wholeNumber(0, 65_535)

/** The options of `geofix serve`. A test compares the tables in src/http/README.md with them. */
export const SERVE_OPTIONS = {
  Listening: {
    host: {
      flags: '--host <address>',
      // Node takes an empty host, such as that of an unset variable, for all addresses.
      kind: {
        what: 'an address, such as 127.0.0.1',
        read: (text: string) => (text.trim() === '' ? undefined : text),
      },
      text: 'listen on this address (default: `127.0.0.1`; `::` or `0.0.0.0` for all)',
    },
    port: {
      flags: '--port <number>',
      kind: PORT,
      text: 'listen on this port (default: 8080; 0 for any free one)',
    },
    listen: {
      flags: '--listen <socket>',
      kind: { what: 'it as unix:/run/geofix/http.sock', read: socketOf },
      excludes: { port: CONTRADICT },
      text: 'listen on a Unix socket instead, such as `unix:/run/geofix/http.sock`. Its owner and group can connect to it. It needs `--trust unix:`, and the field of a proxy says who the client is',
    },
    basePath: {
      flags: '--base-path <path>',
      kind: readBy(readBasePath),
      text: 'the prefix of all paths, such as `/geo`, if a proxy does not remove it. `/healthz` and `/readyz` answer without it too',
    },
    cors: {
      flags: '--cors <origins>',
      kind: readBy(readOrigins),
      text: 'web pages whose scripts may read answers: `*` or origins (default: none). Write origins as `https://example.com`, separated by commas',
    },
    workers: {
      flags: '--workers <number>',
      kind: wholeNumber(1, MAX_WORKERS),
      text: 'processes that share the port (default: 1). Each has a database in memory. In a container, start more containers instead',
    },
  },
  Location: {
    ...DB,
    ...ASN,
    cityNames: {
      ...LOCALE.cityNames,
      text: 'the language of the names of cities: `en`, or `locale` for that of the request (default: `en`)',
    },
    watch: { flags: '--watch', kind: SWITCH, text: 'follow the database files as they are replaced' },
    staleAfter: {
      ...STALE_AFTER.staleAfter,
      text: `${STALE_AFTER.staleAfter.text}. \`/readyz\`, the log and the metrics say so. It is used all the same`,
    },
  },
  'Keys and limits': {
    keys: {
      flags: '--keys <file>',
      kind: TEXT,
      excludes: { open: CONTRADICT },
      text: 'the file of keys, from `geofix keys add`. The service follows its changes',
    },
    open: {
      flags: '--open',
      kind: SWITCH,
      text: 'serve everyone who can connect, without keys. Limits then count by address',
    },
    plan: {
      flags: '--plan <name=rate,burst,batch>',
      kind: { what: 'it as developer=100,200,1000', read: planOf },
      text: 'a plan: requests a second, requests at once, addresses in a batch. Repeat it, from the lowest plan. One must be named `developer`, the lowest with lookup and batch (default: `free=10,20,0`, `developer=100,200,1000`, `business=10000,20000,1000`)',
      isRepeatable: true,
    },
    limits: {
      flags: '--limits <url>',
      kind: readBy(readStore),
      text: 'count requests in the Valkey or Redis at this URL, such as `redis://valkey:6379`. Several servers then share the limits (default: each server counts for itself). `file:PATH` reads the URL from a file, which keeps its password out of the list of processes',
    },
  },
  Clients: {
    ...TRUST,
    clientConnections: {
      flags: '--client-connections <number>',
      kind: wholeNumber(1, MAX_CONNECTIONS),
      text: 'how many connections a process takes from one client. A client is an IPv4 address or an IPv6 /64 network (default: a tenth of all, at most 1000). Trusted proxies may have more',
    },
  },
  Operation: {
    log: {
      flags: '--log <format>',
      kind: oneOf(['json', 'none']),
      text: 'lines on standard output: `json` or `none` (default: `json`). They have no key and no address that a request asks for',
    },
    logClient: {
      flags: '--log-client <which>',
      kind: oneOf(['address', 'none']),
      text: 'what lines of requests say about the client: `address` or `none` (default: `address`)',
    },
    metricsPort: {
      flags: '--metrics-port <number>',
      kind: PORT,
      text: 'serve `/metrics` for Prometheus on this port, at the same host (default: nowhere)',
    },
    metricsKeys: {
      flags: '--metrics-keys',
      kind: SWITCH,
      needs: ['metricsPort', 'keys'],
      text: 'count the requests and addresses of each key too, by the id of the key',
    },
    drain: {
      flags: '--drain <seconds>',
      kind: wholeNumber(0, MAX_GRACE_SECONDS),
      text: 'how long the service still listens after SIGTERM, while `/readyz` says 503 (default: 5). After SIGINT the default is 0',
    },
    grace: {
      flags: '--grace <seconds>',
      kind: wholeNumber(0, MAX_GRACE_SECONDS),
      text: 'how long requests in flight may take after the drain time (default: 10)',
    },
  },
} as const satisfies OptionGroups

/** How `geofix serve` runs. */
export type ServeSettings = ReturnType<typeof serveSettings>

export const SERVE_HELP: HelpTexts = {
  mostUsed: ['keys', 'open', 'host', 'port', 'db', 'trustedProxies'],
  about: `It listens until SIGTERM or SIGINT. SIGHUP reloads the keys and the files of --db; if standard input is a terminal, it ends
the process.`,
  examples: [
    "geofix keys add --keys keys.json --plan developer --label 'Web shop'",
    'geofix serve --keys keys.json',
    'geofix serve --open --port 3000 --db GeoLite2-City.mmdb --watch',
    'geofix serve --keys keys.json --host 0.0.0.0 --metrics-port 9090',
  ],
  statuses:
    'Exit status: 0 after a signal; 1 if it cannot start; 2 wrong usage. A signal before it listens ends it at once.',
}

/** @throws UsageError when the options do not fit together */
export function serveSettings(flags: FlagsOf<typeof SERVE_OPTIONS>) {
  const { trustedProxies, keys = null, open = false, port = 8080, metricsPort = null } = flags
  if (keys === null && !open) {
    throw new UsageError(
      'write --keys FILE, with keys from "geofix keys add", or --open to serve everyone who can connect',
    )
  }
  inFlags(() => new ClientWalk(flags), SERVE_OPTIONS)
  if (flags.plan?.every(({ name }) => name !== 'developer'))
    throw new UsageError('one --plan must be named developer, the lowest with lookup and batch')
  inFlags(() => {
    for (const plan of new PlanTable(flags.plan).all) checkMemoryWindow(plan)
  }, SERVE_OPTIONS)
  if (port !== 0 && port === metricsPort)
    throw new UsageError('--metrics-port must not be the same as --port')
  if (flags.listen !== undefined && !trustedProxies?.includes(UNIX))
    throw new UsageError('--listen needs --trust unix:, since clients of a Unix socket have no address')
  return {
    ...flags,
    host: flags.host ?? '127.0.0.1',
    /** The port, unless `listen` is a Unix socket; 0 for any free one. */
    port,
    /** Paths of databases; empty for the embedded city database. */
    databases: flags.db ?? [],
    asn: asnOf(flags),
    cityNames: flags.cityNames ?? 'en',
    /** Age in days from which a database is stale. */
    staleAfter: flags.staleAfter ?? DEFAULT_STALE_AFTER,
    /** The file of keys; `null` to serve without keys. */
    keys,
    workers: flags.workers ?? 1,
    /** The path before all paths: empty, or without `/` at its end. */
    basePath: flags.basePath ?? '',
    log: flags.log ?? 'json',
    logClient: flags.logClient ?? 'address',
    /** The port of the metrics; 0 for any free one, `null` for no metrics. */
    metricsPort,
    drainSeconds: flags.drain ?? 5,
    graceSeconds: flags.grace ?? 10,
  }
}

function socketOf(text: string): { readonly path: string } | undefined {
  const path = /^unix:(.+)$/s.exec(text)?.[1]
  return path === undefined || path.includes('\0') ? undefined : { path }
}

/** The password of the URL must not be in a message. */
function readStore(text: string): string {
  const path = /^file:(.+)$/s.exec(text)?.[1]
  const url = path === undefined ? text : readStoreFile(path)
  if (isStoreUrl(url)) return url
  const where = path === undefined ? 'it' : 'the URL in the file'
  throw new UsageError(
    `Write ${where} as redis://USER:PASSWORD@HOST:PORT/DATABASE, or rediss:// for TLS. Only HOST is required; write ? and # in a password as %3F and %23.`,
  )
}

function isStoreUrl(text: string): boolean {
  if (!URL.canParse(text)) return false
  const { protocol, hostname, username, password, pathname, search, hash } = new URL(text)
  try {
    // Decode each text alone: the bytes of two texts together can be a character.
    decodeURIComponent(username)
    decodeURIComponent(password)
  } catch {
    return false
  }
  // A query has no effect. Where "?" or "#" stands in a password, the part before it would be read as host and port.
  const hasRest = search !== '' || hash !== ''
  return /^rediss?:$/.test(protocol) && hostname !== '' && /^\/?\d{0,9}$/.test(pathname) && !hasRest
}

function readStoreFile(path: string): string {
  try {
    const file = openSync(path, 'r')
    try {
      const bytes = Buffer.alloc(MAX_STORE_FILE_BYTES)
      return bytes.toString('utf8', 0, readSync(file, bytes)).trim()
    } finally {
      closeSync(file)
    }
  } catch (error) {
    throw new UsageError(`The file cannot be read: ${messageOf(error)}.`)
  }
}

function readBasePath(text: string): string {
  try {
    return checkedOptions({ basePath: text }).basePath
  } catch {
    throw new UsageError('Write a path as it is in a URL, such as /geo, without "/" at its end.')
  }
}

function readOrigins(text: string): AllowedOrigins {
  const origins = text === '*' ? text : text.split(',').map((origin) => origin.trim())
  return inFlags(() => new Cors(origins) && origins, {}, '.')
}

function planOf(text: string): Plan | undefined {
  const [, name = '', rate, burst, batch] = /^([^=]*)=([\d.]+),(\d+),(\d+)$/.exec(text) ?? []
  return rate === undefined
    ? undefined
    : { name, rate: Number(rate), burst: Number(burst), batch: Number(batch) }
}
