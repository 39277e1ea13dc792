// Runs real proxies in front of Node, to test with the header lines that they really send.
import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import http from 'node:http'
import net from 'node:net'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { setTimeout as delay } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { freePort } from '../../scripts/free-port.ts'
import { createClientAddress } from '../../src/client/client-address.ts'
import { AddressUnavailableError, UnresolvableAddressError } from '../../src/errors.ts'
import { portOf } from '../listening.ts'
import { makeFile, temporaryFolder } from '../temporary.ts'

/** The address that the caller writes into the fields. */
const CALLERS_OWN = '81.2.69.142'
/** The real address of the caller. Unlike 127.0.0.1, where the proxy is, it is not trusted. */
const CALLER = '127.0.0.2'
const TRUSTED = { trustedProxies: ['127.0.0.1', 'unix:'] }
const FIELDS = ['x-forwarded-for', 'forwarded'] as const

const folder = temporaryFolder()
/** Debian installs the proxies in folders that only root has in its PATH. */
const env = { ...process.env, PATH: `${process.env.PATH}:/usr/sbin:/usr/local/sbin` }

/** A server of Node behind a proxy, and the port of the proxy. */
interface Upstream {
  /** In the spelling of both proxies, without a scheme. */
  readonly address: string
  readonly isUnix: boolean
  readonly port: number
}

interface Proxy {
  readonly name: string
  readonly program: string
  readonly config: (upstreams: readonly Upstream[]) => string
  readonly args: (config: string) => string[]
  /** A number of lines that the proxy passes on and Node reads. */
  readonly honestLines: number
  /** Whether the proxy passes on more lines than Node reads, which the attack needs. */
  readonly passesOnAll: boolean
}

const haproxy = (
  name: string,
  tuning: string,
  limits: Pick<Proxy, 'honestLines' | 'passesOnAll'>,
): Proxy => ({
  name,
  program: 'haproxy',
  ...limits,
  args: (config) => ['-db', '-f', config],
  config: (upstreams) => `
global
  ${tuning}
defaults
  mode http
  timeout connect 10s
  timeout client 10s
  timeout server 10s
  option forwardfor
${upstreams
  .map(
    ({ address, isUnix, port }, index) => `
listen front${index}
  bind 127.0.0.1:${port}
  http-request add-header Forwarded for=%[src]
  server back ${isUnix ? 'unix@' : ''}${address}`,
  )
  .join('\n')}
`,
})

const PROXIES: readonly Proxy[] = [
  haproxy('haproxy', '', { honestLines: 80, passesOnAll: false }),
  haproxy('haproxy with tune.http.maxhdr', 'tune.http.maxhdr 32767\n  tune.bufsize 262144', {
    honestLines: 900,
    passesOnAll: true,
  }),
  {
    name: 'nginx',
    program: 'nginx',
    honestLines: 900,
    passesOnAll: true,
    args: (config) => ['-p', folder, '-e', 'stderr', '-c', config],
    config: (upstreams) => `
daemon off;
master_process off;
pid nginx.pid;
error_log stderr;
events {}
http {
  access_log off;
  ${['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map((name) => `${name}_temp_path ${name};`).join(' ')}
  large_client_header_buffers 8 64k;
  ${upstreams
    .map(
      ({ address, isUnix, port }) => `server {
    listen 127.0.0.1:${port};
    location / {
      proxy_http_version 1.1;
      proxy_set_header X-Forwarded-For $proxy_add_x_forwarded_for;
      proxy_set_header Forwarded "$http_forwarded, for=$remote_addr";
      proxy_pass http://${isUnix ? 'unix:' : ''}${address};
    }
  }`,
    )
    .join('\n  ')}
}
`,
  },
]

/** Answers with the client according to each field, or the reason why there is none. */
const answer: http.RequestListener = (request, response) => {
  const clients = FIELDS.map((forwardedHeader) => {
    try {
      return createClientAddress({ ...TRUSTED, forwardedHeader })(request).address
    } catch (error) {
      // The caller has a loopback address, which has no location.
      if (error instanceof UnresolvableAddressError) return error.address
      if (error instanceof AddressUnavailableError) return error.reason
      throw error
    }
  })
  response.end(JSON.stringify(clients))
}

const stops: (() => unknown)[] = []
afterAll(async () => {
  for (const stop of stops.reverse()) await stop()
})

