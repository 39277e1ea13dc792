// `geofix engine columns`: columns of addresses in, locations out, for programs that run geofix and have Apache Arrow.
import { ColumnStream } from '../../enrich/column-stream.ts'
import { asnOf, type FlagsOf } from '../options.ts'
import { type ExitStatus, type Terminal, UsageError } from '../terminal.ts'
import type { COLUMNS_OPTIONS } from './flags.ts'
import { answerInput } from './rows-command.ts'

/**
 * @throws UsageError when the rows would have no time
 * @throws the errors of `answerInput`
 */
export async function runColumns(
  flags: FlagsOf<typeof COLUMNS_OPTIONS>,
  terminal: Terminal,
): Promise<ExitStatus> {
  const { db = [], fields, times, at, locale, cityNames } = flags
  if (times === 'none' && at === undefined) throw new UsageError('--times none needs --at TIME.')
  const asn = asnOf(flags)
  return await answerInput(
    {
      databases: db,
      asn,
      streamOf: (set) => new ColumnStream(set, { fields, times, at, locale, cityNames, asn: asn !== false }),
    },
    terminal,
  )
}
