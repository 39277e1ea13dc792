import { StringDecoder } from 'node:string_decoder'
import { Address } from '../address/address.ts'
import { ReadFailure } from '../errors.ts'
import type { AsnRecord } from '../location/autonomous-systems.ts'
import { localeOf } from '../location/locale.ts'
import type { LocationRecord } from '../location/location-record.ts'
import { lookupRecord, lookupResult, malformedFailure } from '../location/lookup.ts'
import { instantOf } from '../location/timezone.ts'
import { openDatabases, useOwnZone } from './databases.ts'
import { bytesOf, standardInput } from './enrich/descriptors.ts'
import { asnOf, type FlagsOf, type LOOKUP_OPTIONS } from './options.ts'
import { ExitStatus, jsonText, labelledRows, type Terminal, writeLine, writeMessage } from './terminal.ts'

/** Limit in characters. No address is this long, so a cut line is not an address. */
const MAX_LINE_LENGTH = 1024

/**
 * Prints the record of each address in order: `geofix ADDRESS...`. Failures go to standard error. A terminal gets a card for
 * each address that was given as an argument, and all other output is JSON.
 *
 * @param addresses if empty, one address per line is read from standard input
 * @throws CommandFailure when standard input cannot be read
 * @throws InvalidDatabaseError when a database cannot be used
 */
export async function runLookup(
  addresses: readonly string[],
  { db, locale, cityNames, at, json = false, pretty = false, ...asnFlags }: FlagsOf<typeof LOOKUP_OPTIONS>,
  terminal: Terminal,
): Promise<ExitStatus> {
  const asn = asnOf(asnFlags)
  const set = await openDatabases(db ?? [], asn)
  useOwnZone()
  const named = localeOf(locale, cityNames)
  const parsed = new Address()
  const { stdout } = terminal
  const hasCards = stdout.isTTY === true && addresses.length > 0 && !json && !pretty
  let status: ExitStatus = ExitStatus.ok
  for await (const address of addresses.length > 0 ? addresses : linesOf(terminal)) {
    const instant = instantOf(at)
    const result = parsed.parse(address)
      ? lookupResult(set, parsed, named, instant)
      : malformedFailure(address)
    if ('error' in result) {
      // Ends the command if the file cannot be read any more: no other address has a result then.
      if (result.error.code === 'INVALID_DATABASE')
        throwReadFailure(() => lookupRecord(set, parsed, named, instant))
      status = ExitStatus.failed
      const advice = /\S\s+\S/.test(address) ? '; geofix enrich reads logs and tables' : ''
      await writeMessage(terminal.stderr, `${result.error.message}${advice}`)
    } else {
      const record = asn === false ? result : { ...result, asn: set.systems.record(parsed) }
      const text = hasCards
        ? card(record, at ?? new Date(), stdout.columns)
        : jsonText(record, pretty ? 2 : undefined)
      await writeLine(stdout, text)
    }
  }
  return status
}

/** A record for people, without what is not known. A blank line ends it. */
function card(
  record: LocationRecord & { readonly asn?: AsnRecord | null },
  at: Date,
  columns: number | undefined,
): string {
  const { ip, country, region, city, postal_code, coordinates, timezone, asn } = record
  const place = [city, region.name ?? region.code, country.name ?? country.code].filter(Boolean).join(', ')
  const { latitude, longitude } = coordinates
  const rows = [
    ['address', ip],
    ['place', place === '' ? null : place],
    ['postal code', postal_code],
    ['coordinates', latitude === null ? null : `${latitude}, ${longitude}`],
    ['local time', timezone.offset === null ? null : localTime(at, timezone.offset)],
    ['time zone', timezone.id],
    ['network', asn === undefined ? null : (asn?.network ?? 'not known')],
    ['owner', asn ? [asn.organization, `AS${asn.number}`].filter(Boolean).join(', ') : null],
  ] as const
  return `${labelledRows(rows, columns)}\n`
}

/** @param offset from UTC, `+HH:MM` */
function localTime(at: Date, offset: string): string {
  const shifted = new Date(at.getTime() - Date.parse(`1970-01-01T00:00${offset}`))
  return `${shifted.toISOString().replace(/T(..:..).*/, ' $1')} (UTC${offset})`
}

/** @throws ReadFailure when a lookup cannot read the database */
function throwReadFailure(lookup: () => LocationRecord): void {
  try {
    lookup()
  } catch (error) {
    if (error instanceof ReadFailure) throw error
  }
}

/** The lines of standard input that are not empty, with LF or CRLF. Long lines are cut. */
async function* linesOf(terminal: Terminal): AsyncGenerator<string> {
  const decoder = new StringDecoder()
  let rest = ''
  for await (const chunk of standardInput(terminal, null, ExitStatus.failed)) {
    const lines = (rest + decoder.write(bytesOf(chunk))).split('\n')
    rest = (lines.pop() ?? '').slice(0, MAX_LINE_LENGTH)
    for (const line of lines) yield* address(line)
  }
  yield* address(rest + decoder.end())
}

function* address(line: string): Generator<string> {
  // The first line can start with a byte order mark.
  const text = line
    .slice(0, MAX_LINE_LENGTH)
    .replace(/^\ufeff/, '')
    .replace(/\r$/, '')
  if (text !== '') yield text
}
