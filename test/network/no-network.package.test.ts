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
import { CLI, EVERYTHING, loadedBy, runNode, runTrapped } from './child.ts'

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

/** Code that tries to reach the network, and what the trap notes. */
const TRAPPED: readonly [code: string, attempt: string][] = [
  ['fetch("http://127.0.0.1:9/")', 'fetch'],
  ['net.connect(9)', 'net.connect'],
  ['new net.Socket().connect(9)', 'net.Socket.connect'],
  ['net.createServer().listen(0)', 'net.createServer'],
  ['new net.Server().listen(0)', 'net.Server.listen'],
  ['tls.connect(9)', 'tls.connect'],
  ['http.get("http://127.0.0.1:9/")', 'http.get'],
  ['new http.Server().listen(0)', 'net.Server.listen'],
  ['https.request("https://127.0.0.1:9/")', 'https.request'],
  ['http2.connect("http://127.0.0.1:9/")', 'http2.connect'],
  ['dgram.createSocket("udp4")', 'dgram.createSocket'],
  ['dns.lookup("localhost", () => {})', 'dns.lookup'],
  ['dns.resolve4("localhost", () => {})', 'dns.resolve4'],
  ['dns.promises.lookup("localhost")', 'dns.promises.lookup'],
  ['new dns.Resolver().resolve4("localhost", () => {})', 'dns.Resolver.resolve4'],
  ['import("node:dns/promises").then(({ lookup }) => lookup("localhost"))', 'dns.promises.lookup'],
  ['import("node:net").then(({ connect }) => connect(9))', 'net.connect'],
  ['child_process.execFileSync("true")', 'child_process.execFileSync'],
  ['import("node:child_process").then(({ spawn }) => spawn("true"))', 'child_process.spawn'],
  ['process.dlopen({ exports: {} }, "x.node")', 'process.dlopen'],
]

/** The same below all modules: only noted. */
const NOTED: readonly [code: string, attempt: string][] = [
  ['new (process.binding("tcp_wrap").TCP)(0)', 'handle TCPWRAP'],
  ['new (process.binding("udp_wrap").UDP)()', 'handle UDPWRAP'],
  ['new (process.binding("pipe_wrap").Pipe)(0)', 'handle PIPEWRAP'],
  ['new dgram.Socket("udp4")', 'handle UDPWRAP'],
]

describe('every way to the network', () => {
  /** What comes of each code, all in one process: the message of its error, and what the trap noted. */
  const outcomes = lazily(() => {
    const codes = [...TRAPPED, ...NOTED].map(([code]) => code)
    const program = `(async () => {
      const fs = require('node:fs')
      const notes = () => fs.readFileSync(process.env.GEOFIX_TRAP, 'utf8')
      const outcomes = {}
      for (const code of ${JSON.stringify(codes)}) {
        const before = notes().length
        const error = await (async () => eval(code))().then(() => '', ({ message }) => message)
        outcomes[code] = { error, noted: notes().slice(before) }
      }
      fs.writeFileSync('outcomes.json', JSON.stringify(outcomes))
      process.exit(0)
    })()`
    expect(runTrapped(folder, ['-e', program]).status).toBe(0)
    const read: Record<string, { error: string; noted: string }> = JSON.parse(
      readFileSync(join(folder, 'outcomes.json'), 'utf8'),
    )
    return read
  })

  it.each(TRAPPED)('is trapped: %s', (code, attempt) => {
    const { error, noted } = outcomes()[code] ?? {}
    expect(error).toBe(`forbidden: ${attempt}`)
    expect(noted).toContain(` ${attempt}\n`)
  })

  it.each(NOTED)('is noted below all modules: %s', (code, attempt) => {
    expect(outcomes()[code]?.noted).toContain(` ${attempt}\n`)
  })

  it('ends a process that does not expect the error', () => {
    const { status, attempts, err } = runTrapped(folder, ['-e', 'net.connect(9)'])
    expect(attempts).toContain('net.connect')
    expect(err).toContain('forbidden: net.connect')
    expect(status).toBe(1)
  })

  it('is trapped in threads', () => {
    const code =
      'new worker_threads.Worker("fetch(`http://127.0.0.1:9/`)", { eval: true }).on("error", console.log)'
    const { armed, attempts, out } = runTrapped(folder, ['-e', code])
    expect(armed).toBe(2)
    expect(attempts).toEqual(['fetch'])
    expect(out).toContain('forbidden: fetch')
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

describe('the modules of Node for networks', () => {
  const NETWORK =
    /^(net|tls|http|https|http2|dgram|dns|dns\/promises|child_process|_(http|tls)_.*|.*undici.*)$/
  const networked = (args: readonly string[]) => {
    const { ended, modules } = loadedBy(folder, args)
    expect(modules).toContain('fs')
    return { status: ended.status, modules: modules.filter((name) => NETWORK.test(name)) }
  }

  it.each(['net', 'http2', 'dns/promises', 'child_process'])('are seen where they are loaded: %s', (name) => {
    expect(networked(['-e', `require('node:${name}')`]).modules).toContain(name)
  })

  it('are detected as those of fetch are', () => {
    expect(networked(['-e', 'new Response()']).modules).toContain('internal/deps/undici/undici')
  })

  // But for `Response` and `ReadableStream` as databases, which Node keeps in one module with `fetch`.
  it.each(sampled(['esm', 'cjs'], 1))('are not even loaded by the library: %s', (system) => {
    const args = [EVERYTHING, system, database, 'without-fetch-classes']
    expect(networked(args)).toEqual({ status: 0, modules: [] })
  })

  // But for `serve`, which listens: it loads `net` before it reads its options, to find out whether its input is a terminal.
  it.each(
    sampled(
      working.filter(([, { args, input }]) => input === '' && args[0] !== 'serve'),
      4,
    ),
  )('are not even loaded by %s', (_, { args, status }) => {
    expect(networked([CLI, ...args])).toEqual({ status, modules: [] })
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
    child.kill('SIGTERM')
    expect(await ended).toBe(0)
    expect(readFileSync(trap, 'utf8')).toMatch(/^0 armed\n$/)
  })
})
