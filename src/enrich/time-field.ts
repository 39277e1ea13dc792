import { plainName } from './address-field.ts'
import { eventTimeOf } from './event-time.ts'

/**
 * Names under which logs keep the time of the event, best first, as {@link plainName} has them. Names that are
 * usual for something else too, such as `created` for a user's account, come last.
 */
export const TIME_FIELDS: readonly string[] = [
  '@timestamp',
  'timestamp',
  'eventtime',
  'eventtimestamp',
  'time',
  'ts',
  'datetime',
  'date',
  'eventdate',
  'occurredat',
  'timestampms',
  'tsms',
  'timeiso8601',
  'timeutc',
  'utctime',
  'unixtime',
  'epoch',
  'epochms',
  'msec',
  'realtimetimestamp',
  'requesttime',
  'requesttimestamp',
  'requestedat',
  'edgestarttimestamp',
  'starttime',
  'startedat',
  'startutc',
  'eventcreated',
  'eventstart',
  'timegenerated',
  'loggedat',
  'logtime',
  'receivedat',
  'receivetimestamp',
  'visitedat',
  'createdat',
  'created',
]

/** Of these also members of inner objects are times of events: others are that of a certificate or an account. */
const TOLD = new Set(['@timestamp', 'timestamp', 'eventtime', 'eventtimestamp', 'ts', 'occurredat'])

/**
 * How well the names on the way to a member say that it has the time of the event: less is better, infinite for
 * names that do not say so. An outer member is better than an inner one, whatever their names.
 */
export function timeRank(path: readonly string[]): number {
  const own = plainName(path.at(-1) ?? '')
  const withParent = plainName(path.slice(-2).join(''))
  const isTold = path.length === 1 || TOLD.has(own)
  const ranks = [isTold ? own : '', withParent].map((name) => TIME_FIELDS.indexOf(name))
  const known = ranks.filter((rank) => rank >= 0)
  if (known.length === 0) return Number.POSITIVE_INFINITY
  return Math.min(...known) + path.length * TIME_FIELDS.length
}

/** Durations and counters are numbers too: as times they would be in 1970, or far from now. */
const EARLIEST = Date.UTC(1990, 0, 1)
const LATEST = Date.UTC(2100, 0, 1)

/** What the values of a field are that may have the time of the event. */
export interface TimeCount {
  times: number
  others: number
}

/** Counts a value of a field, and not those that are missing. */
export function countTime(count: TimeCount, value: string): void {
  if (value === '' || value === '-') return
  const instant = eventTimeOf(value)
  if (instant >= EARLIEST && instant < LATEST) count.times++
  else count.others++
}

/** Whether at least half of the values are times. */
export function holdsTimes({ times, others }: TimeCount): boolean {
  return times > 0 && times >= others
}
