import { LOCATION_FIELDS } from '../../enrich/options.ts'
import {
  columnsTemplate,
  jsonTemplate,
  VALUE_SEPARATOR,
  valuesTemplate,
} from '../../enrich/writing/column-templates.ts'
import type { LocationTemplate } from '../../enrich/writing/location-template.ts'
import type { DatabaseSet } from '../../location/database-set.ts'
import { BORROW } from '../../location/database-set.ts'
import { localeOf } from '../../location/locale.ts'
import { NO_INSTANT } from '../../location/timezone.ts'
import { NodeResolver } from '../../node/node-resolver.ts'
import { checkLocations } from '../databases.ts'
import type { Output } from '../enrich/output.ts'
import { Session } from '../enrich/session.ts'
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
  return new ExportSession(command, terminal).run()
}

class ExportSession extends Session {
  #rows: NetworkRows | null = null
  #bytes = 0

  constructor(
    private readonly command: ExportCommand,
    terminal: Terminal,
  ) {
    super(terminal)
  }

  protected override async complete(): Promise<void> {
    const { signal } = this
    const { path, databases, asn, choice } = this.command
    const output = await this.openOutput(path, { reads: databaseFiles({ databases, asn }) })
    if (signal.aborted) return
    const resolver = await NodeResolver.open(databases, { asn, cacheBytes: CACHE_BYTES, signal })
    const set = resolver[BORROW]()
    if (this.#hasLocations || choice.countries !== null) checkLocations(set)
    const rows = this.#rowsOf(set)
    this.#rows = rows
    const position = () => ({ bytes: this.#bytes, size: null, lines: rows.rows, share: rows.share })
    this.showProgress(position, path === undefined)
    const sink = await this.#sink()
    while (rows.fill(sink)) await this.#write(output, sink.take())
    this.endProgress()
    if (rows.rows === 0) throw this.#nothingLeft()
    sink.end()
    await this.#write(output, sink.take())
    await output.finish()
    await this.#tell(rows)
  }

  protected override get positionText(): string {
    return `after ${countOf(this.#rows?.rows ?? 0, 'row', 'rows')}`
  }

  get #hasLocations(): boolean {
    return this.command.fields.some((field) => LOCATION_FIELDS.some((each) => each === field))
  }

  async #write(output: Output, bytes: Uint8Array): Promise<void> {
    this.#bytes += bytes.length
    await output.write(bytes)
  }

  #rowsOf(set: DatabaseSet): NetworkRows {
    const { fields, as, at, locale, cityNames, asn, choice } = this.command
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
    const { form, fields } = this.command
    switch (form) {
      case 'csv':
        return { template: columnsTemplate(fields, ',', true), nothing: ','.repeat(fields.length - 1) }
      case 'ndjson':
        return {
          template: jsonTemplate({ jsonFields: fields }),
          nothing: JSON.stringify(Object.fromEntries(fields.map((field) => [field, null]))),
        }
      case 'parquet':
        return { template: valuesTemplate(fields), nothing: VALUE_SEPARATOR.repeat(fields.length - 1) }
    }
  }

  async #sink(): Promise<RowSink & { take(): Uint8Array; end(): void }> {
    const { form, as, fields, ipVersion } = this.command
    if (form !== 'parquet') return new TextRows(form, as, fields, ipVersion === 4)
    const { ParquetRows } = await import('./parquet-rows.ts')
    return new ParquetRows(as, fields, ipVersion === 4)
  }

  #nothingLeft(): CommandFailure {
    const { fields, filters } = this.command
    const given = filters.length === 0 ? '' : ` with ${filters.join(' and ')}`
    const why = `no network is left: none has a value of --fields ${fields.join(',')}${given}`
    return new CommandFailure(why, ExitStatus.failed)
  }

  async #tell({ rows, countries }: NetworkRows): Promise<void> {
    const { path, choice } = this.command
    const missing = [...(choice.countries ?? [])].filter((code) => !countries.has(code))
    const remark = missing.length === 0 ? '' : `; no network is in ${missing.join(', ')}`
    await writeMessage(
      this.terminal.stderr,
      `${path ?? 'standard output'}: ${countOf(rows, 'row', 'rows')}, ${countText(this.#bytes)} bytes${remark}`,
    )
  }
}
