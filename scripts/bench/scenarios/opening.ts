import { atMost, type Figure, type Row, ratioRow } from '../row.ts'
import type { Stage, Subject } from '../stage.ts'
import { measurement } from '../statistics.ts'
import type { Scenario } from './scenario.ts'

/** From a compressed file to the first answer, beside decompressing alone; a fresh process each time. */
export const opening: Scenario = { title: 'Resolver.open to first answer', onlyInFull: false, run }

async function run(stage: Stage, { database, inputs }: Subject): Promise<readonly Row[]> {
  const once = async (how: string): Promise<number> => {
    const { packed } = database
    const { milliseconds } = await stage.job<{ milliseconds: number }>('opening', how, packed, inputs.hit)
    return milliseconds
  }
  const [ours, blocking, background]: [number[], number[], number[]] = [[], [], []]
  for (let start = 0; start < stage.scale.starts; start++) {
    ours.push(await once('open'))
    blocking.push(await once('gunzipSync'))
    background.push(await once('gunzip'))
  }
  const figure = (times: readonly number[]): Figure => ({ ...measurement(times), unit: 'ms' })
  const target = database.hasTargets ? atMost(1.25) : null
  return [
    { name: 'node:zlib gunzipSync', figure: figure(blocking) },
    { name: 'node:zlib gunzip', figure: figure(background) },
  ].map((peer) => ratioRow(database.name, opening.title, figure(ours), peer, target))
}
