import { checkMemoryWindow, type Plan, PlanTable } from '../../http/plan.ts'
import { messageOf } from '../../realm.ts'
import { DB, type FlagsOf, type OptionDefinition, oneOf, TRUST, trustOf, wholeNumber } from '../options.ts'
import { UsageError } from '../terminal.ts'

/** A larger number is probably a typing error. */
const MAX_WORKERS = 256
const MAX_GRACE_SECONDS = 3600

const readPort = wholeNumber(0, 65_535)

/** The options of `geofix serve`. A test compares the table in src/http/README.md with them. */
export const SERVE_OPTIONS = [
  {
    flags: '--host <address>',
    text: 'listen on this address (default: `127.0.0.1`; `::` or `0.0.0.0` for all)',
    read: readHost,
  },
  {
    flags: '--port <number>',
    text: 'listen on this port (default: 8080; 0 for any free one)',
    read: readPort,
  },
  DB,
  { flags: '--watch', text: 'follow the database files as they are replaced' },
  { flags: '--keys <file>', text: 'the keys that may ask, from `geofix keys add`. The file is followed' },
  { flags: '--open', text: 'serve everyone who can connect, without keys. Limits then count by address' },
  {
    flags: '--plan <name=rate,burst,batch>',
    text: 'a plan: requests a second, requests at once, addresses in a batch. Repeat it, from the lowest plan. One must be named `developer`, the lowest with lookup and batch (default: `free=10,20,0`, `developer=100,200,1000`, `business=10000,20000,1000`)',
    read: readPlan,
    isRepeatable: true,
  },
  ...TRUST,
  {
    flags: '--workers <number>',
    text: 'processes that share the port (default: 1). Each has a database in memory. In a container, start more containers instead',
    read: wholeNumber(1, MAX_WORKERS),
  },
  {
    flags: '--log <format>',
    text: 'lines on standard output: `json` or `none` (default: `json`). They have no address that was looked up and no key',
    read: oneOf(['json', 'none']),
  },
  {
    flags: '--metrics-port <number>',
    text: 'serve `/metrics` for Prometheus on this port, at the same host (default: nowhere)',
    read: readPort,
  },
  {
    flags: '--grace <seconds>',
    text: 'how long requests may take to finish after SIGTERM (default: 10)',
    read: wholeNumber(0, MAX_GRACE_SECONDS),
  },
] as const satisfies readonly OptionDefinition[]

/** How `geofix serve` runs. */
export type ServeSettings = ReturnType<typeof serveSettings>

export const SERVE_HELP = `
Examples:
  geofix keys add --keys keys.json --plan developer --label 'Web shop'
  geofix serve --keys keys.json
  geofix serve --open --port 3000 --db GeoLite2-City.mmdb --watch
  geofix serve --keys keys.json --host 0.0.0.0 --metrics-port 9090

It listens until SIGTERM or SIGINT. Exit status: 0 after a signal; 1 if it cannot start; 2 wrong usage.`

/** @throws UsageError when the options do not fit together */
export function serveSettings(flags: FlagsOf<typeof SERVE_OPTIONS>) {
  const trustedProxies: readonly string[] | undefined = flags.trust
  const { keys = null, open = false, port = 8080, metricsPort = null } = flags
  if (keys === null && !open) {
    throw new UsageError(
      'write --keys FILE, with keys from "geofix keys add", or --open to serve everyone who can connect',
    )
  }
  trustOf(flags)
  if (flags.plan?.every(({ name }) => name !== 'developer'))
    throw new UsageError('one --plan must be named developer, the lowest with lookup and batch')
  try {
    for (const plan of new PlanTable(flags.plan).all) checkMemoryWindow(plan)
  } catch (error) {
    throw new UsageError(messageOf(error))
  }
  if (keys !== null && open)
    throw new UsageError('--keys and --open contradict each other: write one of them')
  if (port !== 0 && port === metricsPort)
    throw new UsageError('--metrics-port must not be the same as --port')
  return {
    host: flags.host ?? '127.0.0.1',
    /** 0: any free port. */
    port,
    /** Paths; empty for the embedded city database. */
    databases: flags.db ?? [],
    watch: flags.watch ?? false,
    /** The file of keys; `null` to serve without keys. */
    keys,
    /** From the lowest; `undefined` for the default plans. */
    plans: flags.plan,
    trustedProxies,
    forwardedHeader: flags.forwardedHeader,
    workers: flags.workers ?? 1,
    log: flags.log ?? 'json',
    /** `null`: no metrics. 0: any free port. */
    metricsPort,
    graceSeconds: flags.grace ?? 10,
  }
}

/** Node takes an empty host, such as that of an unset variable, for all addresses. */
function readHost(text: string): string {
  if (text.trim() !== '') return text
  throw new UsageError('Write an address, such as 127.0.0.1.')
}

function readPlan(text: string): Plan {
  const [, name = '', rate, burst, batch] = /^([^=]*)=([\d.]+),(\d+),(\d+)$/.exec(text) ?? []
  if (rate === undefined) throw new UsageError('Write it as developer=100,200,1000.')
  return { name, rate: Number(rate), burst: Number(burst), batch: Number(batch) }
}
