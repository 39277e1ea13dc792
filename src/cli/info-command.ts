import { embedded } from '../embedded.ts'
import { isGeofixError } from '../errors.ts'
import type { Database } from '../mmdb/database.ts'
import { countNetworks, firstRecords } from '../mmdb/networks.ts'
import type { MmdbValue } from '../mmdb/record-decoder.ts'
import { NO_RECORD } from '../mmdb/search-tree.ts'
import { openDatabases } from '../node/node-source.ts'
import { databaseInfo } from '../record/database-info.ts'
import { fieldsOf } from './field-paths.ts'
import { printable } from './printable.ts'
import { ExitStatus, type Terminal, writeLine } from './terminal.ts'

const DAY = 24 * 60 * 60 * 1000

/** Distinct records that the list of fields is taken from. */
const SAMPLE = 1000

/** Damaged ones among them that are passed over: to find that one has too many values takes milliseconds. */
const MOST_DAMAGED = 20

export interface InfoCommand {
  /** Files; empty: the embedded database. */
  readonly databases: readonly string[]
  /** One JSON object a line rather than a text for people. */
  readonly json: boolean
}

/** Prints what each database is. */
export async function runInfo(command: InfoCommand, terminal: Terminal): Promise<ExitStatus> {
  const sources = command.databases.length > 0 ? command.databases : [embedded.city]
  for (const [index, database] of (await openDatabases(sources)).entries()) {
    const description = describe(database)
    if (command.json) await writeLine(terminal.stdout, JSON.stringify(description))
    else await writeLine(terminal.stdout, (index > 0 ? '\n' : '') + layOut(description))
  }
  return ExitStatus.ok
}

/** The first records, one at a time. */
function* readableRecords(database: Database): Generator<MmdbValue> {
  let damaged = 0
  for (const offset of firstRecords(database, SAMPLE)) {
    try {
      yield database.record(offset)
    } catch (error) {
      if (!isGeofixError(error)) throw error
      if (++damaged > MOST_DAMAGED) return
    }
  }
}

function holdsIPv4({ tree, metadata }: Database): boolean {
  return tree.ipv4Root < metadata.nodeCount || tree.record(tree.ipv4Root) !== NO_RECORD
}

type Description = ReturnType<typeof describe>

function describe(database: Database) {
  const { recordSize, description } = database.metadata
  const info = databaseInfo(database.metadata, database.path)
  return {
    ...info,
    description: description.en ?? Object.values(description)[0] ?? null,
    ageInDays: info.buildDate === null ? null : Math.floor((Date.now() - info.buildDate.getTime()) / DAY),
    networks: countNetworks(database),
    recordSize,
    fields: fieldsOf(readableRecords(database)),
    holdsIPv4: holdsIPv4(database),
  }
}

function layOut(about: Description): string {
  const built = about.buildDate?.toISOString().slice(0, 10)
  const rows: (readonly [label: string, value: string | null])[] = [
    ['type', about.type],
    ['file', about.path],
    ['description', about.description === about.attribution ? null : about.description],
    ['built', built === undefined ? 'unknown' : `${built}, ${about.ageInDays} days ago`],
    ['networks', about.networks.toLocaleString('en')],
    [
      'IP version',
      about.ipVersion === 4 ? '4 (IPv4 only)' : about.holdsIPv4 ? '6 (IPv4 and IPv6)' : '6 (IPv6 only)',
    ],
    ['search tree', `${about.nodeCount.toLocaleString('en')} nodes, records of ${about.recordSize} bits`],
    ['locales', about.locales.join(', ') || 'none named'],
    ['licence', about.licence ?? 'not known: see its vendor'],
    ['attribution', about.attribution],
    ['fields', about.fields.join('\n') || 'none'],
  ]
  const width = Math.max(...rows.map(([label]) => label.length)) + 2
  const shown = rows.filter((row): row is readonly [string, string] => row[1] !== null)
  return shown
    .map(
      ([label, value]) =>
        label.padEnd(width) +
        value
          .split('\n')
          .map(printable)
          .join(`\n${' '.repeat(width)}`),
    )
    .join('\n')
}
