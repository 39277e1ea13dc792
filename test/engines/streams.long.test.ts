// Spark reads events from files and from Kafka, and writes them with their locations to Parquet. Its driver is killed, and the broker.
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { installMaven } from '../../scripts/engine-packages.ts'
import { installSpark, SPARK_VERSION } from '../../scripts/spark-cluster.ts'
import { temporaryFolder } from '../temporary.ts'
import { Broker, installedKafka } from './broker.ts'
import { describeEngine, installedOrNull } from './engine.ts'
import { expectExactlyOnce, runUntilKilled, type Step, startCluster, streamArguments } from './streams.ts'

const python = installedOrNull(() => installSpark(4))
const jarsOfKafka = installedKafka()
const connector = installedOrNull(() =>
  installMaven('spark-kafka', [`org.apache.spark:spark-sql-kafka-0-10_2.13:${SPARK_VERSION}`]),
)
const LONG = { timeout: 1_800_000 }

describeEngine('files with PySpark', python !== null, () => {
  const folder = temporaryFolder()
  it('locates every event exactly once, although the driver is killed', LONG, async () => {
    const args = (step: Step) => streamArguments(step, `files:${join(folder, 'events')}`, folder)
    const cluster = await startCluster(python, folder)
    onTestFinished(() => cluster.stop())
    await cluster.run(args('produce'))
    await runUntilKilled(cluster, args('stream'), folder, 0.3)
    await expectExactlyOnce(cluster, args('drain'), folder)
  })
})

describeEngine('Kafka with PySpark', python !== null && jarsOfKafka !== null && connector !== null, () => {
  const folder = temporaryFolder()
  /** The programs of the connector. What it needs beside these is a part of Spark. */
  const jars = (): string =>
    readdirSync(connector ?? '')
      .filter((name) => /kafka|commons-pool2/.test(name) && name.endsWith('.jar'))
      .map((name) => join(connector ?? '', name))
      .join(',')

  it('locates every event exactly once', LONG, async () => {
    const broker = await Broker.start(jarsOfKafka, folder)
    onTestFinished(() => broker.kill())
    const cluster = await startCluster(python, folder)
    onTestFinished(() => cluster.stop())
    const args = (step: Step): string[] => [
      ...['--jars', jars()],
      ...streamArguments(step, `kafka:${broker.servers}`, folder),
    ]
    await cluster.run(args('produce'))
    await runUntilKilled(cluster, args('stream'), folder, 0.2)
    await broker.kill()
    await broker.restart()
    await runUntilKilled(cluster, args('stream'), folder, 0.6)
    await expectExactlyOnce(cluster, args('drain'), folder)
    expect(broker.log).not.toContain('FATAL')
  })
})
