// For programs that run geofix: `geofix enrich --rows`, one row out for each row in, and `geofix engine columns`, columns of
// addresses in, locations out.

import { ColumnRequestError, ColumnStream } from '../../enrich/column-stream.ts'
import { EnrichError } from '../../enrich/errors.ts'
import type { RequiredRowOption } from '../../enrich/formats/format-definition.ts'
import type { Plan } from '../../enrich/formats/formats.ts'
import { ChunkHeaderError, RowStream } from '../../enrich/row-stream.ts'
import {
  hasTimeField,
  makeRowPlan,
  missingRowOptions,
  type RowOptions,
  RowWriter,
} from '../../enrich/row-writer.ts'
import type { DatabaseSet } from '../../location/database-set.ts'
import { allOptions, flagOf } from '../../option-kinds.ts'
import { openDatabases } from '../databases.ts'
import { asnOf, type FlagsOf } from '../options.ts'
import { CommandFailure, ExitStatus, type Terminal, UsageError } from '../terminal.ts'
import { addressesOf, asUsage, checkFit, keyOf } from './command-line.ts'
import { bytesOf, standardInput } from './descriptors.ts'
import { type COLUMNS_OPTIONS, ENRICH_OPTIONS, type EnrichFlags } from './flags.ts'
import { ClosedPipe } from './output.ts'
import { openStandardOutput } from './output-file.ts'

/** What to write for an option that is missing. */
const WHAT_TO_ADD: Readonly<Record<'format' | RequiredRowOption, string>> = {
  format: '--format NAME',
  field: '--field NAME',
  quoting: '--quoting double or --quoting none',
  at: '--at TIME or --time-field NAME',
}

/** What `geofix enrich --rows` is to do. @throws UsageError when an option is missing, wrong, or not for rows */
function rowsCommand(files: readonly string[], flags: EnrichFlags) {
  if (files.some((file) => file !== '-')) {
    throw new UsageError('--rows reads standard input: write < FILE in place of FILE.')
  }
  const other = Object.entries(allOptions(ENRICH_OPTIONS)).find(
    ([name, { calls }]) => Reflect.get(flags, name) !== undefined && calls?.includes('rows') === false,
  )
  if (other !== undefined) throw new UsageError(`${flagOf(ENRICH_OPTIONS, other[0])} is not for --rows.`)
  const { format, to, onBadLine, chunkHeader = false, writeChunkHeader = false } = flags
  if (onBadLine === 'drop' || onBadLine === 'fail') {
    throw new UsageError(`--on-bad-line ${onBadLine} is not for --rows: every input row needs an output row.`)
  }
  if (to !== undefined && to !== 'ndjson')
    throw new UsageError(`--to ${to} is not for --rows: rows keep their form.`)
  if ((flags.field?.length ?? 0) > 1) throw new UsageError('--rows takes one --field.')
  const [address] = addressesOf(flags)
  const { pseudonymKey: _, ...lines } = flags
  const options = {
    ...lines,
    ...address,
    asn: asnOf(flags) !== false,
    to,
    onBadLine,
  }
  const missing = missingRowOptions(options)
  if (format === undefined || missing.length > 0) {
    const onlyAt = format !== undefined && !hasTimeField(format)
    const toAdd = missing.map((name) => (name === 'at' && onlyAt ? '--at TIME' : WHAT_TO_ADD[name]))
    throw new UsageError(`--rows guesses nothing: add ${toAdd.join(', ')}.`)
  }
  checkFit(options, format, 'the input')
  return {
    plan: planOf({ ...options, format, pseudonymKey: keyOf(flags) }),
    databases: flags.db ?? [],
    asn: asnOf(flags),
    headers: { read: chunkHeader, write: writeChunkHeader },
  }
}

function planOf(options: RowOptions): Plan {
  try {
    return asUsage(() => makeRowPlan(options), '.')
  } catch (error) {
    throw error instanceof EnrichError ? new UsageError(`${error.message}.`) : error
  }
}

/**
 * Writes the rows of standard input, each with its location, as soon as they come.
 *
 * @throws the errors of {@link answerInput}
 */
export async function runRows(
  files: readonly string[],
  flags: EnrichFlags,
  terminal: Terminal,
): Promise<ExitStatus> {
  const { plan, headers, ...databases } = rowsCommand(files, flags)
  return answerInput(databases, (set) => new RowStream(new RowWriter(plan, set), headers), terminal)
}

/**
 * Answers requests with columns of addresses.
 *
 * @throws UsageError when the rows would have no time
 * @throws the errors of {@link answerInput}
 */
export async function runColumns(
  { db = [], fields, times, at, locale, cityNames, ...asnFlags }: FlagsOf<typeof COLUMNS_OPTIONS>,
  terminal: Terminal,
): Promise<ExitStatus> {
  if (times === 'none' && at === undefined) throw new UsageError('--times none needs --at TIME.')
  const asn = asnOf(asnFlags)
  const options = { fields, times, at, locale, cityNames, asn: asn !== false }
  return answerInput({ databases: db, asn }, (set) => new ColumnStream(set, options), terminal)
}

/** What answers chunks of standard input. */
interface Answers {
  push(chunk: Uint8Array): Iterable<Uint8Array>
  end(): Iterable<Uint8Array>
}

/**
 * Answers each chunk of standard input on standard output, until it ends.
 *
 * @throws CommandFailure when standard input cannot be read or is wrong, the output cannot be written, or a database
 *   has no locations
 * @throws InvalidDatabaseError when a database cannot be read or is damaged
 */
async function answerInput(
  { databases, asn }: { readonly databases: readonly string[]; readonly asn: boolean | readonly string[] },
  answersOf: (set: DatabaseSet) => Answers,
  terminal: Terminal,
): Promise<ExitStatus> {
  const { signal } = new AbortController()
  const output = await openStandardOutput({ terminal, note: () => {}, signal })
  const set = await openDatabases(databases, asn)
  const answers = answersOf(set)
  try {
    for await (const chunk of standardInput(terminal, 'pipe rows into it')) {
      for (const bytes of answers.push(bytesOf(chunk))) await output.write(bytes)
    }
    for (const bytes of answers.end()) await output.write(bytes)
    await output.finish()
  } catch (error) {
    if (error instanceof ChunkHeaderError || error instanceof ColumnRequestError)
      throw new CommandFailure(error.message, ExitStatus.input, error)
    if (!(error instanceof ClosedPipe)) throw error
  }
  return ExitStatus.ok
}
