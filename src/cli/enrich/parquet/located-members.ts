import type { LocatedRecord } from '../../../enrich/writing/column-templates.ts'
import { NONE } from '../rows/distinct-texts.ts'
import type { ObjectMembers } from '../rows/object-members.ts'
import { KnownObjects } from './known-objects.ts'

/** The names of the members that a run adds for an address. */
export interface AddedMembers {
  /** The name of the member with the location. */
  readonly into: string
  /** The name of that with the autonomous system; `null` for none. */
  readonly asn: string | null
}

/** The location and the autonomous system that the run has added to a row. */
export class LocatedMembers {
  readonly locations = KnownObjects.locations()
  readonly systems = KnownObjects.systems()
  /** The number of the row's location among {@link locations}, and of its autonomous system; {@link NONE} without one. */
  location = NONE
  system = NONE
  readonly #members: ObjectMembers
  readonly #into: number
  readonly #asn: number

  constructor(members: ObjectMembers, { into, asn }: AddedMembers) {
    this.#members = members
    this.#into = members.add(into)
    members.known[this.#into] = this.locations
    this.#asn = asn === null ? NONE : members.add(asn)
    if (asn !== null) members.known[this.#asn] = this.systems
  }

  /** Whether a name is that of an added member. */
  has(number: number): boolean {
    return number !== NONE && (number === this.#into || number === this.#asn)
  }

  /** Finds the location of the row. */
  find(): void {
    const members = this.#members
    const into = members.memberOf(this.#into)
    const asn = this.#asn === NONE ? NONE : members.memberOf(this.#asn)
    this.system = asn === NONE ? NONE : numberOf(this.systems, members, asn)
    this.location = into === NONE ? NONE : numberOf(this.locations, members, into)
  }

  /** Whether a member of the row is what was found, or `null`. */
  holds(number: number, member: number): boolean {
    if (member === NONE || !this.has(number)) return false
    return (number === this.#into ? this.location : this.system) !== NONE || this.#members.isNull(member)
  }

  /** A location with its system; `null` without a location. */
  recordOf(location: number, system: number): LocatedRecord | null {
    const record = this.locations.values[location]
    return record === undefined ? null : { ...record, asn: this.systems.values[system] ?? null }
  }

  /** Forgets what is known if it is much: numbers change. */
  forget(): void {
    if (!this.locations.isFull && !this.systems.isFull) return
    this.locations.clear()
    this.systems.clear()
  }
}

function numberOf(known: KnownObjects<unknown>, members: ObjectMembers, member: number): number {
  const { bytes, view, starts, ends } = members
  return known.numberOf(bytes, view, starts[member] ?? 0, ends[member] ?? 0)
}
