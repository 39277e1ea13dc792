import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { PYSPARK } from '../../scripts/spark-cluster.ts'
import { ROOT } from '../package/project.ts'

it.each(Object.entries(PYSPARK))(
  'the guide installs the packages of PySpark %s that the tests use',
  (_, packages) => {
    const guide = readFileSync(join(ROOT, 'src/engines/README.md'), 'utf8')
    expect(guide).toContain(packages.join(' '))
  },
)
