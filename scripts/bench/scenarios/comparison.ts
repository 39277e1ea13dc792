import { type Row, ratioRow, type Target } from '../row.ts'
import type { Entry, Stage, Subject } from '../stage.ts'

/** One to compare with, and what is to be reached. */
export interface Peer extends Entry {
  readonly target: Target | null
}

/** Lets `ours` race with peers, and gives a row for each that took part. */
export async function compare(
  stage: Stage,
  { database }: Subject,
  what: string,
  ours: Entry,
  peers: readonly Peer[],
): Promise<Row[]> {
  const finishes = await stage.race([ours, ...peers], database)
  const own = finishes.get(ours.name)
  if (own === undefined) throw new Error([...stage.skipped].join('\n'))
  return peers.flatMap(({ name, target }) => {
    const finish = finishes.get(name)
    if (finish === undefined) return []
    const peer = { name, figure: finish.figure }
    return [ratioRow(database.name, what, own.figure, peer, database.hasTargets ? target : null)]
  })
}
