import type { SchemaElement } from 'hyparquet'
import type { LocationField } from '../../../enrich/options.ts'
import { fieldOf, type LocatedRecord } from '../../../enrich/writing/column-templates.ts'
import type { AutonomousSystem } from '../../../location/autonomous-systems.ts'
import { DistinctTexts, grown, NONE } from '../rows/distinct-texts.ts'
import type { ObjectMembers } from '../rows/object-members.ts'
import type { Leaf } from './column-writer.ts'
import { type ColumnType, elementsOf, leafOf, parquetValue, typeOfField } from './columns.ts'
import { type AddedMembers, LocatedMembers } from './located-members.ts'

/** A member of a column of structs: where it is in the struct, its type, and its value. */
interface StructMember<Of> {
  readonly path: readonly string[]
  readonly type: ColumnType
  readonly value: (of: Of) => string | number | null
}

function memberOf<Of>(path: string, value: StructMember<Of>['value'], type: ColumnType = 'STRING') {
  return { path: path.split('.'), type, value }
}

/** The form of a `LocationRecord`, after its address. */
const LOCATION: readonly StructMember<LocatedRecord>[] = [
  memberOf('country.code', ({ country }) => country.code),
  memberOf('country.name', ({ country }) => country.name),
  memberOf('region.name', ({ region }) => region.name),
  memberOf('region.code', ({ region }) => region.code),
  memberOf('city', ({ city }) => city),
  memberOf('postal_code', ({ postal_code }) => postal_code),
  memberOf('coordinates.latitude', ({ coordinates }) => coordinates.latitude, 'DOUBLE'),
  memberOf('coordinates.longitude', ({ coordinates }) => coordinates.longitude, 'DOUBLE'),
  memberOf('timezone.id', ({ timezone }) => timezone.id),
  memberOf('timezone.offset', ({ timezone }) => timezone.offset),
]
const SYSTEM: readonly StructMember<AutonomousSystem>[] = [
  memberOf('number', ({ number }) => number, 'INT64'),
  memberOf('organization', ({ organization }) => organization),
]

/** The elements of a struct, and the path to each of its members. */
interface StructElements {
  readonly elements: readonly SchemaElement[]
  readonly paths: readonly (readonly SchemaElement[])[]
}

function structOf(
  name: string,
  members: readonly Pick<StructMember<never>, 'path' | 'type'>[],
): StructElements {
  const group = (own: string, size: number): SchemaElement => ({
    name: own,
    repetition_type: 'OPTIONAL',
    num_children: size,
  })
  const root = group(name, new Set(members.map(({ path: [first] }) => first)).size)
  const elements = [root]
  const paths: SchemaElement[][] = []
  let inner = root
  for (const { path, type } of members) {
    const [first = '', last] = path
    if (last !== undefined && first !== inner.name) {
      inner = group(first, members.filter((each) => each.path[0] === first).length)
      elements.push(inner)
    }
    const [element] = elementsOf(last ?? first, type)
    if (element === undefined) continue
    elements.push(element)
    paths.push(last === undefined ? [root, element] : [root, inner, element])
  }
  return { elements, paths }
}

/** The columns of the locations of a row group. Rows are added in order. */
export class LocatedColumns {
  /** The elements of each column. */
  readonly elements: readonly (readonly SchemaElement[])[]
  readonly #located: LocatedMembers
  readonly #members: ObjectMembers
  readonly #fields: readonly LocationField[] | null
  readonly #structs: readonly StructElements[]
  readonly #ips = new DistinctTexts()
  /** For each row its location and its system; `NONE` without one. */
  #locations = new Int32Array(1024)
  #systems = new Int32Array(1024)
  /** The number of its address. */
  #addresses = new Int32Array(1024)
  #rows = 0

