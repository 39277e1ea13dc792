import { database } from '../mmdb/hostile/bombs.ts'
import { array, map, text } from '../mmdb/hostile/encoding.ts'

const long = text('\u0001'.repeat(512))
const named = map(['names', map(['en', long])])

/** A database with one record, whose JSON is 15 KB: five texts as long as they may be, of characters to be escaped. */
export const LONG_ANSWERS = database(
  map(
    ['country', named],
    ['subdivisions', array(named)],
    ['city', named],
    ['postal', map(['code', long])],
    ['location', map(['time_zone', long])],
  ),
)
