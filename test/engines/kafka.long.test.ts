// Spark reads events from Kafka, and writes them with their locations to Parquet. The driver is killed twice, the broker once.
import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createWriteStream, existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { installMaven } from '../../scripts/engine-packages.ts'
import {
  failureOf,
  freePort,
  installSpark,
  killed,
  processesOf,
  SPARK_VERSION,
  SparkCluster,
} from '../../scripts/spark-cluster.ts'
import { ROOT } from '../package/project.ts'
import { temporaryFolder } from '../temporary.ts'
import { describeEngine, hasCommand, installedOrNull } from './engine.ts'

const EVENTS = 50_000

const python = installedOrNull(() => installSpark(4))
const broker = hasCommand('java')
  ? installedOrNull(() => installMaven('kafka', ['org.apache.kafka:kafka_2.13:4.1.0']))
  : null
const connector = installedOrNull(() =>
  installMaven('spark-kafka', [`org.apache.spark:spark-sql-kafka-0-10_2.13:${SPARK_VERSION}`]),
)

describeEngine('Kafka with PySpark', python !== null && broker !== null && connector !== null, () => {
  const folder = temporaryFolder()
  const at = (name: string): string => join(folder, name)
  let cluster: SparkCluster
  let server: ChildProcess
  let servers = ''

  const startBroker = async (): Promise<void> => {
    server = spawn('java', ['-Xmx512m', '-cp', `${broker}/*`, 'kafka.Kafka', at('server.properties')], {
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    const log = createWriteStream(at('broker.log'), { flags: 'a' })
    server.stdout?.pipe(log)
    server.stderr?.pipe(log)
    // Nothing is to be lost while it starts: clients wait for it.
    await wait(1000)
  }

  beforeAll(async () => {
    execFileSync(process.execPath, [join(ROOT, 'dist/cli.js'), 'engine', 'spark', folder], {
      stdio: 'ignore',
    })
    const [port, controller] = [await freePort(), await freePort()]
    servers = `127.0.0.1:${port}`
    writeFileSync(at('server.properties'), properties(port, controller, at('kafka')))
    const format = ['-cp', `${broker}/*`, 'kafka.tools.StorageTool', 'format', '-t', 'MkU3OEVBNTcwNTJENDM2Qg']
    execFileSync('java', [...format, '-c', at('server.properties')], { stdio: 'ignore' })
    await startBroker()
    cluster = await SparkCluster.start(python ?? '', folder, ['one', 'two'])
  })
  afterAll(() => {
    cluster.stop()
    server.kill('SIGKILL')
  })

  /** The programs of the connector. What it needs beside these is a part of Spark. */
  const jars = (): string =>
    readdirSync(connector ?? '')
      .filter((name) => /kafka|commons-pool2/.test(name) && name.endsWith('.jar'))
      .map((name) => join(connector ?? '', name))
      .join(',')
  const args = (step: string): string[] => [
    ...[
      '--jars',
      jars(),
      '--py-files',
      at('geofix_spark.py'),
      '--archives',
      `${at('geofix-worker.tgz')}#geofix`,
    ],
    ...[join(import.meta.dirname, 'spark/stream.py'), step, servers, folder, String(EVENTS)],
  ]
  /** How many batches are in the output. */
  const batches = (): number => {
    const metadata = at('located/_spark_metadata')
    return existsSync(metadata)
      ? readdirSync(metadata).filter((name) => /^\d+(\.compact)?$/.test(name)).length
      : 0
  }

  it('locates every event exactly once', { timeout: 1_800_000 }, async () => {
    await cluster.run(args('produce'))
    for (const share of [0.2, 0.6]) {
      const { process, done } = cluster.submit(args('stream'))
      while (batches() < share * 25) {
        if (process.exitCode !== null) throw failureOf(await done)
        await wait(100)
      }
      // The middle of a batch.
      await wait(500)
      for (const pid of processesOf(process.pid ?? -1)) killed(pid)
      await done
      expect(batches()).toBeLessThan(25)
      if (share > 0.5) continue
      server.kill('SIGKILL')
      await once(server, 'exit')
      await startBroker()
    }
    const before = batches()
    await cluster.run(args('drain'))
    expect(batches()).toBeGreaterThan(before)
    const report = await cluster.run(args('check'))
    const { found, late } = JSON.parse(report.slice(report.indexOf('{"found')))
    expect(found).toEqual([EVENTS, EVENTS, 0, EVENTS - 1, EVENTS])
    expect(late).toEqual(['+01:00'])
    expect(readFileSync(at('broker.log'), 'utf8')).not.toContain('FATAL')
  })
})

/** A broker that is its own controller (KRaft), with its files in a folder. */
function properties(port: number, controller: number, folder: string): string {
  return `process.roles=broker,controller
node.id=1
controller.quorum.voters=1@127.0.0.1:${controller}
listeners=PLAINTEXT://127.0.0.1:${port},CONTROLLER://127.0.0.1:${controller}
advertised.listeners=PLAINTEXT://127.0.0.1:${port}
controller.listener.names=CONTROLLER
listener.security.protocol.map=CONTROLLER:PLAINTEXT,PLAINTEXT:PLAINTEXT
log.dirs=${folder}
num.partitions=4
offsets.topic.replication.factor=1
transaction.state.log.replication.factor=1
transaction.state.log.min.isr=1
`
}