  /**
   * @param fields columns with one value each, by their names; `null` for the whole location
   * @param names of the columns without `fields`
   */
  constructor(
    members: ObjectMembers,
    added: AddedMembers,
    fields: ReadonlyMap<string, LocationField> | null,
    names: AddedMembers = added,
  ) {
    this.#members = members
    this.#located = new LocatedMembers(members, added)
    this.#fields = fields === null ? null : [...fields.values()]
    const location = structOf(names.into, [memberOf('ip', () => null), ...LOCATION])
    const system = names.asn === null ? [] : [structOf(names.asn, SYSTEM)]
    this.#structs = fields === null ? [location, ...system] : []
    this.elements =
      fields === null
        ? this.#structs.map(({ elements }) => elements)
        : [...fields].map(([name, field]) => elementsOf(name, typeOfField(field)))
  }

  /** Adds the location of the row. */
  add(): void {
    const located = this.#located
    located.find()
    const row = this.#rows++
    if (row === this.#locations.length) {
      this.#locations = grown(this.#locations, 0)
      this.#systems = grown(this.#systems, 0)
      this.#addresses = grown(this.#addresses, 0)
    }
    this.#locations[row] = located.location
    this.#systems[row] = located.system
    const { ipStart, ipEnd } = located.locations
    const { bytes, view } = this.#members
    if (located.location !== NONE && this.#fields === null)
      this.#addresses[row] = this.#ips.numberOf(bytes, view, ipStart, ipEnd)
  }

  /** Whether a member of the row is one that {@link add} takes. */
  holds(number: number, member: number): boolean {
    return this.#located.holds(number, member)
  }

  has(number: number): boolean {
    return this.#located.has(number)
  }

  /** The values of the columns, in the order of {@link elements}. */
  *take(): Generator<Leaf> {
    const located = this.#located
    const locations = this.#locations.subarray(0, this.#rows)
    const systems = this.#systems.subarray(0, this.#rows)
    if (this.#fields !== null) {
      const pairs = new PairNumbers(locations, systems)
      for (const [index, field] of this.#fields.entries()) {
        const path = this.elements[index] ?? []
        yield leafOf(path, pairs.codes, pairs.count, (number) => {
          const record = located.recordOf(...pairs.of(number))
          return record === null ? null : parquetValue(typeOfField(field), fieldOf(record, field))
        })
      }
    } else {
      const [location, system] = this.#structs
      const ips = Array.from({ length: this.#ips.count }, (_, number) => this.#ips.textOf(number).slice())
      const codes = locations.map((each, row) => (each < 0 ? NONE : (this.#addresses[row] ?? NONE)))
      yield { path: location?.paths[0] ?? [], values: ips, codes }
      yield* leavesOf(location?.paths.slice(1) ?? [], LOCATION, located.locations.values, locations)
      if (system !== undefined) yield* leavesOf(system.paths, SYSTEM, located.systems.values, systems)
    }
    this.#rows = 0
    this.#ips.clear()
    located.forget()
  }
}

/** Numbers pairs of a location and a system. */
class PairNumbers {
  readonly codes: Int32Array
  readonly #pairs: (readonly [number, number])[] = []

  constructor(locations: Int32Array, systems: Int32Array) {
    const numbers = new Map<number, number>()
    this.codes = locations.map((location, row) => {
      const system = systems[row] ?? NONE
      const key = location * 2 ** 26 + system
      const known = numbers.get(key)
      if (known !== undefined) return known
      numbers.set(key, this.#pairs.length)
      return this.#pairs.push([location, system]) - 1
    })
  }

  get count(): number {
    return this.#pairs.length
  }

  of(number: number): readonly [number, number] {
    return this.#pairs[number] ?? [NONE, NONE]
  }
}

/** The values of the members of structs. @param numbers of the struct of each row */
function* leavesOf<Of>(
  paths: readonly (readonly SchemaElement[])[],
  members: readonly StructMember<Of>[],
  structs: readonly Of[],
  numbers: Int32Array,
): Generator<Leaf> {
  for (const [index, { type, value }] of members.entries()) {
    yield leafOf(paths[index] ?? [], numbers, structs.length, (number) => {
      const struct = structs[number]
      return struct === undefined ? null : parquetValue(type, value(struct))
    })
  }
}
