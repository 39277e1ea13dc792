import { join } from 'node:path'
import { afterAll, beforeAll, it } from 'vitest'
import { installSpark, type SparkCluster } from '../../scripts/spark-cluster.ts'
import { temporaryFolder } from '../temporary.ts'
import { describeEngine, installedOrNull } from './engine.ts'
import { expectExactlyOnce, runUntilKilled, startCluster, streamArguments } from './streams.ts'

const python = installedOrNull(() => installSpark(4))

describeEngine('files with PySpark', python !== null, () => {
  const folder = temporaryFolder()
  const source = `files:${join(folder, 'events')}`
  let cluster: SparkCluster

  beforeAll(async () => {
    cluster = await startCluster(python, folder)
  })
  afterAll(() => cluster.stop())

  it('locates every event exactly once, although the driver is killed', { timeout: 1_800_000 }, async () => {
    await cluster.run(streamArguments('produce', source, folder))
    await runUntilKilled(cluster, streamArguments('stream', source, folder), folder, 0.3)
    await expectExactlyOnce(cluster, streamArguments('drain', source, folder), folder)
  })
})
