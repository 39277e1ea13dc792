// `geofix info` and `geofix verify`: what a database file is, and whether it is whole.
import { embedded } from '../embedded.ts'
import { isGeofixError } from '../errors.ts'
import { type DatabaseInfo, databaseInfo } from '../location/vendors.ts'
import { Database, type OpenDatabase } from '../mmdb/database.ts'
import { countNetworks } from '../mmdb/networks.ts'
import { isMap, type MmdbValue } from '../mmdb/record-decoder.ts'
import { NO_RECORD } from '../mmdb/search-tree.ts'
import { verify } from '../mmdb/verify.ts'
import { NODE, pathOrBytes } from '../node/node-source.ts'
import { openEach } from '../opening.ts'
import { countOf, countText } from './figures.ts'
import { DEFAULT_STALE_AFTER, type FlagsOf, type INFO_OPTIONS } from './options.ts'
import { ExitStatus, labelledRows, printable, statusOf, type Terminal, writeLine } from './terminal.ts'

/** The list of fields is based on this many distinct records. */
const MAX_SAMPLE_RECORDS = 1000

/** Stop after this many invalid records: the decoder needs milliseconds to refuse one with too many values. */
const MAX_INVALID_RECORDS = 20

/** Stop after this many bytes of records in total: hostile records are as large as the decoder allows. */
const MAX_SAMPLE_BYTES = 16 * 1024 * 1024

/** Memory of a value in addition to its text or bytes. */
const VALUE_BYTES = 64

/** Limit in characters. Longer paths are not listed: each repeats all the keys above it. */
const MAX_PATH_LENGTH = 256

/** The maximum number of listed fields. A database with more uses data, such as addresses, as keys. */
const MAX_FIELDS = 1000

/** Describes each database, as a table or as one JSON object per line: `geofix info`. */
export async function runInfo(
  { db, json = false, staleAfter = DEFAULT_STALE_AFTER }: FlagsOf<typeof INFO_OPTIONS>,
  terminal: Terminal,
): Promise<ExitStatus> {
  const sources = (db ?? [embedded.city]).map(pathOrBytes)
  for (const [index, database] of (await openEach(sources, (each) => NODE.open(each, {}))).entries()) {
    const description = describe(database, staleAfter)
    if (json) await writeLine(terminal.stdout, JSON.stringify(description))
    else await writeLine(terminal.stdout, (index > 0 ? '\n' : '') + table(description, staleAfter))
  }
  return ExitStatus.ok
}

type Description = ReturnType<typeof describe>

function describe(database: OpenDatabase, staleAfter: number) {
  const { recordSize, description } = database.metadata
  const info = databaseInfo(database.metadata, database.path)
  const age = ageOf(info, staleAfter)
  return {
    ...info,
    description: description.en ?? Object.values(description)[0] ?? null,
    ageInDays: age.days,
    isStale: age.isStale,
    networks: database instanceof Database ? countNetworks(database) : database.countNetworks(),
    recordSize,
    fields: fieldsOf(sampleRecords(database)),
    holdsIPv4: holdsIPv4(database),
  }
}

/** Whether the network of all IPv4 addresses has records. In an IPv6 tree, its prefix has 96 bits. */
function holdsIPv4({ ranges }: OpenDatabase): boolean {
  ranges.seek(new Uint32Array(4))
  return ranges.offset !== NO_RECORD || ranges.prefixLength > 96
}

/** The first valid records, decoded one at a time. */
function* sampleRecords(database: OpenDatabase): Generator<MmdbValue> {
  let invalid = 0
  for (const offset of database.firstRecords(MAX_SAMPLE_RECORDS)) {
    try {
      yield database.record(offset)
    } catch (error) {
      if (!isGeofixError(error)) throw error
      if (++invalid > MAX_INVALID_RECORDS) return
    }
  }
}

/**
 * The fields of any of the records, sorted, as paths: `country.iso_code`, `subdivisions[].names`. Languages below
 * `names` are not listed as fields.
 *
 * @returns the first 1,000 fields whose paths have at most 256 characters
 */
export function fieldsOf(records: Iterable<MmdbValue>): string[] {
  const fields = new Set<string>()
  let bytes = 0
  for (const record of records) {
    bytes += collectFields(record, '', fields)
    if (bytes > MAX_SAMPLE_BYTES) break
  }
  return [...fields].sort()
}

