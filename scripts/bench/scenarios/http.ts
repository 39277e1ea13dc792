import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { answerOf } from '../child.ts'
import { amountRow, atLeast, atMost, type Figure, figureOf, type Row, ratioRow } from '../row.ts'
import type { Scenario, Stage, Subject } from '../stage.ts'

const COMMAND = join(import.meta.dirname, '../../../dist/cli.cjs')
const LOAD = join(import.meta.dirname, '../http/load.mjs')
const BARE = join(import.meta.dirname, '../http/bare-server.mjs')
const SECONDS = 5
const CONNECTIONS = 64
/** Requests in flight for batches: enough to keep the server busy. */
const BATCHES = 4
const BATCH_SIZE = 1000

/** `geofix serve` with keys, on one process, compared with a server of node:http that answers with one constant body. */
export const http: Scenario = { title: 'HTTP', onlyInFull: false, run: runHttp }

interface Load {
  readonly rate: number
  /** Milliseconds. */
  readonly p99: number
}

async function runHttp(stage: Stage, { database }: Subject): Promise<readonly Row[]> {
  if (!existsSync(COMMAND)) {
    stage.skipped.add('geofix serve: run npm run build')
    return []
  }
  const folder = mkdtempSync(join(tmpdir(), 'geofix-bench-'))
  const keys = join(folder, 'keys.json')
  const add = [COMMAND, 'keys', 'add', '--keys', keys, '--plan', 'developer', '--label', 'bench']
  const key = execFileSync(process.execPath, add, { encoding: 'utf8' }).trim()
  const plan = (name: string) => ['--plan', `${name}=1000000,1000000,1000`]
  const serve = [COMMAND, 'serve', '--port', '0', '--keys', keys, '--log', 'none', '--db', database.path]
  const servers = [await started([...serve, ...plan('developer')]), await started([BARE])]
  const [ours, bare] = servers
  const ask = (origin = '', mode = 'one', rate = 0, connections = CONNECTIONS): Promise<Load> => {
    const args = [LOAD, origin, key, mode, String(SECONDS), String(rate), String(connections)]
    return answerOf<Load>({ name: 'autocannon', file: process.execPath, args })
  }
  try {
    const loads: { ours: Load[]; bare: Load[]; slowed: Load[]; bareSlowed: Load[]; batch: Load[] } = {
      ours: [],
      bare: [],
      slowed: [],
      bareSlowed: [],
      batch: [],
    }
    // Time zones are loaded on first use, for seconds in all.
    await ask(ours?.origin)
    await ask(bare?.origin)
    for (let round = 0; round < stage.scale.starts; round++) {
      const top = await ask(ours?.origin)
      loads.ours.push(top)
      loads.bare.push(await ask(bare?.origin))
      const half = Math.max(1, Math.floor(top.rate / 2))
      loads.slowed.push(await ask(ours?.origin, 'one', half))
      loads.bareSlowed.push(await ask(bare?.origin, 'one', half))
      loads.batch.push(await ask(ours?.origin, 'batch', 0, BATCHES))
    }
    const target = (limit: ReturnType<typeof atLeast>) => (database.hasTargets ? limit : null)
    const rate = (all: readonly Load[], factor = 1): Figure => {
      const rates = all.map((load) => load.rate * factor)
      return figureOf(rates, 'a second')
    }
    const p99 = (all: readonly Load[]): Figure => {
      const times = all.map((load) => load.p99)
      return figureOf(times, 'ms')
    }
    const peer = { name: 'a constant body from node:http', figure: rate(loads.bare) }
    const slowedPeer = { name: peer.name, figure: p99(loads.bareSlowed) }
    const { name } = database
    return [
      ratioRow(
        name,
        'HTTP: GET /v1/ip/{ip} with a key, 64 connections',
        rate(loads.ours),
        peer,
        target(atLeast(0.8)),
      ),
      ratioRow(name, 'HTTP: p99 at half of that rate', p99(loads.slowed), slowedPeer, target(atMost(5))),
      amountRow(
        name,
        'HTTP: addresses in batches of 1,000',
        rate(loads.batch, BATCH_SIZE),
        target(atLeast(600_000)),
      ),
    ]
  } finally {
    for (const { child } of servers) child.kill()
    rmSync(folder, { recursive: true, force: true })
  }
}

/** Starts a server, and waits for the line on standard error that says where it listens. */
async function started(args: readonly string[]): Promise<{ child: ChildProcess; origin: string }> {
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'ignore', 'pipe'] })
  let said = ''
  for await (const chunk of child.stderr) {
    said += chunk
    const [, origin] = /listening at (http:\S+)\//.exec(said) ?? []
    if (origin !== undefined) return { child, origin }
  }
  throw new Error(`${args.join(' ')} did not start: ${said}`)
}
