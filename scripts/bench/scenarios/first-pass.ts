import { atLeast, type Figure, type Row, ratioRow } from '../row.ts'
import type { Stage, Subject } from '../stage.ts'
import { measurement } from '../statistics.ts'
import type { Scenario } from './scenario.ts'

/** A pass when nothing is remembered yet, in a fresh process each time. */
export const firstPass: Scenario = { title: 'lookup, first pass', onlyInFull: false, run }

async function run(stage: Stage, { database, inputs }: Subject): Promise<readonly Row[]> {
  const once = async (contender: string): Promise<number> => {
    const texts = [contender, database.path, inputs.firstPass, inputs.otherIPv4]
    const { items, seconds } = await stage.job<{ items: number; seconds: number }>('first-pass', ...texts)
    return items / seconds
  }
  const [ours, theirs]: [number[], number[]] = [[], []]
  for (let start = 0; start < stage.scale.starts; start++) {
    ours.push(await once('lookup'))
    theirs.push(await once('mmdb-lib'))
  }
  const figure = (rates: readonly number[]): Figure => ({ ...measurement(rates), unit: 'a second' })
  const peer = { name: 'mmdb-lib, no cache', figure: figure(theirs) }
  return [
    ratioRow(database.name, firstPass.title, figure(ours), peer, database.hasTargets ? atLeast(10) : null),
  ]
}
