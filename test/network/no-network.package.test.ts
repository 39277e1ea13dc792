import { spawn } from 'node:child_process'
import { openSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { beforeAll, describe, expect, it } from 'vitest'
import packageJson from '../../package.json' with { type: 'json' }
import { ndjson, words, writeDatabase } from '../cli/enrich/command-line.ts'
import { sampled, TRIES_ALL } from '../effort.ts'
import { lazily } from '../lazily.ts'
import { ROOT } from '../package/project.ts'
import { makeFile, temporaryFolder } from '../temporary.ts'
import { CLI, EVERYTHING, runNode, runTrapped } from './child.ts'

const folder = temporaryFolder()
const database = writeDatabase(folder)

const ACCESS_LOG = '81.2.69.142 - - [21/Nov/2026:10:00:00 +0000] "GET http://example.com/ HTTP/1.1" 200 1\n'

interface Run {
  readonly args: readonly string[]
  readonly input?: string
  readonly status?: number
  /** Worker threads beside the main thread, which works too. */
  readonly threads?: number
}

const keys = join(folder, 'keys.json')

/** What every command is run with, by its name; `''` is the one without a name. */
const RUNS: Readonly<Record<string, readonly Run[]>> = {
  '': [
    { args: ['--help'] },
    { args: ['--version'] },
    { args: words`81.2.69.142 2001:4860:4860::8888 10.0.0.1 example.com http://1.1.1.1/`, status: 1 },
    { args: words`--db ${database} --locale ko --pretty`, input: '81.2.69.142\n' },
    { args: words`--db https://example.com/city.mmdb 81.2.69.142`, status: 2 },
    { args: ['--no-such-option'], status: 2 },
  ],
  info: [{ args: [] }, { args: words`--db ${database} --json` }],
  verify: [{ args: [database] }, { args: ['http://example.com/'], status: 2 }],
  detect: [
    {
      args: [
        ...words`--peer 127.0.0.1 --trust loopback --header`,
        ...['Host: example.com', '--header', 'X-Forwarded-For: example.com, 81.2.69.142'],
      ],
    },
  ],
  enrich: [
    {
      args: words`--db ${database} --threads 1 events.ndjson -o one.ndjson.gz --summary html=one.html --stats json`,
    },
    {
      args: words`--db ${database} --threads 2 access.log -o two.ndjson --summary html=two.html`,
      threads: 1,
    },
    { args: words`--db ${database} --explain events.ndjson` },
    { args: words`--append --format list`, input: '81.2.69.142\nexample.com\n' },
  ],
  keys: [
    { args: words`add --keys ${keys} --plan developer --label http://example.com/` },
    { args: words`list --keys ${keys}` },
    { args: words`revoke --keys ${keys} example.com`, status: 1 },
    { args: words`rotate --keys ${keys} example.com`, status: 1 },
  ],
  formats: [{ args: [] }],
  count: [{ args: words`--db ${database} --by country,hour access.log` }],
  engine: [{ args: words`spark http: --db ${database}` }, { args: words`python http:` }],
  pack: [
    { args: words`${database} -o city.mmdb.packed` },
    { args: words`http://example.com/ -o x.packed`, status: 2 },
  ],
  unpack: [{ args: words`city.mmdb.packed -o city.mmdb` }],
  slim: [
    {
      args: words`city.mmdb.packed -o slim.mmdb.packed --fields country,city --locales en --countries GB --ipv4-only`,
    },
    { args: words`http://example.com/ -o x.mmdb`, status: 2 },
  ],
  overlay: [
    { args: words`${database} --csv networks.csv -o overlaid.mmdb.gz` },
    { args: words`${database} --csv http://example.com/ -o x.mmdb`, status: 4 },
  ],
  export: [
    { args: words`--db ${database} -o networks.parquet` },
    { args: words`--db http://example.com/ -o x.csv`, status: 2 },
  ],
  // It listens, which `listening` below tests. Until then it is like the others.
  serve: [
    { args: [], status: 2 },
    { args: words`--open --trust example.com`, status: 2 },
  ],
}

const runs = Object.entries(RUNS).flatMap(([command, each]) => [
  ...each.map((run) => ({
    status: 0,
    threads: 0,
    input: '',
    ...run,
    args: command ? [command, ...run.args] : run.args,
  })),
  { args: [command, '--help'].filter((arg) => arg !== ''), status: 0, threads: 0, input: '' },
])
const titled = runs.map((run): [string, (typeof runs)[number]] => [
  ['geofix', ...run.args].join(' ').replaceAll(folder, '…'),
  run,
])
/** Those that do more than print what they can do. */
const working = titled.filter(([, { args }]) => !args.includes('--help'))

beforeAll(() => {
  writeFileSync(join(folder, 'events.ndjson'), ndjson(5000))
  writeFileSync(join(folder, 'networks.csv'), 'network,country_code,city\n10.1.0.0/16,DE,example.com\n')
  writeFileSync(join(folder, 'access.log'), ACCESS_LOG.repeat(200_000))
})

describe('the commands that are run', () => {
  it('are all that the program has', () => {
    const { out } = runNode(folder, [CLI, '--help'])
    const groups = out.slice(out.indexOf('Logs and tables:'), out.indexOf('Examples:'))
    const names = Array.from(groups.matchAll(/^ {2}([a-z]+) /gm), ([, name]) => name)
    expect(names.length).toBeGreaterThan(3)
    expect([...names, ''].sort()).toEqual(Object.keys(RUNS).sort())
  })
})

/** Code that reaches the network or another program, and a handle or function that the trap must note. */
const TRAPPED: readonly [code: string, noted: string][] = [
  ['fetch("http://127.0.0.1:49999/")', 'TCPWRAP'],
  ['net.connect(9)', 'TCPWRAP'],
  ['new net.Socket().connect({ path: "x" })', 'PIPEWRAP'],
  ['net.createServer().listen(0)', 'TCPSERVERWRAP'],
  ['tls.connect(9)', 'TLSWRAP'],
  ['http.get("http://127.0.0.1:9/")', 'HTTPCLIENTREQUEST'],
  ['new http.Server().listen(0)', 'TCPSERVERWRAP'],
  ['https.request("https://127.0.0.1:9/")', 'HTTPCLIENTREQUEST'],
  ['http2.connect("http://127.0.0.1:9/")', 'TCPCONNECTWRAP'],
  ['dgram.createSocket("udp4")', 'UDPWRAP'],
  ['dns.lookup("localhost", () => {})', 'GETADDRINFOREQWRAP'],
  ['dns.resolve4("localhost", () => {})', 'QUERYWRAP'],
  ['dns.promises.lookup("localhost")', 'GETADDRINFOREQWRAP'],
  ['new dns.Resolver().resolve4("localhost", () => {})', 'QUERYWRAP'],
  ['dns.lookupService("127.0.0.1", 9, () => {})', 'GETNAMEINFOREQWRAP'],
  ['import("node:net").then(({ connect }) => void connect(9))', 'TCPWRAP'],
  ['new (process.binding("tcp_wrap").TCP)(0)', 'TCPWRAP'],
  ['new (process.binding("pipe_wrap").Pipe)(0)', 'PIPEWRAP'],
  ['child_process.execFileSync("true")', 'execFileSync'],
  ['import("node:child_process").then(({ spawn }) => void spawn("true"))', 'PROCESSWRAP'],
  ['import("node:child_process").then(({ spawnSync }) => spawnSync("true"))', 'spawnSync'],
  ['inspector.open(0)', 'open'],
  ['process.dlopen({ exports: {} }, "x.node")', 'dlopen'],
]

describe('every way to the network', () => {
  /** What the trap notes of each code, all in one process. */
  const notes = lazily(() => {
    const program = `(async () => {
      process.on('uncaughtException', () => {})
      const fs = require('node:fs')
      const { setTimeout } = require('node:timers/promises')
      const notes = () => fs.readFileSync(process.env.GEOFIX_TRAP, 'utf8')
      const noted = {}
      for (const code of ${JSON.stringify(TRAPPED.map(([code]) => code))}) {
        const before = notes().length
        await (async () => eval(code))().catch(() => {})
        await setTimeout(20)
        noted[code] = notes().slice(before)
      }
      fs.writeFileSync('noted.json', JSON.stringify(noted))
      process.exit(0)
    })()`
    expect(runTrapped(folder, ['-e', program]).status).toBe(0)
    const read: Record<string, string> = JSON.parse(readFileSync(join(folder, 'noted.json'), 'utf8'))
    return read
  })

  it.each(TRAPPED)('is noted: %s', (code, noted) => {
    expect(notes()[code]).toContain(` ${noted}\n`)
  })

  it('is noted in threads', () => {
    const code =
      'new worker_threads.Worker("fetch(`http://127.0.0.1:49999/`).catch(() => {})", { eval: true })'
    const { armed, attempts } = runTrapped(folder, ['-e', code])
    expect(armed).toBe(2)
    expect(attempts).toContain('TCPWRAP')
  })
})

describe('no network', () => {
  it.each(sampled(['esm', 'cjs'], 1))('is tried by the library: %s', (system) => {
    const { status, out, err, armed, attempts } = runTrapped(folder, [EVERYTHING, system, database])
    expect({ status, err, armed, attempts }).toEqual({ status: 0, err: '', armed: 1, attempts: [] })
    // Nothing of any entry was left out.
    for (const path of Object.keys(packageJson.exports).filter((path) => !/data|package\.json/.test(path))) {
      expect(out).toContain(`"${packageJson.name}${path.slice(1)} `)
    }
  })

  it.each(TRIES_ALL ? titled : working)('is tried by %s', (_, { args, input, status, threads }) => {
    const ended = runTrapped(folder, [CLI, ...args], input)
    expect({ ...ended, out: '', err: '' }).toEqual({
      status,
      out: '',
      err: '',
      armed: 1 + threads,
      attempts: [],
    })
  })
})

describe('listening', () => {
  it('is all that geofix serve does with the network', async () => {
    const trap = makeFile(join(folder, 'serve-trap.txt'), '')
    const env = {
      ...process.env,
      NODE_OPTIONS: `--require ${JSON.stringify(join(ROOT, 'test/network/trap.cjs'))}`,
      GEOFIX_TRAP: trap,
      GEOFIX_TRAP_MAY_LISTEN: 'yes',
    }
    const output = openSync(join(folder, 'serve-output'), 'w')
    const input = openSync('/dev/null', 'r')
    const serve = words`${CLI} serve --open --port 0 --metrics-port 0`
    const args = [...serve, ...words`--db ${database} --log none --drain 0`]
    const child = spawn(process.execPath, args, { env, stdio: [input, output, output] })
    const ended = new Promise((resolve) => child.on('close', resolve))
    const said = () => readFileSync(join(folder, 'serve-output'), 'utf8')
    while (!said().includes('listening at')) await delay(20)
    const [origin = ''] = /http:\S+/.exec(said()) ?? []
    const paths = 'v1/ip/81.2.69.142 v1/ip/example.com v1/ip ?ip=example.com openapi.json healthz'
    for (const path of paths.split(' ')) {
      await (await fetch(origin + path)).text()
    }
    const headers = { 'content-type': 'application/json' }
    const batch = { method: 'POST', headers, body: '["81.2.69.142","example.com"]' }
    expect((await fetch(`${origin}v1/ip/batch`, batch)).status).toBe(200)
    expect((await fetch(`${origin}v1/ip/81.2.69.142`, { method: 'HEAD' })).ok).toBe(true)
    child.kill('SIGTERM')
    expect(await ended).toBe(0)
    expect(readFileSync(trap, 'utf8')).toMatch(/^0 armed\n$/)
  })
})
