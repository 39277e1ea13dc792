// The networks of a set of databases, in the order of their addresses.
import { isIPv4Compatible } from '../address/address.ts'
import { type AddressKind, endsBefore, FIRST, isBefore, kindRanges, type Words } from '../address/position.ts'
import { InvalidDatabaseError } from '../errors.ts'
import type { RangeCursor } from '../mmdb/database.ts'
import { mostNetworks } from '../mmdb/networks.ts'
import { NO_RECORD } from '../mmdb/search-tree.ts'
import { NO_SYSTEM } from './autonomous-systems.ts'
import type { DatabaseSet } from './database-set.ts'
import { type LocationTable, NO_LOCATION } from './location-table.ts'
import { NO_VALUE, type RecordTable } from './record-table.ts'

/** The ranges of the database of a table. */
class TableRanges<Table extends RecordTable> {
  readonly #cursor: RangeCursor
  /** Whether the tree has no addresses after IPv4. */
  readonly #isIPv4: boolean
  #isKnown = false

  constructor(readonly table: Table) {
    this.#cursor = table.database.newRanges()
    this.#isIPv4 = table.database.metadata.ipVersion === 4
  }

  get end(): Words {
    return this.#cursor.end
  }

  /** The offset of the record at a position, or `NO_RECORD`. Positions ascend. */
  offsetAt(position: Words): number {
    const cursor = this.#cursor
    if (this.#isKnown && endsBefore(position, cursor.end)) return cursor.offset
    if (this.#isIPv4 && !isIPv4Compatible(position)) {
      cursor.end.fill(0)
      // The offset of the cursor is that of the last IPv4 range.
      this.#isKnown = false
      return NO_RECORD
    }
    this.#isKnown = true
    cursor.seek(position)
    return cursor.offset
  }
}

const valueAt = (table: RecordTable, offset: number): number => table.at(offset)
const overlayAt = (table: LocationTable, offset: number): number => table.overlayAt(offset)

/** The choice of addresses and values of a walk. */
export interface WalkOptions {
  /** Default: true. */
  readonly locations?: boolean
  /** Whether ranges have autonomous systems. Default: false. */
  readonly systems?: boolean
  /** Where to start and to end. Default: all addresses. */
  readonly bounds?: readonly [start: Words, end: Words]
}

/**
 * Walks over the ranges of addresses that have one location, as a lookup finds it, and one autonomous system. A range is a part
 * of a network, a network, or several neighbours. Ranges with neither a location nor a system are left out. IPv4 comes first. Addresses
 * that are looked up as others, such as 6to4, are in no range.
 */
export class NetworkWalk {
  /** Where the range starts. IPv4 is at ::/96, as in a search tree. */
  readonly start = new Uint32Array(4)
  /** The first position after the range. Zero is the end of all addresses. */
  readonly end = new Uint32Array(4)
  /** The number of the location in the set, valid until the next step; `NO_LOCATION` for none. */
  location = NO_LOCATION
  /** The number of the autonomous system, valid until the next step; `NO_SYSTEM` for none. */
  system = NO_SYSTEM
  /** How many ranges of the databases were read. */
  steps = 0
  readonly #last: Words
  readonly #locations: readonly TableRanges<LocationTable>[]
  readonly #systems: readonly TableRanges<RecordTable>[]
  readonly #maxSteps: number
  /** The number of the kind of addresses in `kindRanges`. */
  #kind = 0
  #isAtEnd = false

  constructor(set: DatabaseSet, { locations = true, systems = false, bounds }: WalkOptions = {}) {
    this.#locations = locations ? set.tables.map((table) => new TableRanges(table)) : []
    this.#systems = systems ? set.systems.tables.map((table) => new TableRanges(table)) : []
    const tables = [...this.#locations, ...this.#systems].map(({ table }) => table)
    this.#maxSteps = tables.reduce(
      (sum, { database }) => sum + mostNetworks(database.metadata.nodeCount),
      kindRanges().length,
    )
    this.end.set(bounds?.[0] ?? FIRST)
    this.#last = bounds?.[1] ?? FIRST
  }

  /**
   * Goes to the next range. @returns whether there is one
   *
   * @throws InvalidDatabaseError when it meets damage that a lookup would meet
   */
  next(): boolean {
    while (!this.#isAtEnd) {
      this.#step()
      if (this.location !== NO_LOCATION || this.system !== NO_SYSTEM) return true
    }
    return false
  }

  #step(): void {
    if (++this.steps > this.#maxSteps) {
      throw new InvalidDatabaseError('its search tree repeats subtrees too often to list its networks', {
        path: this.#locations[0]?.table.database.path,
      })
    }
    this.start.set(this.end)
    this.location = NO_LOCATION
    this.system = NO_SYSTEM
    this.end.set(this.#last)
    const kind = this.#enterKind()
    if (kind === 'global') {
      this.location = this.#first(this.#locations, valueAt)
      this.system = this.#first(this.#systems, valueAt)
    } else if (kind !== 'as-ipv4') this.location = this.#first(this.#locations, overlayAt)
    this.#isAtEnd = !endsBefore(this.end, this.#last)
  }

  /** Finds the kind of the addresses, and ends the range where that changes. */
  #enterKind(): AddressKind | undefined {
    const all = kindRanges()
    for (let each = all[this.#kind]; each !== undefined; each = all[++this.#kind]) {
      if (!isBefore(this.start, each.end)) continue
      this.#endAt(each.end)
      return each.kind
    }
    return undefined
  }

  /** The value at the start of the range in the first table that has one, by its number in the set. Ends the range with that of each table. */
  #first<Table extends RecordTable>(
    all: readonly TableRanges<Table>[],
    numberAt: (table: Table, offset: number) => number,
  ): number {
    for (let index = 0; index < all.length; index++) {
      const ranges = all[index]
      if (ranges === undefined) break
      const offset = ranges.offsetAt(this.start)
      this.#endAt(ranges.end)
      const number = offset === NO_RECORD ? NO_VALUE : numberAt(ranges.table, offset)
      if (number !== NO_VALUE) return number * all.length + index
    }
    return NO_VALUE
  }

  #endAt(position: Words): void {
    if (endsBefore(position, this.end)) this.end.set(position)
  }
}
