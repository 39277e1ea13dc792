import type { Row } from '../row.ts'
import type { Stage, Subject } from '../stage.ts'
import { compare } from './comparison.ts'
import type { Scenario } from './scenario.ts'

/** As `worker/hostile-field.ts` has them. */
const FIELDS = ['no proxy', 'text left of the answer', 'trusted hops', 'no comma', 'commas']

/** What 8 KB of a caller's header cost, before any database is asked. */
export const hostile: Scenario = { title: '8 KB of header', onlyInFull: true, run }

async function run(stage: Stage, subject: Subject): Promise<readonly Row[]> {
  // No database takes part, so once is enough.
  if (subject !== stage.subjects[0]) return []
  const rows: Row[] = []
  for (const field of FIELDS) {
    const entry = (name: string, whose: string) => ({
      name,
      contender: `hostile:${whose}:${field}`,
      list: '',
    })
    const ours = entry('createClientAddress', 'geofix')
    const peer = { ...entry('@fastify/proxy-addr', 'proxy-addr'), target: null }
    rows.push(...(await compare(stage, subject, `${hostile.title}: ${field}`, ours, [peer])))
  }
  return rows.map((row) => ({ ...row, database: 'none' }))
}
