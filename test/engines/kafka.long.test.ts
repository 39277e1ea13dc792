// Spark reads events from Kafka, and writes them with their locations to Parquet. The driver is killed twice, the broker once.
import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createWriteStream, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { installMaven } from '../../scripts/engine-packages.ts'
import { freePort } from '../../scripts/free-port.ts'
import { installSpark, SPARK_VERSION, type SparkCluster } from '../../scripts/spark-cluster.ts'
import { temporaryFolder } from '../temporary.ts'
import { describeEngine, hasCommand, installedOrNull } from './engine.ts'
import { expectExactlyOnce, runUntilKilled, startCluster, streamArguments } from './streams.ts'

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
    const [port, controller] = [await freePort(), await freePort()]
    servers = `127.0.0.1:${port}`
    writeFileSync(at('server.properties'), properties(port, controller, at('kafka')))
    const format = ['-cp', `${broker}/*`, 'kafka.tools.StorageTool', 'format', '-t', 'MkU3OEVBNTcwNTJENDM2Qg']
    execFileSync('java', [...format, '-c', at('server.properties')], { stdio: 'ignore' })
    await startBroker()
    cluster = await startCluster(python, folder)
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
  const args = (step: Parameters<typeof streamArguments>[0]): string[] => [
    ...['--jars', jars()],
    ...streamArguments(step, `kafka:${servers}`, folder),
  ]

  it('locates every event exactly once', { timeout: 1_800_000 }, async () => {
    await cluster.run(args('produce'))
    await runUntilKilled(cluster, args('stream'), folder, 0.2)
    server.kill('SIGKILL')
    await once(server, 'exit')
    await startBroker()
    await runUntilKilled(cluster, args('stream'), folder, 0.6)
    await expectExactlyOnce(cluster, args('drain'), folder)
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