async function backends(name: string): Promise<Upstream[]> {
  const [tcp, unix] = [http.createServer(answer), http.createServer(answer)]
  stops.push(() => [tcp, unix].map((server) => server.close().closeAllConnections()))
  const path = join(folder, `${name.replaceAll(/\W/g, '-')}.sock`)
  unix.listen(path)
  await once(unix, 'listening')
  return [
    { address: `127.0.0.1:${await portOf(tcp)}`, isUnix: false, port: await freePort() },
    { address: path, isUnix: true, port: await freePort() },
  ]
}

/** Waits until a proxy accepts connections. */
async function ready(proxy: ChildProcess, port: number, messages: () => string): Promise<void> {
  for (let tries = 0; tries < 200; tries++) {
    if (proxy.exitCode !== null) throw new Error(`the proxy has ended: ${messages()}`)
    const socket = net.connect(port, '127.0.0.1')
    const isReady = await new Promise((resolve) => {
      socket.on('connect', () => resolve(true)).on('error', () => resolve(false))
    })
    socket.destroy()
    if (isReady) return
    await delay(50)
  }
  throw new Error(`the proxy does not accept connections: ${messages()}`)
}

/** Starts a proxy with its own servers behind it. */
async function started({ name, program, config, args }: Proxy): Promise<Upstream[]> {
  const upstreams = await backends(name)
  const file = makeFile(join(folder, `${name.replaceAll(/\W/g, '-')}.conf`), config(upstreams))
  const proxy = spawn(program, args(file), { env, stdio: ['ignore', 'ignore', 'pipe'] })
  let messages = ''
  proxy.stderr.on('data', (chunk) => {
    messages += chunk
  })
  const ended = once(proxy, 'exit')
  stops.push(() => {
    proxy.kill('SIGKILL')
    return ended
  })
  for (const { port } of upstreams) await ready(proxy, port, () => messages)
  return upstreams
}

/** Returns the answer of Node, or the status if the proxy refuses the request. */
async function ask(port: number, lines: readonly (readonly [string, string])[]): Promise<unknown> {
  const headers = ['Host', 'x', ...lines.flat()]
  const request = http.get({ host: '127.0.0.1', port, localAddress: CALLER, headers, agent: false })
  const [response]: http.IncomingMessage[] = await once(request, 'response')
  if (response === undefined) throw new Error('no response')
  const body = await text(response)
  return response.statusCode === 200 ? JSON.parse(body) : response.statusCode
}

const OWN = [
  ['X-Forwarded-For', CALLERS_OWN],
  ['Forwarded', `for=${CALLERS_OWN}`],
] as const

for (const proxy of PROXIES) {
  const isMissing = spawnSync(proxy.program, ['-v'], { env }).error !== undefined
  if (isMissing) console.warn(`${proxy.program} is not installed: the tests that need it are skipped`)

  describe.skipIf(isMissing)(isMissing ? `${proxy.program} is not installed` : `behind ${proxy.name}`, () => {
    let upstreams: Upstream[] = []
    beforeAll(async () => {
      upstreams = await started(proxy)
    })

    it.each([
      ['no line', []],
      ['one line', OWN],
      ['several lines', [...OWN, ...OWN, ['x-forwarded-for', `${CALLERS_OWN}, ${CALLERS_OWN}`] as const]],
      ['a quote that never closes', [['Forwarded', `for="${CALLERS_OWN}`] as const]],
      ['many lines', [...OWN, ...new Array(proxy.honestLines).fill(['a', '1'])]],
    ])('finds the real address of a caller that writes %s', async (_, lines) => {
      for (const { port, address } of upstreams) {
        expect(await ask(port, lines), address).toEqual([CALLER, CALLER])
      }
    })

    it('never uses the address that a caller writes, however many lines it sends', async () => {
      const limits = [101, 1000]
      const counts = limits.flatMap((limit) => Array.from({ length: 14 }, (_, index) => limit - 10 + index))
      const seen = new Set<string>()
      for (const count of [...counts, 1023, 1024, 1025, 1100, 1500, 1900]) {
        const lines = [...OWN, ...new Array(count).fill(['a', '1'])]
        for (const { port, address } of upstreams) {
          const clients = await ask(port, lines)
          // A number is the status of the proxy's refusal.
          seen.add(typeof clients === 'number' ? 'refused' : JSON.stringify(clients))
          expect(JSON.stringify(clients), `${count} lines to ${address}`).not.toContain(CALLERS_OWN)
        }
      }
      const known = [JSON.stringify([CALLER, CALLER])]
      const truncated = [JSON.stringify(['headers-truncated', 'headers-truncated'])]
      expect([...known, ...truncated, 'refused']).toEqual(expect.arrayContaining([...seen]))
      expect([...seen]).toEqual(expect.arrayContaining(proxy.passesOnAll ? truncated : ['refused']))
    })
  })
}
