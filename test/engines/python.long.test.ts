// The module for Python, and the programs of the guide that use it.
import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { parquetWriteBuffer } from 'hyparquet-writer'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { installPython } from '../../scripts/engine-packages.ts'
import { MmdbWriter } from '../../src/writer.ts'
import { temporaryFolder } from '../temporary.ts'
import { Broker, installedKafka } from './broker.ts'
import { describeEngine, installedOrNull, recipeWith, writeGeofix } from './engine.ts'

/** What the guide names, and what these need. */
const TABLES = ['duckdb==2.0.1', 'polars==2.1.0', 'pyarrow==26.0.1', 'numpy', 'confluent-kafka==2.16.1']
const python = {
  tables: installedOrNull(() => installPython('tables', TABLES)),
  beam: installedOrNull(() => installPython('beam', ['apache-beam==2.77.0', 'pyarrow==25.0.1'])),
  flink: installedOrNull(() => installPython('flink', ['apache-flink==2.3.0'])),
}
const jars = installedKafka()

const folder = temporaryFolder()
const at = (name: string): string => join(folder, name)
const ADDRESSES = ['81.2.69.142', '10.0.0.1', '133.11.93.3', 'nonsense']
const ROUNDS = 2000
const LONG = { timeout: 600_000 }

/** Starts a program with the module, the command and the programs of an environment. */
function start(environment: string | null, ...args: readonly string[]): ChildProcess {
  const path = [join(environment ?? '', 'bin'), at('bin'), process.env.PATH].join(':')
  return spawn(join(environment ?? '', 'bin/python'), args, {
    cwd: folder,
    env: { ...process.env, PATH: path, PYTHONPATH: folder },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
}

/** What a program prints. @throws Error when it fails */
async function run(environment: string | null, ...args: readonly string[]): Promise<string> {
  const child = start(environment, ...args)
  const texts = { out: '', err: '' }
  child.stdout?.on('data', (chunk) => (texts.out += chunk))
  child.stderr?.on('data', (chunk) => (texts.err += chunk))
  const [status] = await once(child, 'close')
  if (status !== 0) throw new Error(`status ${status}:\n${texts.err.slice(-3000)}`)
  return texts.out
}

beforeAll(() => {
  const geofix = writeGeofix(at('bin'))
  execFileSync(geofix, ['engine', 'python', folder], { stdio: 'ignore' })
  const data = Array.from({ length: ROUNDS }, () => ADDRESSES).flat()
  const columnData = [{ name: 'client_ip', data, type: 'STRING' as const }]
  writeFileSync(at('events.parquet'), new Uint8Array(parquetWriteBuffer({ columnData })))
  writeFileSync(at('events.csv'), `${data.join('\n')}\n`)
})

describeEngine('the module for Python', python.tables !== null, () => {
  it('answers each row once, whatever happens to rows, processes and files', LONG, async () => {
    for (const [name, london, paris] of [
      ['first', 'London', 'Paris'],
      ['other', 'Londres', 'Lutetia'],
    ] as const) {
      const bytes = new MmdbWriter({ databaseType: 'Sample-City' })
        .insert('81.2.69.0/24', {
          country: { iso_code: 'GB' },
          city: { names: { en: london } },
          location: { time_zone: 'Europe/London' },
          traits: { autonomous_system_number: 20712 },
        })
        .insert('5.39.0.0/16', { country: { iso_code: 'FR' }, city: { names: { en: paris } } })
        .toBytes()
      writeFileSync(at(`${name}.mmdb`), bytes)
    }
    const program = join(import.meta.dirname, 'python/locator.py')
    const report = await run(python.tables, program, 'geofix', at('first.mmdb'), at('other.mmdb'))
    const checks = Object.entries(JSON.parse(report))
    expect(checks).toHaveLength(27)
    expect(checks.filter(([, isRight]) => isRight !== true)).toEqual([])
  })
})

describe.each([
  ['DuckDB', python.tables, 'import duckdb'],
  ['polars', python.tables, 'import polars'],
  ['Beam', python.beam, 'import apache_beam'],
  ['Flink', python.flink, 'from pyflink'],
])('%s', (name, environment, text) => {
  describeEngine(name, environment !== null, () => {
    it('counts the rows of each place', LONG, async () => {
      writeFileSync(at(`job-${name}.py`), recipeWith(text, 'from geofix_locator'))
      const printed = await run(environment, at(`job-${name}.py`))
      const counts = Array.from(printed.matchAll(/(?<![\d.])(?:2000|4000)(?!\d)/g), ([count]) => count)
      expect(counts.sort()).toEqual(['2000', '2000', '4000'])
      expect(printed).toMatch(/GB|London/)
    })
  })
})

describeEngine('Kafka with Python', python.tables !== null && jars !== null, () => {
  let broker: Broker
  let worker: ChildProcess | undefined
  beforeAll(async () => {
    broker = await Broker.start(jars, folder)
    process.env.KAFKA = broker.servers
  })
  afterAll(async () => {
    delete process.env.KAFKA
    worker?.kill('SIGKILL')
    await broker.kill()
  })

  it('locates every event exactly once, although workers are killed', LONG, async () => {
    const program = join(import.meta.dirname, 'python/kafka.py')
    await run(python.tables, program, 'produce')
    writeFileSync(at('worker.py'), recipeWith('confluent_kafka import'))
    for (let kills = 0; kills < 3; kills++) {
      worker = start(python.tables, at('worker.py'))
      await wait(4000 + 700 * kills)
      worker.kill('SIGKILL')
      await once(worker, 'close')
    }
    worker = start(python.tables, at('worker.py'))
    const checks = Object.entries(JSON.parse(await run(python.tables, program, 'drain')))
    expect(checks.filter(([, isRight]) => isRight !== true)).toEqual([])
  })
})
