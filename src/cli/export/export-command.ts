import { BORROW } from '../../borrowing.ts'
import { LOCATION_FIELDS } from '../../enrich/options.ts'
import {
  columnsTemplate,
  escapedColumnsTemplate,
  jsonTemplate,
} from '../../enrich/writing/column-templates.ts'
import type { LocationTemplate } from '../../enrich/writing/location-template.ts'
import type { DatabaseSet } from '../../location/database-set.ts'
import { localeOf } from '../../location/locale.ts'
import { NO_INSTANT } from '../../location/timezone.ts'
import { NodeResolver } from '../../node/node-resolver.ts'
import { checkLocations } from '../databases.ts'
import type { Output } from '../enrich/output.ts'
import { openOutputFile, openStandardOutput } from '../enrich/output-file.ts'
import { runSession, type Session } from '../enrich/session.ts'
import { Progress } from '../enrich/statistics.ts'
import { countOf, countText } from '../figures.ts'
import { databaseFiles } from '../options.ts'
import { CommandFailure, ExitStatus, type Terminal, writeMessage } from '../terminal.ts'
import { limitNewObjects } from '../v8-flags.ts'
import type { ExportCommand } from './flags.ts'
import { NetworkRows, type RowSink } from './network-rows.ts'
import { TextRows } from './text-rows.ts'

/** Limit of the decoded blocks of a packed database. The data of a city database is smaller. */
const CACHE_BYTES = 3 * 2 ** 24

/**
 * Writes the networks of databases as a table.
 *
 * @throws CommandFailure when no network is left, the output cannot be written, or a database has no locations
 * @throws InvalidDatabaseError when a database cannot be read or is damaged
 */
export function runExport(command: ExportCommand, terminal: Terminal): Promise<ExitStatus> {
  limitNewObjects()
  return runSession(new ExportSession(command, terminal), terminal)
}

class ExportSession implements Session {
  readonly #command: ExportCommand
  readonly #terminal: Terminal
  readonly #end = new AbortController()
  #output: Output | null = null
  #progress: Progress | null = null
  #rows: NetworkRows | null = null
  #bytes = 0

  constructor(command: ExportCommand, terminal: Terminal) {
    this.#command = command
    this.#terminal = terminal
  }

  async complete(): Promise<void> {
    const { path, databases, asn, choice } = this.#command
    const { stderr, stdout } = this.#terminal
    const { signal } = this.#end
    const note = (text: string): void => void writeMessage(stderr, text)
    const files = databaseFiles({ databases, asn })
    const context = { terminal: this.#terminal, inputs: [], databases: files, note, signal }
    const output = await (path === undefined ? openStandardOutput(context) : openOutputFile(path, context))
    this.#output = output
    if (signal.aborted) return output.discard()
    const resolver = await NodeResolver.open(databases, { asn, cacheBytes: CACHE_BYTES, signal })
    const set = resolver[BORROW]()
    if (this.#hasLocations || choice.countries !== null) checkLocations(set)
    const rows = this.#rowsOf(set)
    this.#rows = rows
    // Progress would mix with rows on the same terminal.
    if (stderr.isTTY === true && !(path === undefined && stdout.isTTY === true)) this.#showProgress()
    const sink = await this.#sink()
    while (rows.fill(sink)) await this.#write(output, sink.take())
    this.#progress?.stop()
    if (rows.rows === 0) throw this.#nothingLeft()
    sink.end()
    await this.#write(output, sink.take())
    await output.finish()
    await this.#tell(rows)
  }

  giveUp(): void {
    this.#end.abort()
    this.#output?.discard()
    this.#progress?.stop()
  }

  get positionText(): string {
    return `after ${countOf(this.#rows?.rows ?? 0, 'row', 'rows')}`
  }

  get #hasLocations(): boolean {
    return this.#command.fields.some((field) => LOCATION_FIELDS.some((each) => each === field))
  }

  async #write(output: Output, bytes: Uint8Array): Promise<void> {
    this.#bytes += bytes.length
    await output.write(bytes)
  }

  #rowsOf(set: DatabaseSet): NetworkRows {
    const { fields, as, at, locale, cityNames, asn, choice } = this.#command
    return new NetworkRows(set, {
      choice,
      hasLocations: this.#hasLocations,
      hasSystems: asn !== false && fields.some((field) => field.startsWith('asn_')),
      ...this.#template(),
      locale: localeOf(locale, cityNames),
      at: at?.getTime() ?? NO_INSTANT,
      areNetworks: as === 'cidr',
    })
  }

  #template(): { readonly template: LocationTemplate; readonly nothing: string } {
    const { form, fields } = this.#command
    switch (form) {
      case 'csv':
        return { template: columnsTemplate(fields, ',', true), nothing: ','.repeat(fields.length - 1) }
      case 'ndjson':
        return {
          template: jsonTemplate({ jsonFields: fields }),
          nothing: JSON.stringify(Object.fromEntries(fields.map((field) => [field, null]))),
        }
      case 'parquet':
        return {
          template: escapedColumnsTemplate(fields, '\t'),
          nothing: fields.map(() => '\\N').join('\t'),
        }
    }
  }

  async #sink(): Promise<RowSink & { take(): Uint8Array; end(): void }> {
    const { form, as, fields, ipVersion } = this.#command
    if (form !== 'parquet') return new TextRows(form, as, fields, ipVersion === 4)
    const { ParquetRows } = await import('./parquet-rows.ts')
    return new ParquetRows(as, fields, ipVersion === 4)
  }

  #showProgress(): void {
    this.#progress = new Progress(this.#terminal.stderr, () => ({
      bytes: this.#bytes,
      size: null,
      lines: this.#rows?.rows ?? 0,
      share: this.#rows?.share ?? null,
    }))
  }

  #nothingLeft(): CommandFailure {
    const { fields, filters } = this.#command
    const given = filters.length === 0 ? '' : ` with ${filters.join(' and ')}`
    const why = `no network is left: none has a value of --fields ${fields.join(',')}${given}`
    return new CommandFailure(why, ExitStatus.failed)
  }

  async #tell({ rows, countries }: NetworkRows): Promise<void> {
    const { path, choice } = this.#command
    const missing = [...(choice.countries ?? [])].filter((code) => !countries.has(code))
    const remark = missing.length === 0 ? '' : `; no network is in ${missing.join(', ')}`
    await writeMessage(
      this.#terminal.stderr,
      `${path ?? 'standard output'}: ${countOf(rows, 'row', 'rows')}, ${countText(this.#bytes)} bytes${remark}`,
    )
  }
}
