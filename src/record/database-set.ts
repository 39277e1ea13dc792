import type { Address } from '../address/address.ts'
import { formatCidr } from '../address/cidr.ts'
import { quoted } from '../address/quoted.ts'
import { InvalidDatabaseError, isGeofixError } from '../errors.ts'
import type { Database } from '../mmdb/database.ts'
import type { MmdbValue } from '../mmdb/record-decoder.ts'
import { NO_RECORD } from '../mmdb/search-tree.ts'
import type { Verification } from '../mmdb/verify/verify.ts'
import { type DatabaseInfo, databaseInfo } from './database-info.ts'
import type { Place } from './place.ts'
import { PlaceTable } from './place-table.ts'
import { RecordFields } from './record-fields.ts'
import { recognise } from './vendors.ts'

const IPV6_ZERO = new Uint32Array(4)

/** A database beside its records as places; without, when it holds none. */
interface Source {
  readonly database: Database
  readonly places: PlaceTable | null
}

/** The databases of one resolver: the first that has a location for an address answers. */
export class DatabaseSet {
  readonly info: readonly DatabaseInfo[]
  /** Of each database that holds something else than locations, that it does. Such ones still have raw records. */
  readonly faults: readonly InvalidDatabaseError[]
  /** Why no address can have a location; `null` when some can. */
  readonly unfit: InvalidDatabaseError | null
  /** Of each database, whether an address in it can have a location: it has records, of a known schema. */
  readonly hasLocations: readonly boolean[]
  readonly #sources: readonly Source[]

  constructor(databases: readonly Database[]) {
    this.info = Object.freeze(databases.map(({ metadata, path }) => databaseInfo(metadata, path)))
    const faults: InvalidDatabaseError[] = []
    this.#sources = databases.map((database) => {
      const fields = new RecordFields(database)
      const schema = recognise(fields)
      if (schema !== null) return { database, places: new PlaceTable(database, schema) }
      if (!fields.isEmpty) faults.push(withoutLocations(database, fields.names))
      return { database, places: null }
    })
    this.hasLocations = this.#sources.map(({ places }) => places !== null)
    this.faults = faults
    const [fault] = faults
    this.unfit = fault !== undefined && faults.length === databases.length ? fault : null
  }

  /**
   * @returns `null` when no database has a location for the address
   * @throws InvalidDatabaseError when a database is damaged where the address leads
   */
  place(address: Address): Place | null {
    for (const { database, places } of this.#sources) {
      if (places === null) continue
      const { index } = database
      const offset = address.family === 4 ? index.findIPv4(address.ipv4) : index.findIPv6(address.words)
      if (offset === NO_RECORD) continue
      const place = places.at(offset)
      if (place !== null) return place
    }
    return null
  }

  /** The whole record in the database that answers for an address, or `null`. */
  raw(address: Address): MmdbValue | null {
    const answer = this.#answer(address)
    return answer === null || answer.offset === NO_RECORD ? null : answer.database.record(answer.offset)
  }

  /** Checks all of each database, in their order. */
  verify(): Verification[] {
    return this.#sources.map(({ database }) => database.verify())
  }

  /** The network around an address in the database that answers for it; `null` when none is for its family. */
  network(address: Address): string | null {
    const answer = this.#answer(address)
    return answer === null ? null : networkOf(address, answer.database, answer.prefixLength)
  }

  /** In this order: the first database with a location, with a record, for the address's family. */
  #answer(address: Address): Answer | null {
    let best: Answer | null = null
    for (const { database, places } of this.#sources) {
      if (address.family === 6 && database.metadata.ipVersion === 4) continue
      const offset = find(database, address)
      const answer = { database, offset, prefixLength: database.tree.prefixLength }
      if (offset !== NO_RECORD && places !== null && hasPlace(places, offset)) return answer
      if (best === null || (best.offset === NO_RECORD && offset !== NO_RECORD)) best = answer
    }
    return best
  }
}

interface Answer {
  readonly database: Database
  /** Of the record in the file, or {@link NO_RECORD}. */
  readonly offset: number
  readonly prefixLength: number
}

function find({ tree }: Database, address: Address): number {
  return address.family === 4 ? tree.findIPv4(address.ipv4) : tree.findIPv6(address.words)
}

function hasPlace(places: PlaceTable, offset: number): boolean {
  try {
    return places.at(offset) !== null
  } catch (error) {
    // A damaged record answers too: with an error, when it is asked for.
    if (isGeofixError(error)) return true
    throw error
  }
}

function networkOf(address: Address, { metadata }: Database, prefixLength: number): string {
  if (address.family === 6) return formatCidr(6, address.words, prefixLength)
  if (metadata.ipVersion === 4) return formatCidr(4, Uint32Array.of(address.ipv4), prefixLength)
  // IPv4 lives at ::/96 of an IPv6 tree; a shorter network there holds more than IPv4.
  if (prefixLength < 96) return formatCidr(6, IPV6_ZERO, prefixLength)
  return formatCidr(4, Uint32Array.of(address.ipv4), prefixLength - 96)
}

function withoutLocations({ path, metadata }: Database, fields: readonly string[]): InvalidDatabaseError {
  const shown = fields.slice(0, 12).map(quoted)
  const held =
    shown.length === 0 ? 'it can read no fields of its records' : `its records hold only ${shown.join(', ')}`
  return new InvalidDatabaseError(
    `it is no database of locations (${quoted(metadata.databaseType)}; ${held}): open a City or Country database`,
    { path },
  )
}
