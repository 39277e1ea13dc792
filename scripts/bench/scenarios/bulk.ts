import { atLeast, type Row, ratioRow } from '../row.ts'
import type { Entry, Stage, Subject } from '../stage.ts'
import type { Scenario } from './scenario.ts'

const HITS = 'lookupMany, hits'

/** In bulk nothing costs more: neither than one by one, nor where it fails. */
export const bulk: Scenario = { title: 'lookupMany', onlyInFull: false, run }

async function run(stage: Stage, { database, inputs }: Subject): Promise<readonly Row[]> {
  const many = (name: string, list: string): Entry => ({ name, contender: 'lookupMany', list })
  const single: Entry = { name: 'lookup', contender: 'lookup', list: inputs.hits }
  const failing = [
    many('lookupMany, malformed', inputs.malformed),
    many('lookupMany, private', inputs.private),
    // Some databases have every address.
    ...(inputs.notFound === null ? [] : [many('lookupMany, not found', inputs.notFound)]),
  ]
  const finishes = await stage.race([single, many(HITS, inputs.hits), ...failing], database)
  const row = (ours: string, name: string): Row[] => {
    const [own, other] = [finishes.get(ours), finishes.get(name)]
    if (own === undefined || other === undefined) return []
    const target = database.hasTargets ? atLeast(1) : null
    return [ratioRow(database.name, ours, own.figure, { name, figure: other.figure }, target)]
  }
  return [...row(HITS, single.name), ...failing.flatMap(({ name }) => row(name, HITS))]
}