/**
 * @param path of the value; `null` if its fields are not listed
 * @returns the approximate memory of the value in bytes
 */
function collectFields(value: MmdbValue, path: string | null, fields: Set<string>): number {
  let bytes = VALUE_BYTES
  if (typeof value === 'string' || value instanceof Uint8Array) bytes += value.length
  if (Array.isArray(value)) {
    for (const element of value) bytes += collectFields(element, path === null ? null : `${path}[]`, fields)
  } else if (isMap(value)) {
    const isNames = path === 'names' || path?.endsWith('.names')
    if (isNames) addField(path, fields)
    for (const [key, member] of Object.entries(value)) {
      bytes += key.length + collectFields(member, isNames ? null : memberPath(path, key), fields)
    }
  } else {
    addField(path, fields)
  }
  return bytes
}

function memberPath(path: string | null, key: string): string | null {
  if (path === null || path.length > MAX_PATH_LENGTH) return null
  return path === '' ? key : `${path}.${key}`
}

function addField(path: string | null, fields: Set<string>): void {
  if (path && path.length <= MAX_PATH_LENGTH && fields.size < MAX_FIELDS) fields.add(path)
}

function table(about: Description, staleAfter: number): string {
  return labelledRows([
    ['type', about.type],
    ['file', about.path],
    ['description', about.description === about.attribution ? null : about.description],
    ['built', ageOf(about, staleAfter).text],
    ['networks', countText(about.networks)],
    [
      'IP version',
      about.ipVersion === 4 ? '4 (IPv4 only)' : about.holdsIPv4 ? '6 (IPv4 and IPv6)' : '6 (IPv6 only)',
    ],
    ['search tree', `${countText(about.nodeCount)} nodes, records of ${about.recordSize} bits`],
    ['locales', about.locales.join(', ') || 'none'],
    ['licence', about.licence ?? 'unknown: ask the vendor'],
    ['attribution', about.attribution],
    ['fields', about.fields.join('\n') || 'none'],
  ])
}

const DAY_MS = 24 * 60 * 60 * 1000

/**
 * How old a database is: in whole days, `null` if the file does not say when it was built, and as text, `2026-06-05, 20 days ago`.
 *
 * @param staleAfter days: the greatest age of a database that is not stale. One without a build date is
 */
export function ageOf({ buildDate }: Pick<DatabaseInfo, 'buildDate'>, staleAfter: number) {
  if (buildDate === null) return { days: null, isStale: true, text: 'unknown, which counts as stale' }
  const age = Date.now() - buildDate.getTime()
  const days = Math.floor(age / DAY_MS)
  const isStale = age > staleAfter * DAY_MS
  const limit = `stale: older than ${countOf(staleAfter, 'day', 'days')}`
  const built = `${buildDate.toISOString().slice(0, 10)}, ${countOf(days, 'day', 'days')} ago`
  return { days, isStale, text: isStale ? `${built}, ${limit}` : built }
}

/** Checks whole database files: `geofix verify`. Prints a line per fault and a summary. */
export async function runVerify(files: readonly string[], terminal: Terminal): Promise<ExitStatus> {
  const statuses: ExitStatus[] = []
  for (const file of files) statuses.push(await verifyFile(file, terminal))
  return statuses.find((status) => status === ExitStatus.input) ?? statuses.find(Boolean) ?? ExitStatus.ok
}

async function verifyFile(file: string, terminal: Terminal): Promise<ExitStatus> {
  const say = (text: string): Promise<void> => writeLine(terminal.stdout, printable(`${file}: ${text}`))
  try {
    const database = await NODE.open(pathOrBytes(file), {})
    const { faults, faultCount, nodeCount, recordCount, valueCount } = verify(database)
    for (const { message, offset } of faults)
      await say(offset === null ? message : `${message} (at byte ${offset})`)
    const checked = `${countOf(nodeCount, 'node', 'nodes')}, ${countOf(recordCount, 'record', 'records')}, ${countOf(valueCount, 'value', 'values')}`
    if (faultCount > faults.length)
      await say(`and ${countOf(faultCount - faults.length, 'more fault', 'more faults')}`)
    await say(`${faultCount === 0 ? 'valid' : countOf(faultCount, 'fault', 'faults')}; ${checked}`)
    return faultCount > 0 ? ExitStatus.failed : ExitStatus.ok
  } catch (error) {
    return statusOf(error, terminal)
  }
}
