// Spark reads events from Kafka, and writes them with their locations to Parquet. The driver is killed twice, the broker once.
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { installMaven } from '../../scripts/engine-packages.ts'
import { installSpark, SPARK_VERSION, type SparkCluster } from '../../scripts/spark-cluster.ts'
import { temporaryFolder } from '../temporary.ts'
import { Broker, installedKafka } from './broker.ts'
import { describeEngine, installedOrNull } from './engine.ts'
import { expectExactlyOnce, runUntilKilled, startCluster, streamArguments } from './streams.ts'

const python = installedOrNull(() => installSpark(4))
const jarsOfKafka = installedKafka()
const connector = installedOrNull(() =>
  installMaven('spark-kafka', [`org.apache.spark:spark-sql-kafka-0-10_2.13:${SPARK_VERSION}`]),
)

describeEngine('Kafka with PySpark', python !== null && jarsOfKafka !== null && connector !== null, () => {
  const folder = temporaryFolder()
  let cluster: SparkCluster
  let broker: Broker

  beforeAll(async () => {
    broker = await Broker.start(jarsOfKafka, folder)
    cluster = await startCluster(python, folder)
  })
  afterAll(async () => {
    cluster.stop()
    await broker.kill()
  })

  /** The programs of the connector. What it needs beside these is a part of Spark. */
  const jars = (): string =>
    readdirSync(connector ?? '')
      .filter((name) => /kafka|commons-pool2/.test(name) && name.endsWith('.jar'))
      .map((name) => join(connector ?? '', name))
      .join(',')
  const args = (step: Parameters<typeof streamArguments>[0]): string[] => [
    ...['--jars', jars()],
    ...streamArguments(step, `kafka:${broker.servers}`, folder),
  ]

  it('locates every event exactly once', { timeout: 1_800_000 }, async () => {
    await cluster.run(args('produce'))
    await runUntilKilled(cluster, args('stream'), folder, 0.2)
    await broker.kill()
    await broker.restart()
    await runUntilKilled(cluster, args('stream'), folder, 0.6)
    await expectExactlyOnce(cluster, args('drain'), folder)
    expect(broker.log).not.toContain('FATAL')
  })
})
